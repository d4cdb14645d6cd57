/**
 * What a seat wrote, as it may be published: the difference of the job's folder, inside of the caps or not at all.
 *
 * Source: delegation run, section 6.4
 */
import { checkCaps, renderWriteNote } from "../core/patch/caps.ts";
import { renderPatch } from "../core/patch/render.ts";
import { writeSet } from "../core/patch/write-set.ts";
import type { Defer } from "../core/seat/reasons.ts";
import type { Snapshot } from "../core/seat/workspace.ts";

export type Published = {
  readonly diff: string;
  readonly diff_files: readonly string[];
  readonly write_note: string;
  /** A cap is passed. */
  readonly defer: Defer | null;
};

export const NO_DOOR: Published = { diff: "", diff_files: [], write_note: "", defer: null };

export function publishDiff(
  before: Snapshot,
  after: Snapshot,
  run: { readonly write_root: string; readonly is_finished: boolean; readonly refused_writes: number },
): Published {
  const patch = renderPatch(writeSet(before, after));
  const files = patch.diff_files.length;
  const exceeded = checkCaps({ ...patch, files });
  const { is_finished, refused_writes } = run;
  const write_note = renderWriteNote({
    root: run.write_root,
    files,
    diff_bytes: patch.diff_bytes,
    exceeded,
    is_finished,
    refused_writes,
  });
  if (exceeded !== null) {
    const defer: Defer = { defer_class: "write", reason: exceeded, stop_reason: "error" };
    return { diff: "", diff_files: [], write_note, defer };
  }
  return { diff: patch.diff, diff_files: patch.diff_files, write_note, defer: null };
}
