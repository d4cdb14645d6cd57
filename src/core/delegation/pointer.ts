/** JSON pointers, as issues and findings name a place in a document. */

/**
 * The pointer of a member or an item.
 *
 * Source: RFC 6901 section 3
 */
export function pointerTo(parent: string, step: string | number): string {
  return `${parent}/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
