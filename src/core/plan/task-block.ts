/** One task of a plan: its heading, its files, its anchors, its Tests block. */
import { type Anchor, anchorsOf, type DocumentText, isBlank, unquoted } from "./text.ts";

export type PlanTask = {
  readonly number: number;
  readonly title: string;
  /** The number of its wave; -1 where no wave stands above it. */
  readonly wave: number;
  /** From its heading to the last line of its body, both counted from 1. */
  readonly start: number;
  readonly end: number;
  /** Its body, heading included, lines joined with LF. */
  readonly body: string;
  /** Null where there is no `**Files:**`. */
  readonly files: { readonly line: number; readonly entries: readonly FileEntry[] } | null;
  /** Its `**Spec:**` line; null where there is none. Without anchors the line cannot be parsed. */
  readonly spec: { readonly line: number; readonly anchors: readonly Anchor[] } | null;
  readonly tests: TestsBlock | null;
  /** Lines that start a Tests block where none may stand. */
  readonly misplaced: readonly number[];
};

export type FileEntry = {
  readonly kind: "Create" | "Modify" | "Test";
  /** As it is compared: without backticks and without a suffix of lines. */
  readonly path: string;
  readonly isGlob: boolean;
  readonly line: number;
  /** Where the path stands in its line, from 0. */
  readonly at: number;
};

export type TestsBlock = {
  readonly line: number;
  readonly bullets: readonly Bullet[];
};

/** `value` is the command, the seam, the category or the baseline, as written. */
export type Bullet = {
  readonly kind: "command" | "via" | "none" | "baseline" | "malformed";
  readonly line: number;
  readonly value: string;
};

const ENTRY = /^- (Create|Modify|Test): (.+)$/s;
/** Any labelled bullet: what a Tests block stands behind. */
const LABELLED = /^- \w+: /;
const LINE_SUFFIX = /:\d+(?:-\d+)?$/;
const GLOB = /[*?{[\]]/;

/**
 * @param start the line of the heading
 * @param end   the last line of the body
 * Source: flow state, sections 5.4 to 5.6
 */
export function readTask(
  text: DocumentText,
  heading: { readonly number: number; readonly title: string; readonly wave: number },
  start: number,
  end: number,
): PlanTask {
  const lines = text.lines.slice(start - 1, end);
  const filesAt = lines.findIndex((line) => line.startsWith("**Files:**"));
  const specAt = lines.findIndex((line) => line.startsWith("**Spec:**") && line.includes("§"));
  const testsAt = filesAt < 0 ? -1 : testsLine(text, lines, start, filesAt);
  const misplaced = lines.flatMap((line, index) =>
    index !== testsAt && line.startsWith("**Tests:**") && text.fenced[start - 1 + index] === false
      ? [start + index]
      : [],
  );
  return {
    ...heading,
    start,
    end,
    body: lines.join("\n"),
    files: filesAt < 0 ? null : { line: start + filesAt, entries: readEntries(lines, start, filesAt) },
    spec: specAt < 0 ? null : { line: start + specAt, anchors: anchorsOf(lines[specAt] ?? "") },
    tests: testsAt < 0 ? null : { line: start + testsAt, bullets: readBullets(text, start + testsAt, end) },
    misplaced,
  };
}

function readEntries(lines: readonly string[], start: number, filesAt: number): readonly FileEntry[] {
  const entries: FileEntry[] = [];
  for (let index = filesAt + 1; index < lines.length; index++) {
    const line = lines[index] ?? "";
    if (isBlank(line)) continue;
    const [, kind = "", rest = ""] = ENTRY.exec(line) ?? [];
    if (kind === "") break;
    const path = unquoted(rest).replace(LINE_SUFFIX, "");
    entries.push({
      kind: kind as FileEntry["kind"],
      path,
      isGlob: GLOB.test(path),
      line: start + index,
      at: Math.max(line.indexOf(path, kind.length + 4), 0),
    });
  }
  return entries;
}

/** The index of `**Tests:**` directly behind the labelled bullets that follow the files; -1 where it is not there. */
function testsLine(text: DocumentText, lines: readonly string[], start: number, filesAt: number): number {
  let last = filesAt;
  for (let index = filesAt + 1; index < lines.length; index++) {
    const line = lines[index] ?? "";
    if (isBlank(line)) continue;
    if (!LABELLED.test(line)) break;
    last = index;
  }
  let at = last + 1;
  while (at < lines.length && isBlank(lines[at] ?? "")) at += 1;
  return lines[at] === "**Tests:**" && text.fenced[start - 1 + at] === false ? at : -1;
}

function readBullets(text: DocumentText, heading: number, end: number): readonly Bullet[] {
  const bullets: Bullet[] = [];
  for (let line = heading + 1; line <= end; line++) {
    const words = text.lines[line - 1] ?? "";
    if (isBlank(words) && text.fenced[line - 1] === false) continue;
    if (text.fenced[line - 1] === true || !words.startsWith("- ") || words.startsWith("- [ ]")) break;
    bullets.push({ ...bulletOf(words), line });
  }
  return bullets;
}

function bulletOf(line: string): Omit<Bullet, "line"> {
  const command = /^- `([^`]+)`$/.exec(line)?.[1];
  if (command !== undefined) return { kind: "command", value: command };
  for (const kind of ["via", "none"] as const) {
    const value = line.startsWith(`- ${kind}: `) ? line.slice(kind.length + 4) : "";
    if (!isBlank(value)) return { kind, value: value.trim() };
  }
  if (line.startsWith("- baseline:")) return { kind: "baseline", value: line.slice("- baseline:".length).trim() };
  return { kind: "malformed", value: line.slice(2) };
}
