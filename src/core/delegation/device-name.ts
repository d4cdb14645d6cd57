/** Names that one platform keeps for its devices: a file of such a name cannot be made there. */

const DEVICES = /^(?:con|prn|aux|nul|com[1-9]|lpt[1-9])$/i;

/**
 * The device that a segment of a path names: its stem, which is the part before its first dot.
 *
 * @returns the stem as written; null for an ordinary name
 * Errors:  none
 */
export function deviceOf(segment: string): string | null {
  const dot = segment.indexOf(".");
  const stem = dot < 0 ? segment : segment.slice(0, dot);
  return DEVICES.test(stem) ? stem : null;
}
