/** What a run wrote: the difference of two snapshots, and not the list of its tool calls. */
import type { Snapshot, SnapshotFile } from "../seat/workspace.ts";
import { compareUtf8 } from "../utf8.ts";

/** One file whose two sides differ; null: it is not there. Never null on both. */
export type FileChange = {
  /** Relative to the job's root. */
  readonly path: string;
  readonly before: SnapshotFile | null;
  readonly after: SnapshotFile | null;
};

/**
 * The files that differ, so that one which was changed and changed back is none of them.
 *
 * @returns in the order of the paths' bytes; empty when nothing was written
 * Errors:  none
 * Source:  delegation run, section 6.4
 */
export function writeSet(before: Snapshot, after: Snapshot): readonly FileChange[] {
  const changes: FileChange[] = [];
  for (const path of new Set([...before.keys(), ...after.keys()])) {
    const change = { path, before: before.get(path) ?? null, after: after.get(path) ?? null };
    if (!isSame(change.before, change.after)) changes.push(change);
  }
  return changes.sort((left, right) => compareUtf8(left.path, right.path));
}

function isSame(one: SnapshotFile | null, other: SnapshotFile | null): boolean {
  if (one === null || other === null) return one === other;
  if (one.kind === "opaque") {
    return other.kind === "opaque" && one.size_bytes === other.size_bytes && one.digest === other.digest;
  }
  return other.kind === "bytes" && isSameBytes(one.bytes, other.bytes);
}

export function isSameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}
