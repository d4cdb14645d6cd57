/**
 * Where a request to a base URL is sent.
 *
 * Plain `http` goes to a machine of one's own network only: what a name resolves to is judged at every dial, and then
 * exactly that address is dialled, so that a name that changes its mind between the two changes nothing.
 *
 * Source: delegation run, section 2.4
 */
import { isPrivateAddress } from "./address.ts";

/** `url` names an address in place of a host; `host` is the header that goes with it, null where the URL is as it was. */
export type DialTarget = { readonly url: string; readonly host: string | null };

export type Dialled =
  | { readonly ok: true; readonly targets: readonly DialTarget[] }
  | { readonly ok: false; readonly message: string };

/**
 * The targets of a request, in the order to be tried: for `https` the URL itself, since its certificate says who
 * answers; for `http` one for each address, all of which must belong to a network of one's own.
 *
 * @param addresses what the host resolved to just now; not looked at for `https`
 */
export function dialTargets(url: URL, addresses: readonly string[]): Dialled {
  if (url.protocol === "https:") return { ok: true, targets: [{ url: url.href, host: null }] };
  if (addresses.length === 0) return { ok: false, message: `host "${url.hostname}" has no address` };
  // One public address is enough to refuse: which of them would be dialled is chance.
  const outside = addresses.find((address) => !isPrivateAddress(address));
  if (outside !== undefined) {
    return { ok: false, message: `${outside} is not an address of a private network; only https goes there` };
  }
  const port = url.port === "" ? "" : `:${url.port}`;
  return {
    ok: true,
    targets: addresses.map((address) => ({
      url: `http://${address.includes(":") ? `[${address}]` : address}${port}${url.pathname}${url.search}`,
      host: url.host,
    })),
  };
}
