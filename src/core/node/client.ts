/** A node as its delegator talks to it: the port between `delegate/`, which decides, and `wire/`, which sends. */
import type { ReadView } from "./read-view.ts";

/** The answer to one request. */
export type NodeAnswer =
  | {
      readonly kind: "answer";
      readonly status: number;
      /** Of an error body; "" where there is none. */
      readonly code: string;
      readonly message: string;
      /** The body as it came, at most 4 MiB. */
      readonly text: string;
      readonly retry_after_sec: number | null;
    }
  /** None came, or none that was whole. `is_sent` false: nothing was sent, so nothing can have happened there. */
  | {
      readonly kind: "none";
      readonly why: string;
      readonly is_sent: boolean;
      /** The transport's own, or `CA_FILE`; left out where there is none. */
      readonly code?: string;
    }
  /** One came that cannot be used: too large. */
  | { readonly kind: "unusable"; readonly why: string; readonly status: number };

export type Followed = {
  /** It came to its end; else it broke, or there is none here. */
  readonly isWhole: boolean;
  /** For how long nothing had come when it was given up for that, in milliseconds; else 0. */
  readonly silent_ms: number;
};

export type NodeClient = {
  /** Its base URL. */
  readonly url: string;
  /** Errors of all: none. Each is bounded in time by itself, and ends when its signal fires. */
  health(signal: AbortSignal): Promise<NodeAnswer>;
  submit(body: string, signal: AbortSignal): Promise<NodeAnswer>;
  /** Holds until the job has changed, at most so many seconds. `since` null: answers at once. */
  poll(job_id: string, since: number | null, wait_sec: number, signal: AbortSignal): Promise<NodeAnswer>;
  /** Hands over each view of the event stream until it ends. */
  follow(job_id: string, signal: AbortSignal, onView: (view: ReadView) => void): Promise<Followed>;
  cancel(job_id: string, isForced: boolean, signal: AbortSignal): Promise<NodeAnswer>;
};
