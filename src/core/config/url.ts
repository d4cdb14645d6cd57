/** Base URLs and listening addresses as the config may name them. What a name resolves to is asked at each dial. */
import { isAddress, isLoopbackAddress, isPrivateAddress } from "./address.ts";

export type ReadUrl =
  | { readonly ok: true; readonly url: string }
  /** `message` says what a URL must be, and holds nothing of it: there may be a password in it. */
  | { readonly ok: false; readonly message: string; readonly hint: string | null };

/**
 * Reads the base URL of a model server or of a node.
 *
 * @returns `url` as it is used: scheme, host in lower case, port where it is not the scheme's own, path without a slash
 *          at its end
 * Errors: none
 * Source: delegation run, section 2.4
 */
export function readBaseUrl(text: string): ReadUrl {
  const no = (message: string, hint: string | null = null): ReadUrl => ({ ok: false, message, hint });
  const given = /^https?:\/\/([^/?#\\]*)/i.exec(text);
  if (given === null) return no("must begin with http:// or https://");
  if (text.length > 2048) return no("must be at most 2048 characters long");
  // What a browser would mend is refused: blanks, controls, backslashes.
  if (/[\s\\\x00-\x20\x7f-\x9f]/.test(text)) return no("must hold no blank, control character or backslash");
  if (given[1]?.includes("@")) return no("must hold no user info", "Name the variable with the key instead");
  if (text.includes("?")) return no("must hold no query");
  if (text.includes("#")) return no("must hold no fragment");
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.hostname === "") return no("must name a host, and a port of at most 65535");
  if (url.port === "0") return no("must name another port than 0");
  const { protocol, hostname, host, pathname } = url;
  if (protocol === "http:" && isAddress(hostname) && !isPrivateAddress(hostname)) {
    return no("must be https: its address is neither of this machine nor of a private network", null);
  }
  return { ok: true, url: `${protocol}//${host}${withoutSlashes(pathname)}` };
}

/** The base URL of a model server without the `/v1` that many write behind it. */
export function withoutVersion(url: string): string {
  return withoutSlashes(url.endsWith("/v1") ? url.slice(0, -3) : url);
}

export type Listen = { readonly host: string; readonly port: number };

/**
 * Reads `HOST:PORT`, or `[HOST]:PORT` for IPv6. Port 0 is any free one.
 *
 * @returns null where it is neither; the host comes without brackets
 * Errors: none
 */
export function readListen(text: string): Listen | null {
  const found = /^(?:\[([0-9A-Fa-f:.]{2,45})\]|([A-Za-z0-9.-]{1,253})):(\d{1,5})$/.exec(text);
  const port = Number(found?.[3]);
  const host = found?.[1] ?? found?.[2];
  if (host === undefined || !(port <= 65_535)) return null;
  if (found?.[1] !== undefined && !isAddress(host)) return null;
  // What looks like an address is one: a host's name does not end in a number.
  if (found?.[2] !== undefined && /(?:^|\.)\d+$/.test(host) && !isAddress(host)) return null;
  return { host, port };
}

/** Whether others than this machine could reach it: then a node needs a token. A name may lead anywhere. */
export function listensBeyond({ host }: Listen): boolean {
  return host !== "localhost" && !isLoopbackAddress(host);
}

function withoutSlashes(text: string): string {
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) === 0x2f) end -= 1;
  return text.slice(0, end);
}
