/** Names that become a folder of the evidence tree: a workspace, a brief, an acceptance id. */

const MAX_BYTES = 200;

/**
 * Why a name must not become a part of a path, or null when it may.
 *
 * @returns the end of a sentence, for example `holds "/"`
 */
export function pathPartFault(name: string): string | null {
  if (name.trim() === "") return "is blank";
  // A code unit is at least one byte; the long ones need no exact count.
  if (name.length > MAX_BYTES || new TextEncoder().encode(name).length > MAX_BYTES) {
    return `is longer than ${MAX_BYTES} bytes`;
  }
  if (name.includes("/")) return 'holds "/"';
  if (name.includes("\\")) return 'holds "\\"';
  if (name === "." || name.includes("..")) return name === "." ? 'is "."' : 'holds ".."';
  if (/\p{Cc}/u.test(name)) return "holds a control character";
  if (!name.isWellFormed()) return "holds a lone surrogate";
  return null;
}
