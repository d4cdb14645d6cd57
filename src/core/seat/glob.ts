/** The file name filter of `search_files`: `*` for any characters, `?` for one. */

/**
 * True when a path fits a filter: its last segment, or all of it where the filter has a `/`.
 *
 * Errors: none; time is at most the product of both lengths
 */
export function fitsGlob(path: string, glob: string): boolean {
  const pattern = glob.replace(/^\.?\//, "").replace(/\*{2,}\/?/g, "*");
  const name = pattern.includes("/") ? path : path.slice(path.lastIndexOf("/") + 1);
  let [at, from, star, next] = [0, 0, -1, 0];
  while (at < name.length) {
    if (pattern[from] === "*") {
      star = from;
      next = at;
      from += 1;
    } else if (from < pattern.length && (pattern[from] === "?" || pattern[from] === name[at])) {
      at += 1;
      from += 1;
    } else if (star >= 0) {
      next += 1;
      at = next;
      from = star + 1;
    } else return false;
  }
  while (pattern[from] === "*") from += 1;
  return from === pattern.length;
}
