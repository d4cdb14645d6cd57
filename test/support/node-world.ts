/** A node with a real store, a scripted seat and a clock that stands still until everybody waits for it. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { monotonic, sleep } from "../../src/cli/clock.ts";
import { canonicalContract, readContracts } from "../../src/core/delegation/contract.ts";
import { JUDGES } from "../../src/core/delegation/judges.ts";
import type { Job, WireResult } from "../../src/core/delegation/wire-result.ts";
import { canonicalJson, type JsonObject } from "../../src/core/json/value.ts";
import { interruptedResult } from "../../src/core/node/interrupted.ts";
import type { StoredJob } from "../../src/core/node/job.ts";
import type { SeatRecord } from "../../src/core/placement/place.ts";
import { WritNode } from "../../src/node/node.ts";
import type { NodeSettings, NodeWorld, RunOptions } from "../../src/node/world.ts";
import { openJobQueue } from "../../src/store/job-queue.ts";
import { manualClock } from "./manual-clock.ts";
import { memoryFolder } from "./memory-folder.ts";

export const sha256 = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex");

export type Play = (job: Job, seat: string, options: RunOptions) => Promise<WireResult>;

export const SEAT: SeatRecord = {
  name: "s",
  engine: "llama.cpp",
  model: "m",
  ctx_tokens: 8192,
  slots: 1,
  busy: 0,
  served: true,
  loaded: true,
  tok_s: null,
  prefill_tok_s: null,
  cold_load_sec: null,
  samples: 0,
};

export function doneResult(job: Pick<Job, "job_id" | "contract_sha256">, more: Partial<WireResult> = {}): WireResult {
  const base = interruptedResult(job as StoredJob, { node_id: "n", version: "0" });
  return {
    ...base,
    deferred: false,
    reason: "",
    defer_class: "",
    output: "done",
    steps: 1,
    stop_reason: "done",
    ...more,
  };
}

export type NodeMore = {
  readonly settings?: Partial<NodeSettings>;
  readonly seats?: readonly SeatRecord[];
  readonly freeBytes?: () => number;
};

/** Time as it passes. */
export const realTime = { ...monotonic, sleep };

export function nodeWorld(play: Play, more: NodeMore = {}) {
  const clock = manualClock();
  return { clock, ...nodeIn(clock, play, more) };
}

export function nodeIn(
  clock: { ms(): number; sleep(ms: number, signal: AbortSignal): Promise<void> },
  play: Play,
  more: NodeMore,
) {
  const folder = memoryFolder("writ-node-");
  const path = join(folder, "node.db");
  const logged: string[] = [];
  const make = () => {
    const { queue, movedTo } = openJobQueue(path);
    const world: NodeWorld = {
      node_id: "n",
      version: "0",
      clock,
      sleep: clock.sleep,
      sha256,
      queue,
      storeReset: movedTo !== null,
      runJob: play,
      seats: () => more.seats ?? [SEAT],
      readContract(text) {
        const [draft] = readContracts(text, JUDGES).subtasks;
        if (draft === undefined) throw new Error("no contract");
        return draft.contract;
      },
      freeBytes: more.freeBytes ?? (() => null),
      settings: {
        agent_allow_write: false,
        profiles: ["research", "general", "edit"],
        max_running: 1,
        max_queue: 8,
        retain_hours: 24,
        poll_lease_sec: 120,
        drain_sec: 30,
        restart_reruns: 1,
        ...more.settings,
      },
      log: (line) => void logged.push(line),
    };
    const node = new WritNode(world);
    node.recover();
    return { world, node };
  };
  return { logged, make, path, folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

const SCHEMA = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };

/** The id and the body of a submit, each with another contract. */
export function submitOf(n: number, more: JsonObject = {}, envelope: object = {}): Submit {
  const [draft] = readContracts(JSON.stringify({ goal: `Do ${n}`, output_schema: SCHEMA, ...more }), JUDGES).subtasks;
  if (draft === undefined) throw new Error("no contract");
  return submitAs(n, canonicalContract(draft.contract), envelope);
}

export type Submit = { readonly job_id: string; readonly body: string };

/** The same of any object. */
export function submitAs(n: number, contract: JsonObject, envelope: object = {}): Submit {
  const job_id = `wrt-${String(n).padStart(24, "0")}`;
  const contract_sha256 = sha256(canonicalJson(contract));
  return { job_id, body: JSON.stringify({ job_id, contract, contract_sha256, ...envelope }) };
}
