/** What working on a job needs of the world. A node and a local leg hand in the real one, a test a scripted one. */
import type { Seat } from "../core/config/seat.ts";
import type { SearchOutcome, SearchRequest } from "../core/pattern/search.ts";
import type { Endpoint, StructuredMode } from "../core/seat/endpoint.ts";
import type { SeatMemory } from "../core/seat/modes.ts";
import type { Rates } from "../core/seat/rates.ts";
import type { SlotLine } from "../core/seat/slot-line.ts";
import type { Workspace } from "../core/seat/workspace.ts";

export type JobWorld = {
  /** Milliseconds that never run backwards. */
  readonly clock: { ms(): number };
  /** Ends after so many milliseconds, or at once when the signal fires. Never rejects. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;

  readonly seat: Seat;
  endpointOf(seat: Seat): Endpoint;
  /** The folder of a job; nothing is on disk before it is filled. */
  openWorkspace(job_id: string): Workspace;
  /** Errors: none; it is bounded in time, and ends when the signal fires. */
  search(request: SearchRequest, signal: AbortSignal): Promise<SearchOutcome>;
  readonly slotLine: SlotLine;
  readonly rates: Rates;
  /** The way of asking for form that worked last with a seat; one for the process. */
  readonly modes: Pick<SeatMemory<StructuredMode>, "get" | "set">;

  readonly agent_allow_write: boolean;
  readonly limits: {
    readonly contention_wait_sec: number;
    readonly admission_wait_sec: number;
    readonly slot_wait_sec: number;
    readonly same_tool: number;
    readonly same_write_tool: number;
  };
  readonly env_rules: {
    readonly deny_tools: readonly string[];
    readonly max_calls_per_tool: Readonly<Partial<Record<string, number>>>;
    readonly max_observation_tokens: number;
  };
  /** "local", or the id of the node. */
  readonly node_id: string;
  readonly version: string;
};
