/** Which addresses may be spoken to without TLS: those that no stranger sits behind. */

/**
 * Whether an address is of this machine or of a private network: loopback, RFC 1918, 100.64.0.0/10, link-local, ULA.
 *
 * Asked of what a name resolved to as well, at every dial: a name may lead elsewhere the next time.
 *
 * @param address an IPv4 address in four decimal parts, or an IPv6 address, with or without brackets or a zone
 * @returns       false for anything that is no address
 * Errors: none
 * Source: delegation run, section 2.4; RFC 1918, RFC 6598, RFC 3927, RFC 4193, RFC 4291
 */
export function isPrivateAddress(address: string): boolean {
  const four = ipv4Of(address);
  if (four !== null) return isPrivateIpv4(four);
  const eight = ipv6Of(address);
  if (eight === null) return false;
  const [first, , , , , mark, high, low] = eight;
  const isMapped = eight.slice(0, 5).every((group) => group === 0) && mark === 0xffff;
  if (isMapped) return isPrivateIpv4([high >> 8, high & 0xff, low >> 8, low & 0xff]);
  const isLoopback = eight.slice(0, 7).every((group) => group === 0) && low === 1;
  return isLoopback || (first & 0xfe00) === 0xfc00 || (first & 0xffc0) === 0xfe80;
}

/** Whether a text is an address, and so needs nobody to resolve it. */
export function isAddress(text: string): boolean {
  return ipv4Of(text) !== null || ipv6Of(text) !== null;
}

/** Whether an address is of this machine alone. A name is none. Errors: none */
export function isLoopbackAddress(address: string): boolean {
  const four = ipv4Of(address);
  if (four !== null) return four[0] === 127;
  const eight = ipv6Of(address);
  if (eight === null) return false;
  const [mark, high, low] = eight.slice(5);
  if (!eight.slice(0, 5).every((group) => group === 0)) return false;
  return mark === 0xffff ? (high ?? 0) >> 8 === 127 : mark === 0 && high === 0 && low === 1;
}

type Four = readonly [number, number, number, number];
type Eight = readonly [number, number, number, number, number, number, number, number];

function isPrivateIpv4([first, second]: Four): boolean {
  return (
    first === 127 ||
    first === 10 ||
    (first === 172 && second >= 16 && second <= 31) ||
    (first === 192 && second === 168) ||
    (first === 100 && second >= 64 && second <= 127) ||
    (first === 169 && second === 254)
  );
}

function ipv4Of(text: string): Four | null {
  const found = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
  if (found === null) return null;
  const parts = found.slice(1).map(Number);
  return parts.every((part) => part <= 255) ? (parts as unknown as Four) : null;
}

function ipv6Of(text: string): Eight | null {
  const bare = (/^\[([^\]]*)\]$/.exec(text)?.[1] ?? text).replace(/%.*$/, "");
  if (bare.length > 45 || !bare.includes(":")) return null;
  const halves = bare.split("::");
  if (halves.length > 2) return null;
  const [head, tail] = halves.map(groupsOf);
  if (head === undefined || head === null || tail === null) return null;
  if (tail === undefined) return head.length === 8 ? (head as unknown as Eight) : null;
  const gap = 8 - head.length - tail.length;
  return gap < 1 ? null : ([...head, ...Array<number>(gap).fill(0), ...tail] as unknown as Eight);
}

/** The groups of one side of `::`; an IPv4 address at its end counts as two. */
function groupsOf(text: string): readonly number[] | null {
  if (text === "") return [];
  const groups: number[] = [];
  const parts = text.split(":");
  for (const [index, part] of parts.entries()) {
    const four = index === parts.length - 1 ? ipv4Of(part) : null;
    if (four !== null) groups.push((four[0] << 8) | four[1], (four[2] << 8) | four[3]);
    else if (/^[0-9a-fA-F]{1,4}$/.test(part)) groups.push(Number.parseInt(part, 16));
    else return null;
  }
  return groups;
}
