/** The header of a plan: everything before the first line that is `---`. */
import { commandSegments, headerSegments } from "./command.ts";
import { type DocumentText, literalsOf, unquoted } from "./text.ts";

/** `line` counts from 1. */
export type HeaderField = { readonly line: number; readonly value: string };

export type PlanHeader = {
  /** The line of the separator; null where there is none, and the header is the whole document. */
  readonly separator: number | null;
  /** The path-only `**Spec:**` line; null where there is none, or it names nothing. */
  readonly spec: HeaderField | null;
  readonly verification: HeaderField | null;
  /** `command` is null when the line is malformed. */
  readonly happyPath: { readonly line: number; readonly command: string | null } | null;
  /** How a full-suite command is known. */
  readonly segments: ReadonlySet<string>;
  readonly happySegments: ReadonlySet<string>;
};

const HAPPY_PATH = /^\*\*Happy path:\*\* (\S.*?) - `([^`]+)`(?: \(~(\d+[smh])\))?$/s;

/** Source: flow state, section 5.3 */
export function readHeader(text: DocumentText): PlanHeader {
  const at = text.lines.findIndex((line, index) => text.fenced[index] === false && line.trim() === "---");
  const end = at < 0 ? text.lines.length : at;
  const field = (key: string, accepts: (line: string) => boolean = () => true): HeaderField | null => {
    for (let index = 0; index < end; index++) {
      const line = text.lines[index] ?? "";
      if (text.fenced[index] === true || !line.startsWith(key) || !accepts(line)) continue;
      return { line: index + 1, value: line.slice(key.length).trim() };
    }
    return null;
  };
  const path = field("**Spec:**", (line) => !line.includes("§"));
  const spec = path === null ? null : { line: path.line, value: unquoted(path.value) };
  const verification = field("**Verification:**");
  const happy = field("**Happy path:**");
  const command = happy === null ? null : (HAPPY_PATH.exec(text.lines[happy.line - 1] ?? "")?.[2] ?? null);
  const literals = literalsOf(verification?.value ?? "");
  const sources = literals.length > 0 ? literals : [verification?.value ?? ""];
  return {
    separator: at < 0 ? null : at + 1,
    spec: spec?.value === "" ? null : spec,
    verification,
    happyPath: happy === null ? null : { line: happy.line, command },
    segments: new Set(sources.flatMap(headerSegments)),
    happySegments: new Set(command === null ? [] : commandSegments(command)),
  };
}

/** The path that a document's path-only `**Spec:**` line names; null where there is none. */
export function specPathOf(text: DocumentText): string | null {
  return readHeader(text).spec?.value ?? null;
}
