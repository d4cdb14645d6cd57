/**
 * A number that looks random and is the same whenever it is drawn again: it spreads delegators that know nothing of each
 * other over places that are nearly as good.
 *
 * Source: delegation run, section 4.5; FNV-1a (draft-eastlake-fnv), the finaliser of MurmurHash3
 */

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** @returns from 0 up to, and never, 1 */
export function placementDraw(runId: string, index: number, spot: { readonly place: string; readonly seat: string }) {
  return finalised(fnv1a(`place\0${runId}:${index}\0${spot.place}/${spot.seat}`)) / 2 ** 32;
}

/** The 32-bit hash of a text's UTF-8. */
export function fnv1a(text: string): number {
  let hash = FNV_OFFSET;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, FNV_PRIME);
  return hash >>> 0;
}

function finalised(hash: number): number {
  let mixed = hash ^ (hash >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
