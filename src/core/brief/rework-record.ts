/** The rework record of a spec: the pull requests that its rework is about, and from where it is counted. */
import type { PullRequest } from "./brief.ts";
import { briefLines, isFenceMark } from "./line.ts";

export type ReworkRecord = { readonly prs: readonly PullRequest[]; readonly rework_base: string | null };

const PR = /^PR: ([^\s/#]+\/[^\s/#]+)#(\d{1,15})(?:\s.*)?$/s;
const HEAD = /^Pre-rework head: ([0-9a-f]{40})\s*$/;
const BASE = /^Rework base: ([0-9a-f]{40})\s*$/;

/**
 * The top level of the record: what stands before its first `### `; null where the spec has none.
 *
 * A PR line without its head is left out: a pair is copied whole or not at all.
 *
 * Source: flow state, section 12.8
 */
export function readReworkRecord(text: string): ReworkRecord | null {
  const lines = outsideFences(text);
  const start = lines.indexOf("## Rework record");
  if (start < 0) return null;
  const prs: PullRequest[] = [];
  let base: string | null = null;
  let open: { readonly repo: string; readonly number: number } | null = null;
  for (const line of lines.slice(start + 1)) {
    if (line.startsWith("## ") || line.startsWith("### ")) break;
    const [, repo, number] = PR.exec(line) ?? [];
    if (repo !== undefined && number !== undefined) {
      open = { repo, number: Number(number) };
      continue;
    }
    const head = HEAD.exec(line)?.[1];
    if (head !== undefined && open !== null) {
      prs.push({ ...open, pre_rework_head: head });
      open = null;
    }
    base ??= BASE.exec(line)?.[1] ?? null;
  }
  return { prs, rework_base: base };
}

function outsideFences(text: string): readonly string[] {
  let inside = false;
  return briefLines(text).flatMap(({ text: line }) => {
    if (isFenceMark(line)) {
      inside = !inside;
      return [];
    }
    return inside ? [] : [line];
  });
}
