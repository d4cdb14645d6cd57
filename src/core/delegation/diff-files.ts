/** The paths that a unified diff changes, as git reads it. Whether it applies is another question. */

/**
 * The changed paths, each once, in the order of the sections: the new path, the old one of a file that is deleted, both of
 * one that is renamed.
 *
 * A header alone is no change: a section counts when a hunk of it adds or removes a line, or when git says that the file is
 * new, deleted, renamed, copied, binary or of another mode. What stands inside a hunk is no header, whatever it looks like.
 *
 * Errors: none, whatever the text; a text without headers changes nothing. Time is linear in the text
 */
export function pathsOfDiff(diff: string): readonly string[] {
  const paths = new Set<string>();
  let section: Section = emptySection();
  const close = () => {
    for (const path of changedIn(section)) paths.add(path);
  };
  let rest = { old: 0, new: 0 };
  for (const line of diff.split("\n")) {
    if (rest.old > 0 || rest.new > 0) {
      const next = insideHunk(line, rest);
      if (next !== null) {
        if (line.startsWith("+") || line.startsWith("-")) section.isChanged = true;
        rest = next;
        continue;
      }
      // A hunk that was cut short ends where its lines end.
      rest = { old: 0, new: 0 };
    }
    const counts = /^@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@/.exec(line);
    if (counts !== null) rest = { old: Number(counts[1] ?? 1), new: Number(counts[2] ?? 1) };
    else if (line.startsWith("diff --git ")) {
      close();
      section = { ...emptySection(), isGit: true, ...sidesOf(line.slice("diff --git ".length)) };
    } else if (line.startsWith("--- ")) {
      // Without a line of git before it, this is where a section begins.
      if (!section.isGit || section.hasHeader) {
        close();
        section = emptySection();
      }
      section.hasHeader = true;
      section.from = headerPath(line);
    } else if (line.startsWith("+++ ")) section.to = headerPath(line);
    else readGitLine(line, section);
  }
  close();
  return [...paths];
}

type Section = {
  isGit: boolean;
  hasHeader: boolean;
  isChanged: boolean;
  /** The old path goes: a rename, not a copy. */
  isMoved: boolean;
  /** With the prefixes of their sides; null for `/dev/null`, and where nothing names one. */
  from: string | null;
  to: string | null;
};

function emptySection(): Section {
  return { isGit: false, hasHeader: false, isChanged: false, isMoved: false, from: null, to: null };
}

/** What git says of a file without showing a line of it. */
function readGitLine(line: string, section: Section): void {
  const binary = /^Binary files (.+) and (.+) differ\r?$/.exec(line);
  if (binary !== null) {
    section.isChanged = true;
    section.from ??= pathOf(binary[1] ?? "");
    section.to ??= pathOf(binary[2] ?? "");
    return;
  }
  if (!section.isGit) return;
  const named = /^(rename|copy) (from|to) (.+?)\r?$/.exec(line);
  if (named !== null) {
    section.isChanged = true;
    section.isMoved ||= named[1] === "rename";
    // These two have no prefix; one is given to them, so that all paths are read alike.
    if (named[2] === "from") section.from = `a/${unquoted(named[3] ?? "")}`;
    else section.to = `b/${unquoted(named[3] ?? "")}`;
  } else if (/^(new file mode|deleted file mode|new mode|GIT binary patch)\b/.test(line)) section.isChanged = true;
}

function changedIn({ isChanged, isMoved, from, to }: Section): readonly string[] {
  if (!isChanged) return [];
  const [old, now] = withoutPrefixes(from, to);
  const changed = now ?? old;
  if (changed === null) return [];
  return isMoved && old !== null && old !== changed ? [old, changed] : [changed];
}

/** `a/` and `b/`, or the pairs that git writes for index, work tree, commit and object; a path without stays as it is. */
function withoutPrefixes(from: string | null, to: string | null): readonly [string | null, string | null] {
  const [left, right] = [from, to].map((path) => (path === null ? null : (/^([abciow12])\//.exec(path)?.[1] ?? "")));
  const isPair = left === null || right === null || (left !== "" && right !== "" && left !== right);
  const strip = (path: string | null, letter: string | null | undefined) =>
    path !== null && isPair && letter !== null && letter !== undefined && letter !== "" ? path.slice(2) : path;
  return [strip(from, left), strip(to, right)];
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

/** The two sides of git's line. Unquoted ones are told apart by being one path twice, whatever blanks it has. */
function sidesOf(line: string): Pick<Section, "from" | "to"> {
  const sides = line.replace(/\r$/, "");
  const quoted = /^("(?:[^"\\]|\\.)*"|\S+) ("(?:[^"\\]|\\.)*"|\S+)$/.exec(sides);
  if (sides.includes('"') && quoted !== null) return { from: pathOf(quoted[1] ?? ""), to: pathOf(quoted[2] ?? "") };
  const half = (sides.length - 1) / 2;
  const [from, to] = [sides.slice(0, half), sides.slice(half + 1)];
  const isTwice = sides[half] === " " && (from === to || from.slice(2) === to.slice(2));
  return isTwice ? { from: pathOf(from), to: pathOf(to) } : { from: null, to: null };
}

/** Null for `/dev/null`. A tab ends a path that has blanks in it. */
function headerPath(line: string): string | null {
  return pathOf((line.slice(4).split("\t", 1)[0] ?? "").replace(/\r$/, ""));
}

function pathOf(text: string): string | null {
  const path = unquoted(text);
  return path === "/dev/null" || path === "" ? null : path;
}

const ESCAPES: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, "\\": 92 };

/** A path in quotes, as git writes one with bytes that are not plain: octal escapes are bytes of UTF-8. */
function unquoted(text: string): string {
  if (text.length < 2 || !text.startsWith('"') || !text.endsWith('"')) return text;
  const bytes: number[] = [];
  const encoder = new TextEncoder();
  for (const [piece, octal, letter] of text.slice(1, -1).matchAll(/\\([0-7]{3})|\\(.)|[^\\]+/g)) {
    if (octal !== undefined) bytes.push(Number.parseInt(octal, 8) & 0xff);
    else if (letter !== undefined) bytes.push(ESCAPES[letter] ?? letter.charCodeAt(0) & 0xff);
    else for (const byte of encoder.encode(piece)) bytes.push(byte);
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}
