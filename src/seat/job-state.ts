/** What the parts of one job share while it runs: its clock, its waits, its counts, and what it says of itself. */
import type { Job, JobPhase, JobProgress, Timings, Tokens, Waits } from "../core/delegation/wire-result.ts";
import type { Completion, Endpoint, SeatPin } from "../core/seat/endpoint.ts";
import { seatKey } from "../core/seat/seat-key.ts";
import { Wall } from "./wall.ts";
import type { JobWorld } from "./world.ts";

export type JobState = {
  readonly world: JobWorld;
  readonly job: Job;
  readonly endpoint: Endpoint;
  /** The caller's: it stops the job. */
  readonly signal: AbortSignal;
  readonly wall: Wall;
  readonly waits: WaitCount;
  readonly meter: Meter;
  readonly progress: Progress;
  /** Of the seat, in what is kept about it. */
  readonly seat_key: string;
  /** What serves the seat: asked once, by whoever is first. */
  readonly pin: () => Promise<SeatPin | null>;
};

export type JobOptions = {
  /** Stops the job: it ends as canceled. */
  readonly signal: AbortSignal;
  /** For a display; it may be called often and decides nothing. */
  readonly onProgress: (progress: JobProgress) => void;
};

/** @param wall_ms how long the work may take, once its wall is started */
export function openState(world: JobWorld, job: Job, { signal, onProgress }: JobOptions, wall_ms: number): JobState {
  const meter = new Meter();
  const endpoint = world.endpointOf(world.seat);
  let asked: Promise<SeatPin | null> | null = null;
  return {
    world,
    job,
    signal,
    endpoint,
    wall: new Wall(world, wall_ms),
    waits: new WaitCount(),
    meter,
    progress: new Progress(job.contract.max_steps, onProgress, () => meter.decode_tok_s() ?? 0),
    seat_key: seatKey(world.seat),
    pin: () => {
      asked ??= endpoint.pin(signal);
      return asked;
    },
  };
}

/** Time that the job spent waiting for others, in milliseconds. */
export class WaitCount {
  admission_ms = 0;
  admission_note: string | null = null;
  /** In the line of this machine, before the wall. */
  line_ms = 0;
  /** On busy answers: it has a budget of its own. */
  busy_ms = 0;
  seat_down_ms = 0;

  toWaits(): Waits {
    return {
      admission_sec: seconds(this.admission_ms),
      ...(this.admission_note === null ? {} : { admission_note: this.admission_note }),
      contention_sec: seconds(this.line_ms + this.busy_ms),
      seat_down_sec: seconds(this.seat_down_ms),
    };
  }
}

function seconds(ms: number): number {
  return Math.round(ms) / 1000;
}

/** Fewer tokens say nothing of a rate. */
const LEAST_DECODED = 8;
const LEAST_READ = 64;

/** Counts over all answers of a job. */
export class Meter {
  /** Others had slots of the server when the job began. */
  hadCompany = false;
  answers = 0;
  /** The most tokens of one answer. */
  longest_tokens = 0;
  tools_ms = 0;
  repack_ms = 0;
  private first_byte_ms: number | null = null;
  private prefill_ms = 0;
  private decode_ms = 0;
  private read_tokens = 0;
  private prompt = 0;
  private completion = 0;
  private reasoning = 0;
  private cached = 0;
  private estimated = false;

  /** `guessed`: what the prompt and the answer were estimated at, for a server that sends no usage. */
  add(completion: Completion, guessed: { readonly prompt: number; readonly completion: number }): void {
    const { usage, first_byte_ms, prefill_ms, decode_ms } = completion;
    this.answers += 1;
    this.first_byte_ms ??= first_byte_ms;
    this.prefill_ms += prefill_ms;
    this.decode_ms += decode_ms;
    this.estimated ||= usage === null;
    const decoded = usage?.completion_tokens ?? guessed.completion;
    this.longest_tokens = Math.max(this.longest_tokens, decoded);
    this.prompt += usage?.prompt_tokens ?? guessed.prompt;
    this.completion += decoded;
    this.reasoning += usage?.reasoning_tokens ?? 0;
    this.cached += usage?.cached_tokens ?? 0;
    if (usage !== null) this.read_tokens += Math.max(0, usage.prompt_tokens - usage.cached_tokens);
  }

  decode_tok_s(): number | null {
    return this.completion < LEAST_DECODED || this.decode_ms <= 0 ? null : (this.completion * 1000) / this.decode_ms;
  }

  prefill_tok_s(): number | null {
    return this.read_tokens < LEAST_READ || this.prefill_ms <= 0 ? null : (this.read_tokens * 1000) / this.prefill_ms;
  }

  toTokens(): Tokens {
    const { prompt, completion, reasoning, cached, estimated } = this;
    return { prompt, completion, reasoning, cached, estimated };
  }

  toTimings(): Timings {
    return {
      first_byte_ms: Math.round(this.first_byte_ms ?? 0),
      prefill_ms: Math.round(this.prefill_ms),
      decode_ms: Math.round(this.decode_ms),
      tools_ms: Math.round(this.tools_ms),
      repack_ms: Math.round(this.repack_ms),
      tok_s: Math.round((this.decode_tok_s() ?? 0) * 10) / 10,
    };
  }
}

/** Says where the job is; nothing is decided by it. */
export class Progress {
  step = 0;

  constructor(
    private readonly max_steps: number,
    private readonly tell: (progress: JobProgress) => void,
    private readonly tok_s: () => number,
  ) {}

  say(phase: JobPhase, more: Partial<Omit<JobProgress, "phase" | "step" | "max_steps">> = {}): void {
    const { step, max_steps } = this;
    const rest = { tool: "", arg: "", tokens: 0, tok_s: this.tok_s(), idle_ms: 0, allowance_ms: 0 };
    this.tell({ phase, step, max_steps, ...rest, ...more });
  }
}

/** What this run measured, for those that come after it. */
export function keepRates({ meter, waits, world, seat_key }: JobState): void {
  const decode_tok_s = meter.decode_tok_s();
  // Beside others a prompt is not read at the seat's own speed.
  const wasAlone = !meter.hadCompany && waits.busy_ms === 0;
  const prefill_tok_s = wasAlone ? meter.prefill_tok_s() : null;
  if (decode_tok_s === null && prefill_tok_s === null) return;
  world.rates.add(seat_key, {
    ...(decode_tok_s === null ? {} : { decode_tok_s }),
    ...(prefill_tok_s === null ? {} : { prefill_tok_s }),
  });
}
