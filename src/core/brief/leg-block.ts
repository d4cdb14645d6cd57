/** The coordinated block of a brief: one entry a repository of a flow that spans several. */
import type { Leg } from "./brief.ts";
import type { BriefLine } from "./line.ts";

const SHA = /^[0-9a-f]{40}$/;
const ABSOLUTE = /^(?:\/|[A-Za-z]:[\\/])/;
const FIELDS = ["worktree", "branch", "HEAD", "dirty", "receipt"] as const;
type FieldName = (typeof FIELDS)[number];

export type ReadLegs =
  | { readonly ok: true; readonly legs: readonly Leg[] }
  /** `line`: the first that offends. */
  | { readonly ok: false; readonly line: number };

/** Whether a line behind `legs:` belongs to the block: it opens a member, or is indented and not blank. */
export function belongsToLegs(text: string): boolean {
  return opensMember(text) || (text.trim() !== "" && /^[ \t]/.test(text));
}

/**
 * @param opening the line of `legs:`
 * @param block   the lines that belong to it
 * Source: flow state, section 8.3
 */
export function readLegs(opening: number, block: readonly BriefLine[]): ReadLegs {
  const legs: Leg[] = [];
  for (let at = 0; at < block.length; ) {
    const start = block[at] ?? { text: "", number: opening };
    const repo = fieldValue(start.text, "- repo");
    if (repo === null) return { ok: false, line: start.number };
    at += 1;
    const fields = new Map<FieldName, string>();
    let rank = -1;
    for (let line = block[at]; line !== undefined && !opensMember(line.text); line = block[at]) {
      const { text } = line;
      const own = FIELDS.findIndex((name) => fieldValue(text, name) !== null);
      const name = FIELDS[own];
      if (name === undefined || own <= rank) return { ok: false, line: line.number };
      fields.set(name, fieldValue(text, name) ?? "");
      rank = own;
      at += 1;
    }
    const leg = legOf(repo, fields);
    if (leg === null) return { ok: false, line: start.number };
    legs.push(leg);
  }
  return legs.length < 2 ? { ok: false, line: opening } : { ok: true, legs };
}

/** Null when a field is absent, or has a value that it cannot have. */
function legOf(repo: string, fields: ReadonlyMap<FieldName, string>): Leg | null {
  const worktree = fields.get("worktree") ?? "";
  const branch = fields.get("branch") ?? "";
  const head = fields.get("HEAD") ?? "";
  const dirty = fields.get("dirty") ?? "";
  if (branch === "" || dirty === "" || !SHA.test(head)) return null;
  if (worktree === "missing" ? dirty !== "unavailable" : !ABSOLUTE.test(worktree)) return null;
  return { repo, worktree, branch, head, dirty, receipt: fields.get("receipt") ?? null };
}

function opensMember(text: string): boolean {
  return text.trimStart().startsWith("- repo:");
}

/** What stands behind "key: ", with its blanks; null when the line is no such field, or has no value. */
function fieldValue(text: string, key: string): string | null {
  const line = text.trimStart();
  if (!line.startsWith(`${key}: `)) return null;
  const value = line.slice(key.length + 2).trimEnd();
  return value.trim() === "" ? null : value;
}
