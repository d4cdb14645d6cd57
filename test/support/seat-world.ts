/**
 * A scripted world for jobs: a seat that answers what a test says, a clock that moves only when somebody sleeps, and a
 * folder in memory. Nothing in it waits for real.
 */

import type { Seat } from "../../src/core/config/seat.ts";
import type { DelegationContract } from "../../src/core/delegation/contract.ts";
import type { Job, JobProgress, WireResult } from "../../src/core/delegation/wire-result.ts";
import { readToolPath, readWritePath } from "../../src/core/patch/write-path.ts";
import { searchLines } from "../../src/core/pattern/search.ts";
import type {
  ChatMessage,
  ChatOutcome,
  ChatRequest,
  Completion,
  Endpoint,
  SeatLook,
  StructuredMode,
  Watch,
} from "../../src/core/seat/endpoint.ts";
import type { Refusal, Snapshot, SnapshotFile, Workspace } from "../../src/core/seat/workspace.ts";
import { compareUtf8 } from "../../src/core/utf8.ts";
import { runJob } from "../../src/seat/run-job.ts";
import type { JobWorld } from "../../src/seat/world.ts";
import { completion, received } from "./completion.ts";

/** Time that stands still until everybody sleeps, and then goes on to whoever wakes first. */
export class ScriptedClock {
  now = 0;
  private sleepers: { readonly at: number; readonly wake: () => void }[] = [];
  private isPumping = false;

  ms(): number {
    return this.now;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const sleeper = { at: this.now + Math.max(0, ms), wake: () => resolve() };
      this.sleepers.push(sleeper);
      signal.addEventListener(
        "abort",
        () => {
          this.sleepers = this.sleepers.filter((each) => each !== sleeper);
          resolve();
        },
        { once: true },
      );
      this.pump();
    });
  }

  /** Wakes the first sleeper once nothing else is left to do in this turn of the runtime. */
  private pump(): void {
    if (this.isPumping) return;
    this.isPumping = true;
    setImmediate(() => {
      this.isPumping = false;
      const [first] = this.sleepers.toSorted((one, other) => one.at - other.at);
      if (first === undefined) return;
      this.sleepers = this.sleepers.filter((each) => each !== first);
      this.now = Math.max(this.now, first.at);
      first.wake();
      if (this.sleepers.length > 0) this.pump();
    });
  }
}

/** What a test's seat does with a request: an outcome, a text, calls, or something that takes time. */
export type Reply =
  | string
  | ChatOutcome
  | Partial<Completion>
  | ((request: ChatRequest, at: { readonly watch: Watch; readonly clock: ScriptedClock }) => Reply | Promise<Reply>);

export type Script = {
  /** For each chat request in turn; the last one repeats. */
  readonly replies: readonly Reply[];
  /** For each look in turn; the last one repeats. */
  readonly looks?: readonly (SeatLook["state"] | Partial<SeatLook>)[];
  readonly hasFreeSlot?: () => boolean;
  readonly countTokens?: (text: string) => number | null;
  readonly window?: number | null;
  readonly loadedWindow?: number | null;
  readonly warmUp?: () => ChatOutcome | null;
  readonly isScripted?: boolean;
  readonly seat?: Partial<Seat>;
  readonly contract?: Partial<DelegationContract>;
  readonly world?: Partial<JobWorld>;
  /** Slots of the line; null refuses after the whole wait. */
  readonly slot?: null;
  /** The way of asking for form that worked last. */
  readonly mode?: StructuredMode;
  readonly workspace?: (inner: Workspace) => Workspace;
  /** Cancels the job when the clock is there. */
  readonly cancel_at?: number;
};

/** A scripted world, and what happened in it so far. */
export type Scripted = {
  readonly world: JobWorld;
  readonly requests: readonly ChatRequest[];
  readonly clock: ScriptedClock;
  readonly folders: { readonly open: number };
  readonly slots: { readonly taken: number };
  readonly modes: readonly StructuredMode[];
  readonly rates: readonly object[];
  readonly warmed: { readonly count: number };
  /** How many requests had been sent whenever it was asked what serves the seat. */
  readonly pinned: readonly number[];
};

export type Played = Scripted & {
  readonly result: WireResult;
  readonly progress: readonly JobProgress[];
};

export const SEAT: Seat = {
  name: "small",
  base_url: "http://127.0.0.1:1",
  model: "m",
  engine: "llama.cpp",
  proxy: "",
  api_key_env: "",
  ctx_tokens: 32_768,
  slots: 1,
  step_tokens: 4096,
  final_tokens: 8192,
  thinking: "auto",
  profile: "research",
  tools: true,
  stream: true,
  seed_reads: false,
  temperature: 0,
  seed: 42,
  extra_body: {},
};

export const CONTRACT: DelegationContract = {
  schema_version: 1,
  goal: "Say which port it is.",
  context: [{ name: "a.md", text: "the port is 80\n" }],
  output_schema: null,
  acceptance: [],
  profile: "",
  thinking: "",
  max_steps: 12,
  timeout_sec: 300,
  write_root: "",
  depth: 0,
};

export function jobOf(contract: Partial<DelegationContract> = {}): Job {
  return {
    job_id: "wrt-0123456789abcdef01234567",
    contract: { ...CONTRACT, ...contract },
    contract_sha256: "0".repeat(64),
  };
}

/** A turn with calls. */
export function calling(...calls: readonly (readonly [name: string, given: object | string])[]): Partial<Completion> {
  return { calls: calls.map(([name, given]) => received(name, given)), finish_reason: "tool_calls" };
}

/** Answers after so many milliseconds, or ends with the request. */
export function slowly(ms: number, reply: Reply): Reply {
  return async (_, { watch, clock }) => {
    await clock.sleep(ms, watch.signal);
    return watch.signal.aborted ? { kind: "aborted" } : reply;
  };
}

/** Runs one job in a scripted world. */
export async function play(script: Script): Promise<Played> {
  const scripted = scriptedSeat(script);
  const progress: JobProgress[] = [];
  const stop = new AbortController();
  const { signal } = stop;
  const { cancel_at } = script;
  if (cancel_at === 0) stop.abort();
  else if (cancel_at !== undefined) void scripted.clock.sleep(cancel_at, signal).then(() => stop.abort());
  const onProgress = (each: JobProgress) => void progress.push(each);
  const result = await runJob(scripted.world, jobOf(script.contract), { signal, onProgress });
  return { ...scripted, result, progress };
}

export function scriptedSeat(script: Script): Scripted {
  const clock = new ScriptedClock();
  const requests: ChatRequest[] = [];
  const folders = { open: 0 };
  const slots = { taken: 0 };
  const modes: StructuredMode[] = [];
  const rates: object[] = [];
  const warmed = { count: 0 };
  const looks = { count: 0 };
  const pinned: number[] = [];
  const endpoint: Endpoint = {
    async chat(request, watch) {
      requests.push(request);
      if (watch.signal.aborted) return { kind: "aborted" };
      return settle(script.replies[Math.min(requests.length, script.replies.length) - 1] ?? "", request, watch, clock);
    },
    async look() {
      const all = script.looks ?? ["ready"];
      const said = all[Math.min(looks.count, all.length - 1)] ?? "ready";
      looks.count += 1;
      const base: SeatLook = { state: "ready", busy_slots: null, total_slots: null, message: "looked" };
      return typeof said === "string" ? { ...base, state: said } : { ...base, ...said };
    },
    hasFreeSlot: async () => script.hasFreeSlot?.() ?? true,
    windowTokens: async () => script.window ?? null,
    totalSlots: async () => 1,
    countTokens: async (text) => script.countTokens?.(text) ?? null,
    loadedWindowTokens: async () => script.loadedWindow ?? null,
    takesTools: async () => null,
    async warmUp() {
      warmed.count += 1;
      return script.warmUp?.() ?? null;
    },
    async pin() {
      pinned.push(requests.length);
      return { engine: "llama.cpp", model: "m", ctx_tokens: 32_768 };
    },
    isScripted: () => script.isScripted ?? false,
  };
  const world: JobWorld = {
    clock,
    sleep: (ms, signal) => clock.sleep(ms, signal),
    seat: { ...SEAT, ...script.seat },
    endpointOf: () => endpoint,
    openWorkspace: () => {
      const inner = memoryWorkspace(folders);
      return script.workspace?.(inner) ?? inner;
    },
    search: async (request) => searchLines(request),
    slotLine: {
      async take(_key, _slots, { bound_ms, signal, onWait }) {
        if (script.slot === null) {
          onWait({ waited_ms: 0, ahead: 1 });
          await clock.sleep(bound_ms, signal);
          return { kind: signal.aborted ? "aborted" : "over", waited_ms: clock.now };
        }
        slots.taken += 1;
        return { kind: "taken", waited_ms: 0, slot: { release: () => (slots.taken -= 1) } };
      },
    },
    rates: {
      read: () => ({ decode_tok_s: null, prefill_tok_s: null, cold_load_sec: null }),
      add: (_key, sample) => rates.push(sample),
    },
    modes: { get: () => script.mode ?? null, set: (_key, mode) => modes.push(mode) },
    agent_allow_write: true,
    limits: {
      contention_wait_sec: 90,
      admission_wait_sec: 300,
      slot_wait_sec: 1800,
      same_tool: 8,
      same_write_tool: 16,
    },
    env_rules: { deny_tools: [], max_calls_per_tool: {}, max_observation_tokens: 0 },
    node_id: "local",
    version: "0.0.0",
    ...script.world,
  };
  return { world, requests, clock, folders, slots, modes, rates, warmed, pinned };
}

async function settle(reply: Reply, request: ChatRequest, watch: Watch, clock: ScriptedClock): Promise<ChatOutcome> {
  if (typeof reply === "string") return { kind: "answered", completion: completion({ content: reply }) };
  if (typeof reply === "function") return settle(await reply(request, { watch, clock }), request, watch, clock);
  return "kind" in reply ? reply : { kind: "answered", completion: completion(reply) };
}

/** The folder of a job without a disk. `counts.open` is how many there are. */
export function memoryWorkspace(counts: { open: number }): Workspace {
  const files = new Map<string, Uint8Array>();
  let isFilled = false;
  const below = (root: string) =>
    [...files.keys()].filter((path) => root === "." || path.startsWith(`${root}/`)).sort(compareUtf8);
  const none = (path: string): Refusal => ({ ok: false, kind: "failed", message: `there is no "${path}"` });
  const reading = <T>(written: string, look: (path: string) => T | Refusal): T | Refusal => {
    const read = readToolPath(written);
    return read.ok ? look(read.path) : { ok: false, kind: "refused", message: read.reason };
  };
  return {
    fill(documents) {
      for (const { name, text } of documents) files.set(name, new TextEncoder().encode(text));
      isFilled = true;
      counts.open += 1;
    },
    makeRoot: (root) =>
      files.has(root) ? { ok: false, kind: "refused", message: `"${root}" is a file` } : { ok: true },
    list: (written) =>
      reading(written, (path) => {
        const names = new Map<string, "file" | "folder">();
        for (const each of below(path)) {
          const [name = "", ...rest] = (path === "." ? each : each.slice(path.length + 1)).split("/");
          names.set(name, rest.length > 0 ? "folder" : "file");
        }
        if (names.size === 0 && path !== ".") return none(path);
        return { ok: true, entries: [...names].map(([name, kind]) => ({ name, kind })) };
      }),
    read: (written) =>
      reading(written, (path) => {
        const bytes = files.get(path);
        return bytes === undefined ? none(path) : { ok: true, bytes };
      }),
    walk: (written) =>
      reading(written, (path) => (files.has(path) ? { ok: true, paths: [path] } : { ok: true, paths: below(path) })),
    write(written, bytes, root) {
      const read = readWritePath(written, root);
      if (!read.ok) return { ok: false, kind: "refused", message: read.reason };
      files.set(read.path, bytes);
      return { ok: true, path: read.path };
    },
    snapshot(root): Snapshot {
      return new Map(
        below(root).map((path): [string, SnapshotFile] => [
          path,
          { kind: "bytes", bytes: files.get(path) ?? new Uint8Array() },
        ]),
      );
    },
    remove() {
      if (isFilled) counts.open -= 1;
      isFilled = false;
      files.clear();
    },
  };
}

/** The texts of a request's messages, each with its role. */
export function said(request: ChatRequest | undefined): readonly string[] {
  return (request?.messages ?? []).map((message: ChatMessage) => `${message.role}: ${message.content}`);
}
