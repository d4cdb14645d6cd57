/** What a node needs of the world. The command line hands in the real one, a test a scripted one. */
import type { DelegationContract } from "../core/delegation/contract.ts";
import type { Job, JobProgress, WireResult } from "../core/delegation/wire-result.ts";
import type { JobQueue } from "../core/node/queue.ts";
import type { SeatRecord } from "../core/placement/place.ts";

export type NodeWorld = {
  readonly node_id: string;
  readonly version: string;
  /** Milliseconds that never run backwards. */
  readonly clock: { ms(): number };
  /** Ends after so many milliseconds, or at once when the signal fires. Never rejects. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  readonly sha256: (text: string) => string;
  readonly queue: JobQueue;
  /** The store was found damaged at this start, and is a new one. */
  readonly storeReset: boolean;
  /** Works on a job on a seat of this node. Errors: only defects. */
  runJob(job: Job, seat: string, options: RunOptions): Promise<WireResult>;
  /** The seats, each as it was last seen. Waits for nothing. */
  seats(): readonly SeatRecord[];
  /** The contract of a stored job. Errors: `WritError` where the stored text is none. */
  readContract(text: string): DelegationContract;
  /** Free bytes of the disk that the store is on; null where that is not known. */
  freeBytes(): number | null;
  readonly settings: NodeSettings;
  /** One line for whoever operates the node. */
  log(line: string): void;
};

export type RunOptions = { readonly signal: AbortSignal; readonly onProgress: (progress: JobProgress) => void };

export type NodeSettings = {
  readonly agent_allow_write: boolean;
  readonly profiles: readonly string[];
  /** Jobs at once, and accepted and running together; 0: by the seats, negative: no limit. */
  readonly max_running: number;
  readonly max_queue: number;
  readonly retain_hours: number;
  /** 0: off. */
  readonly poll_lease_sec: number;
  readonly drain_sec: number;
  readonly restart_reruns: number;
};
