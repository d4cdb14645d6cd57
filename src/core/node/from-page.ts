/**
 * Whether a page in a browser asks. A node without a token is open to whoever reaches it, which is meant for programs of
 * this machine; a page of any site reaches it too, by a cross-origin request or under a name that its owner made lead to
 * 127.0.0.1.
 *
 * Source: Fetch standard, section 3.1 (`Origin`); Fetch Metadata (`Sec-Fetch-Site`); RFC 9110 section 7.2 (`Host`)
 */
import { isLoopbackAddress } from "../config/address.ts";

export type PageHeaders = {
  readonly host?: string | undefined;
  readonly origin?: string | undefined;
  readonly "sec-fetch-site"?: string | string[] | undefined;
};

/** True for a request under a name that is not this machine's own, and for one that a page of some site makes. */
export function isFromPage({ host, origin, "sec-fetch-site": site }: PageHeaders): boolean {
  if (origin !== undefined) return true;
  if (site !== undefined && site !== "none" && site !== "same-origin") return true;
  return host !== undefined && !isOwnName(host);
}

function isOwnName(host: string): boolean {
  const name = host.replace(/:\d{0,5}$/, "").toLowerCase();
  return name === "localhost" || name.endsWith(".localhost") || isLoopbackAddress(name);
}
