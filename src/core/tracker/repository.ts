/** What the flow store of one worktree holds, and what it promises. */
import type { Flow } from "./flow.ts";

/** That a flow was handed off: it may be resumed in its own worktree, by that very brief and as it was. */
export type HandoffMark = {
  /** The digest of the flow at that moment. */
  readonly state_sha256: string;
  /** The canonical path of the brief; null for one that was only printed. */
  readonly brief_path: string | null;
  /** The digest of the brief's process-state section. */
  readonly block_sha256: string;
  /** RFC 3339, UTC. */
  readonly at: string;
};

export type FlowRecord = { readonly flow: Flow; readonly mark: HandoffMark | null };

/** A flow that gave its place to a resumed one. */
export type ArchivedFlow = {
  readonly flow: Flow;
  readonly at: string;
  readonly brief_path: string | null;
};

export type FlowChange<T> = {
  /** Null: nothing is written. */
  readonly record: FlowRecord | null;
  /** Put into the archive in the same transaction. */
  readonly archive?: ArchivedFlow;
  readonly value: T;
};

export interface FlowStore {
  readonly path: string;
  /** The state; the initial one where there is no store. Reading never makes one. */
  read(): FlowRecord;
  /**
   * Reads the state, decides, and writes all or nothing, as one transaction that no other writer comes between. The store
   * is made by the first decision that writes. `decide` may be called twice.
   *
   * Errors: `store_busy` when it stays locked for 10 seconds, `store_too_new`, `store_failed`; nothing was written then
   */
  write<T>(decide: (record: FlowRecord) => FlowChange<T>): T;
  /** Former flows, newest first. */
  archived(): readonly ArchivedFlow[];
}
