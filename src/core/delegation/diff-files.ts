/** The paths that a unified diff changes, read from its headers. Whether it applies is another question. */

/**
 * The changed paths in the order of the sections, each once: the new path, and the old one of a file that is deleted.
 *
 * What stands inside a hunk is no header, whatever it looks like.
 *
 * Errors: none, whatever the text; a text without headers changes nothing. Time is linear in the text
 */
export function pathsOfDiff(diff: string): readonly string[] {
  const paths = new Set<string>();
  let removed: string | null = null;
  let rest = { old: 0, new: 0 };
  for (const line of diff.split("\n")) {
    if (rest.old > 0 || rest.new > 0) {
      const next = insideHunk(line, rest);
      if (next !== null) {
        rest = next;
        continue;
      }
      // A hunk that was cut short ends where its lines end.
      rest = { old: 0, new: 0 };
    }
    const counts = /^@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@/.exec(line);
    if (counts !== null) rest = { old: Number(counts[1] ?? 1), new: Number(counts[2] ?? 1) };
    else if (line.startsWith("diff --git ")) {
      const path = gitPath(line.slice("diff --git ".length));
      if (path !== null) paths.add(path);
    } else if (line.startsWith("--- ")) removed = headerPath(line, "a/");
    else if (line.startsWith("+++ ")) {
      const path = headerPath(line, "b/") ?? removed;
      if (path !== null) paths.add(path);
    }
  }
  return [...paths];
}

type Rest = { readonly old: number; readonly new: number };

/** What is left of the hunk behind a line of it; null for a line that is none. */
function insideHunk(line: string, rest: Rest): Rest | null {
  switch (line[0]) {
    case " ":
    case undefined:
      return { old: rest.old - 1, new: rest.new - 1 };
    case "-":
      return { ...rest, old: rest.old - 1 };
    case "+":
      return { ...rest, new: rest.new - 1 };
    case "\\":
      return rest;
    default:
      return null;
  }
}

/** `a/P b/P`: both are one path, whatever blanks it has. */
function gitPath(sides: string): string | null {
  const length = (sides.length - "a/ b/".length) / 2;
  const path = sides.slice(2, 2 + length);
  return sides === `a/${path} b/${path}` && path !== "" ? path : null;
}

/** Null for `/dev/null`. A tab ends a path that has blanks in it. */
function headerPath(line: string, side: string): string | null {
  const path = (line.slice(4).split("\t", 1)[0] ?? "").replace(/\r$/, "");
  if (path === "/dev/null" || path === "") return null;
  return path.startsWith(side) ? path.slice(side.length) : path;
}
