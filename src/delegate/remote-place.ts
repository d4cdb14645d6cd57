/**
 * A node as a place: a job is handed over, followed to its end, and taken back where that is asked for. Whatever the node
 * and the network do, the leg gets one outcome within bounds.
 *
 *   try -> submit -> open -> follow (events, else polls) -> close
 *
 * The ledger says what may lie at the node and is nowhere else: a job that ran is closed by `forget`, when its result is
 * kept.
 *
 * Source: delegation run, sections 4.7, 4.11, 7.6, 7.7, 8.4
 */
import { canonicalContract } from "../core/delegation/contract.ts";
import { readWireResult } from "../core/delegation/read-wire-result.ts";
import type { Job } from "../core/delegation/wire-result.ts";
import { canonicalJson } from "../core/json/value.ts";
import type { NodeAnswer, NodeClient } from "../core/node/client.ts";
import type { IntentLedger } from "../core/node/intents.ts";
import { isTerminal } from "../core/node/job.ts";
import { type ReadView, readView } from "../core/node/read-view.ts";
import { readHealth } from "../core/placement/health.ts";
import type { Probe } from "../core/placement/place.ts";
import type { PlaceOutcome, PlaceRun, RemotePlace } from "../core/placement/port.ts";
import { submitMeaning } from "../core/placement/submit-answer.ts";
import type { HeldJobs } from "./held-jobs.ts";

export type RemoteWorld = {
  readonly client: NodeClient;
  /** The NAME of the variable whose value is sent as bearer; "" sends none. */
  readonly token: string;
  /** Whether that variable has a value. */
  readonly hasToken: () => boolean;
  readonly clock: { ms(): number; unix(): number };
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  readonly intents: IntentLedger;
  /** One for all places and calls of a process. */
  readonly held: HeldJobs;
  readonly process: {
    readonly pid: number;
    readonly pid_start: string;
    readonly origin: string;
    readonly label: string;
  };
  readonly orphan: { readonly grace_sec: number; readonly policy: "replace" | "wait" };
  /** What a node may claim to have waited, in seconds: more does not move a deadline. */
  readonly most_wait_sec: number;
};

/** A request without an answer is sent once more, under the same id. */
const SUBMIT_TRIES = 2;
const POLL_WAIT_SEC = 12;
/** Between two looks at a node that is silent, or says nothing new. */
const PAUSE_MS = 2_000;
/** The first one behind a fault of the transport; each further one is twice as long. */
const FIRST_PAUSE_MS = 125;
/** A silence that is shorter is a stumble, and told to nobody. */
const TOLD_SILENCE_MS = 1_000;
/** Events are not tried again for so long after a stream broke. */
const NO_EVENTS_MS = 30_000;
/** What an execution may take beyond its wall. */
const POLL_GRACE_SEC = 60;
/** How often a job that the node does not know any more is handed over again. */
const RESUBMITS = 2;
/** How often a node that was restarted under the job gets the time for it anew. */
const RESTARTS = 3;
const AUTH_REJECTED = "auth rejected";
const QUEUE_DEADLINE = "queue deadline";
/** Failures behind which the job may still lie at the node, and end there. */
const LEFT = [AUTH_REJECTED, QUEUE_DEADLINE] as const;
const QUEUE = { least: 60, without_estimate: 300, grace: 60, factor: 1.5, more: 30 } as const;

export function remotePlace(world: RemoteWorld): RemotePlace {
  let mostHeld = 0;
  return {
    url: world.client.url,
    token: world.token,
    async probe(signal) {
      const told = await probe(world, signal);
      if (told.ok) mostHeld = told.record.max_queue;
      return told;
    },
    run: (job, seat, options) => heldRun(world, mostHeld, new RemoteRun(world, job, seat, options)),
    forget: (job) => world.intents.append({ e: "close", job, note: "kept" }),
  };
}

/** A run that has one of the positions of this process at the node, to its end. */
async function heldRun({ held, client: { url } }: RemoteWorld, most: number, run: RemoteRun): Promise<PlaceOutcome> {
  if (!held.enter(url, most)) {
    // Nobody refused anything: no cooldown, the next look at the fleet decides.
    const message = `this process holds ${held.at(url)} of the ${most} jobs that it takes`;
    return { kind: "refused", http: 503, code: "queue_full", message, retry_after_sec: 0 };
  }
  const untilEnd = async (outcome: Promise<PlaceOutcome>) => {
    try {
      return await outcome;
    } finally {
      held.leave(url);
    }
  };
  let isSilent = false;
  try {
    const outcome = await run.run();
    if (outcome.kind !== "silent") return outcome;
    isSilent = true;
    const { late, outwait } = outcome;
    return { ...outcome, late: () => untilEnd(late()), outwait: () => untilEnd(outwait()) };
  } finally {
    if (!isSilent) held.leave(url);
  }
}

async function probe({ client, token, hasToken }: RemoteWorld, signal: AbortSignal): Promise<Probe> {
  const answer = await client.health(signal);
  const failed = (why: string, blames: "infrastructure" | "config" = "infrastructure"): Probe => {
    return { ok: false, why, blames };
  };
  if (answer.kind !== "answer") return failed(answer.why);
  const unknown = hasToken()
    ? "token not accepted"
    : `it wants a token, and ${token === "" ? "none is named" : `${token} is unset`}`;
  if (answer.status === 401 || answer.status === 403) return failed(unknown, "config");
  if (answer.status !== 200) return failed(`HTTP ${answer.status}`);
  const read = readHealth(answer.text);
  switch (read.kind) {
    case "record":
      return { ok: true, record: read.record };
    case "reduced":
      return failed(unknown, "config");
    case "unreadable":
      return failed(`no node answers there: ${read.why}`);
    default:
      return read satisfies never;
  }
}

/** What the following of a job came to; null: go on. */
type Step = PlaceOutcome | null;

class RemoteRun {
  readonly #world: RemoteWorld;
  readonly #job: Job;
  readonly #seat: string;
  readonly #options: PlaceRun;
  /** Since when it lies in the node's line, and since when it is seen running; both of this clock. */
  #lying_ms = 0;
  #running_ms: number | null = null;
  #policy: RemoteWorld["orphan"]["policy"];
  #queueBudget_ms: number = QUEUE.without_estimate * 1000;
  #view: ReadView | null = null;
  #queued_ms = 0;
  /** Since when nothing came that it can be followed by; null: the last answer was of use. */
  #silentSince: number | null = null;
  /** How many requests came to nothing since its last answer of use. */
  #faults = 0;
  /** What was told of its silence last: by which policy it is borne; null: nothing. */
  #toldSilence: RemoteWorld["orphan"]["policy"] | null = null;
  /** All of its silences that have ended. */
  #silence_ms = 0;
  #restarts = 0;
  /** What its last answer was, where that was none that a node gives of a job; "" where none came, or one of use. */
  #unusable = "";
  #resubmits = 0;
  /** It was sent and not answered: the node may have it. */
  #isDoubtful = false;
  #noEventsUntil = 0;

  constructor(world: RemoteWorld, job: Job, seat: string, options: PlaceRun) {
    this.#world = world;
    this.#job = job;
    this.#seat = seat;
    this.#options = options;
    this.#policy = world.orphan.policy;
  }

  async run(): Promise<PlaceOutcome> {
    const { clock, process } = this.#world;
    const { job_id, contract, contract_sha256 } = this.#job;
    this.#world.intents.append({
      e: "try",
      job: job_id,
      url: this.#world.client.url,
      node: "",
      sha: contract_sha256,
      goal120: [...contract.goal].slice(0, 120).join(""),
      unix: clock.unix(),
      pid: process.pid,
      pid_start: process.pid_start,
      ...this.#options.of,
    });
    const handed = await this.#submit();
    if (handed !== null) return this.#closed(handed);
    this.#world.intents.append({ e: "open", job: job_id });
    return this.#closed(await this.#follow());
  }

  /** What is over closes its intent; what may still lie there does not. */
  #closed(outcome: PlaceOutcome): PlaceOutcome {
    if (!this.#isLeft(outcome)) this.#world.intents.append({ e: "close", job: this.#job.job_id, note: outcome.kind });
    return outcome;
  }

  #isLeft(outcome: PlaceOutcome): boolean {
    switch (outcome.kind) {
      case "ran":
      case "silent":
      case "gave_up":
        return true;
      case "refused":
        return this.#isDoubtful;
      case "stopped":
        return outcome.state === "running";
      case "failed":
        return LEFT.some((prefix) => outcome.reason.startsWith(prefix));
      case "lost":
        return this.#isDoubtful;
      case "withdrawn":
        return false;
      default:
        return outcome satisfies never;
    }
  }

  // Handing over.

  /** Null: the node owns the job. */
  async #submit(): Promise<PlaceOutcome | null> {
    const { signal } = this.#options;
    let answer: NodeAnswer = { kind: "none", why: "not sent", is_sent: false };
    for (let attempt = 0; attempt < SUBMIT_TRIES; attempt += 1) {
      if (signal.aborted) break;
      answer = await this.#world.client.submit(this.#body(), signal);
      if (!isNobodys(answer)) {
        // A node that answers knows whether it has the job, whatever became of an earlier request.
        this.#isDoubtful = false;
        break;
      }
      this.#isDoubtful ||= answer.kind !== "none" || answer.is_sent;
    }
    if (signal.aborted && (answer.kind !== "answer" || answer.status !== 202)) {
      return this.#isDoubtful || answer.kind !== "none"
        ? await this.#takeBack()
        : { kind: "stopped", state: "withdrawn" };
    }
    const status = answer.kind === "none" ? null : answer.status;
    const code = answer.kind === "answer" ? answer.code : "";
    if (submitMeaning(status, code) !== "owned") {
      return {
        kind: "refused",
        http: status,
        code,
        message: answer.kind === "answer" ? answer.message : answer.why,
        retry_after_sec: answer.kind === "answer" ? answer.retry_after_sec : null,
      };
    }
    this.#isDoubtful = false;
    this.#lying_ms = this.#world.clock.ms();
    this.#queueBudget_ms = queueBudgetMs(answer.kind === "answer" ? waitOf(answer.text) : null, this.#wallSec);
    return null;
  }

  #body(): string {
    const { contract, job_id, contract_sha256 } = this.#job;
    const { deadline_sec } = this.#options;
    const { origin, label } = this.#world.process;
    const envelope = { job_id, contract_sha256, seat: this.#seat, deadline_sec, label, origin };
    return `${JSON.stringify(envelope).slice(0, -1)},"contract":${canonicalJson(canonicalContract(contract))}}`;
  }

  get #wallSec(): number {
    return this.#job.contract.timeout_sec;
  }

  // Following it.

  async #follow(): Promise<PlaceOutcome> {
    for (;;) {
      const step = await this.#look();
      if (step !== null) return step;
    }
  }

  async #look(): Promise<Step> {
    const { clock } = this.#world;
    if (this.#options.signal.aborted) return await this.#takeBack();
    const over = await this.#bounds();
    if (over !== null) return over;
    if (this.#silentSince === null && clock.ms() >= this.#noEventsUntil) {
      const ended = await this.#listen();
      if (ended !== null) return ended;
    }
    if (this.#options.signal.aborted) return await this.#takeBack();
    const since = this.#silentSince === null && this.#view !== null ? this.#view.rev : null;
    const asked_ms = clock.ms();
    const answer = await this.#world.client.poll(this.#job.job_id, since, POLL_WAIT_SEC, this.#options.signal);
    const heard = await this.#heard(answer, asked_ms);
    // A node that holds no polls, or too many, is not asked all the time. Faults have had their pause.
    const isOld = this.#silentSince === null && since !== null && this.#view?.rev === since;
    if (heard === null && isOld) {
      const held_ms = clock.ms() - asked_ms;
      await this.#world.sleep(Math.max(0, PAUSE_MS - held_ms), this.#options.signal);
    }
    return heard;
  }

  /** Events, until the stream ends, breaks, or a bound is near. */
  async #listen(): Promise<Step> {
    const stop = new AbortController();
    const signal = AbortSignal.any([this.#options.signal, stop.signal]);
    let terminal: ReadView | null = null;
    const over = new AbortController();
    void this.#untilBound(AbortSignal.any([signal, over.signal])).then(() => stop.abort());
    const { silent_ms } = await this.#world.client.follow(this.#job.job_id, signal, (view) => {
      if (terminal !== null || view.job_id !== this.#job.job_id) return;
      this.#seen(view);
      if (!isEnded(view)) return;
      terminal = view;
      stop.abort();
    });
    over.abort();
    if (terminal === null) {
      const now_ms = this.#world.clock.ms();
      this.#noEventsUntil = now_ms + NO_EVENTS_MS;
      if (silent_ms > 0) this.#silentSince ??= now_ms - silent_ms;
    }
    return terminal === null ? null : this.#end(terminal);
  }

  /** A bound moves with what the events say. */
  async #untilBound(signal: AbortSignal): Promise<void> {
    for (let left_ms = this.#untilBoundMs(); left_ms > 0 && !signal.aborted; left_ms = this.#untilBoundMs()) {
      await this.#world.sleep(Math.min(left_ms, PAUSE_MS), signal);
    }
  }

  #seen(view: ReadView): void {
    const { onProgress } = this.#options;
    this.#spoke();
    this.#noteRestart(view);
    this.#view = view;
    this.#queued_ms = view.queued_ms;
    if (view.state === "running") {
      this.#running_ms ??= this.#world.clock.ms();
      if (view.progress !== null) onProgress({ kind: "running", progress: view.progress });
    } else if (view.state === "accepted") {
      this.#running_ms = null;
      onProgress({ kind: "queued", position: view.queue_position + 1, about_sec: null });
    }
  }

  /** A node that was restarted has put the job back into the line, and runs it from its start. */
  #noteRestart(view: ReadView): void {
    if (this.#running_ms === null) return;
    const isRestarted = view.state === "accepted" || view.restarts > (this.#view?.restarts ?? 0);
    if (!isRestarted || this.#restarts >= RESTARTS) return;
    this.#restarts += 1;
    this.#lying_ms = this.#world.clock.ms();
    this.#running_ms = null;
  }

  /** It answered as a node does. */
  #spoke(): void {
    this.#unusable = "";
    if (this.#silentSince !== null) this.#silence_ms += this.#world.clock.ms() - this.#silentSince;
    this.#silentSince = null;
    this.#toldSilence = null;
    this.#faults = 0;
  }

  /** @param asked_ms when it was asked: a request that was never answered is silence from its beginning on */
  async #heard(answer: NodeAnswer, asked_ms: number): Promise<Step> {
    if (answer.kind === "none") return await this.#unheard(asked_ms, answer.why, "");
    // It will not be smaller the next time.
    if (answer.kind === "unusable") return { kind: "failed", reason: `remote job error: ${answer.why}` };
    if (answer.status === 401 || answer.status === 403) {
      this.#spoke();
      return {
        kind: "failed",
        reason: `${AUTH_REJECTED}: ${this.#world.client.url} does not take the token any more (HTTP ${answer.status})`,
      };
    }
    if (answer.status === 404) {
      this.#spoke();
      return await this.#lost();
    }
    const useless = (why: string) => this.#unheard(asked_ms, why, why);
    if (answer.status !== 200)
      return await useless(`HTTP ${answer.status}${answer.code === "" ? "" : ` ${answer.code}`}`);
    const read = readView(answer.text);
    if (!read.ok) return await useless(read.why);
    if (read.view.job_id !== this.#job.job_id) return await useless("it is about another job");
    this.#seen(read.view);
    return isEnded(read.view) ? this.#end(read.view) : null;
  }

  #tellSilence(silent_ms: number, why: string): void {
    if (silent_ms < TOLD_SILENCE_MS || this.#toldSilence === this.#policy) return;
    this.#toldSilence = this.#policy;
    const elsewhere_ms = this.#policy === "replace" ? this.#world.orphan.grace_sec * 1000 : null;
    const given_up_ms = silent_ms + Math.max(0, this.#untilBoundMs() + this.#moreInSilence());
    this.#options.onProgress({ kind: "silent", silent_ms, why, elsewhere_ms, given_up_ms });
  }

  /** Nothing came, or nothing of use: what stands before a node that is gone may still answer. */
  async #unheard(asked_ms: number, why: string, unusable: string): Promise<Step> {
    this.#silentSince ??= asked_ms;
    this.#unusable = unusable;
    const silent_ms = this.#world.clock.ms() - this.#silentSince;
    if (silent_ms >= this.#world.orphan.grace_sec * 1000 && this.#policy === "replace") return this.#silent(silent_ms);
    this.#tellSilence(silent_ms, why);
    this.#faults += 1;
    const pause_ms = Math.min(PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.#faults - 1));
    await this.#world.sleep(pause_ms, this.#options.signal);
    return null;
  }

  #end(view: ReadView): PlaceOutcome {
    const queued_sec = this.#queued_ms / 1000;
    if (view.state === "canceled") {
      return { kind: "withdrawn", queued_sec, message: "the node gave it up: nobody had asked for it" };
    }
    if (view.state === "error") return { kind: "lost", reason: `remote job error: ${view.error}` };
    const read = view.result === null ? { ok: false as const, why: "there is none" } : readWireResult(view.result);
    if (!read.ok) return { kind: "failed", reason: `remote job error: its result cannot be used: ${read.why}` };
    return { kind: "ran", result: read.result, queued_sec };
  }

  /** The node does not know the job any more: it is handed over again, under its id. */
  async #lost(): Promise<Step> {
    if (this.#resubmits >= RESUBMITS) {
      return { kind: "lost", reason: `remote job error: the node lost the job ${RESUBMITS + 1} times` };
    }
    this.#resubmits += 1;
    this.#running_ms = null;
    const handed = await this.#submit();
    if (handed === null) return null;
    return handed.kind === "refused" ? { ...handed, message: `it lost the job: ${handed.message}` } : handed;
  }

  // Bounds.

  /** Milliseconds until the next bound; negative once it is over. */
  #untilBoundMs(): number {
    const now = this.#world.clock.ms();
    return (this.#running_ms === null ? this.#queueEndMs() : this.#runEndMs(this.#running_ms)) - now;
  }

  #queueEndMs(): number {
    // While a node is down its line stands still.
    const down_ms = Math.min(this.#silence_ms, (this.#wallSec + POLL_GRACE_SEC) * 1000);
    return this.#lying_ms + this.#queueBudget_ms + down_ms;
  }

  #runEndMs(began_ms: number): number {
    const waits_sec = Math.min(this.#view?.waits_sec ?? 0, this.#world.most_wait_sec);
    return began_ms + (this.#wallSec + POLL_GRACE_SEC + waits_sec) * 1000;
  }

  /** A job that lies in the line of a silent node may have begun there. */
  #moreInSilence(): number {
    return this.#silentSince !== null && this.#running_ms === null ? (this.#wallSec + POLL_GRACE_SEC) * 1000 : 0;
  }

  async #bounds(): Promise<Step> {
    const isSilent = this.#silentSince !== null;
    // Silence has a bound of its own; a node that answers again may have begun the job meanwhile.
    if (isSilent && this.#policy === "replace") return null;
    if (this.#untilBoundMs() + this.#moreInSilence() > 0) return null;
    if (this.#running_ms === null && !isSilent) return await this.#leaveQueue();
    const sec = Math.round((this.#world.clock.ms() - (this.#running_ms ?? this.#lying_ms)) / 1000);
    const unheard =
      this.#unusable === "" ? "it answers no more" : `its last answers cannot be used (${this.#unusable})`;
    return {
      kind: "gave_up",
      defer_class: isSilent ? "infrastructure" : "budget",
      reason: `poll deadline after ${sec}s: ${isSilent ? unheard : "it says that it still runs"}`,
      queued_sec: this.#queued_ms / 1000,
    };
  }

  /** The job lay too long and was not begun: it is taken back, or it has begun meanwhile. */
  async #leaveQueue(): Promise<Step> {
    const sec = Math.round((this.#world.clock.ms() - this.#lying_ms) / 1000);
    const answer = await this.#world.client.cancel(this.#job.job_id, false, this.#options.signal);
    const queued_sec = sec;
    if (answer.kind === "answer" && answer.status === 200) {
      return { kind: "withdrawn", queued_sec, message: `not begun within ${sec}s` };
    }
    if (answer.kind === "answer" && answer.status === 409) {
      this.#running_ms = this.#world.clock.ms();
      return null;
    }
    const said = answer.kind === "answer" ? `HTTP ${answer.status} ${answer.code}`.trimEnd() : answer.why;
    const what = "the node accepted the job but never started it; withdraw not confirmed";
    return { kind: "failed", reason: `${QUEUE_DEADLINE} after ${sec}s: ${what}: ${said}` };
  }

  // Taking it back, and silence.

  /** The signal that stopped the call does not touch this request. */
  async #takeBack(): Promise<PlaceOutcome> {
    const answer = await this.#world.client.cancel(this.#job.job_id, true, new AbortController().signal);
    if (answer.kind !== "answer") return { kind: "stopped", state: "running", why: this.#whyLeft(answer.why) };
    if (answer.status === 404) return { kind: "stopped", state: "withdrawn" };
    const read = readView(answer.text);
    if (read.ok && read.view.result !== null && isEnded(read.view)) return this.#end(read.view);
    if (answer.status === 200)
      return { kind: "stopped", state: read.ok && read.view.state === "canceled" ? "withdrawn" : "stopped" };
    return { kind: "stopped", state: "running", why: `HTTP ${answer.status} ${answer.code}`.trimEnd() };
  }

  #whyLeft(why: string): string {
    if (this.#silentSince === null) return why;
    return `it has not answered for ${Math.round((this.#world.clock.ms() - this.#silentSince) / 1000)}s: ${why}`;
  }

  #silent(silent_ms: number): PlaceOutcome {
    return {
      kind: "silent",
      silent_sec: silent_ms / 1000,
      isStill: () => this.#silentSince !== null,
      late: () => this.#awaitLate(),
      outwait: async () => {
        this.#policy = "wait";
        return this.#closed(await this.#follow());
      },
    };
  }

  /** Goes on asking a silent node until the call ends; one that answers and has not begun is told to drop the job. */
  async #awaitLate(): Promise<PlaceOutcome> {
    const { signal } = this.#options;
    let isTold = false;
    while (!signal.aborted) {
      const answer = await this.#world.client.poll(this.#job.job_id, null, 0, signal);
      const read = answer.kind === "answer" && answer.status === 200 ? readView(answer.text) : null;
      if (read?.ok === true && read.view.job_id === this.#job.job_id) {
        if (isEnded(read.view)) return this.#closed(this.#end(read.view));
        if (!isTold) {
          isTold = true;
          const canceled = await this.#world.client.cancel(this.#job.job_id, false, signal);
          if (canceled.kind === "answer" && canceled.status === 200) {
            return this.#closed({
              kind: "withdrawn",
              queued_sec: this.#queued_ms / 1000,
              message: "taken back when it answered again",
            });
          }
        }
      }
      await this.#world.sleep(PAUSE_MS, signal);
    }
    return this.#closed(await this.#takeBack());
  }
}

/** Also where the node has a result that it could not store yet: it will not change. */
function isEnded({ state, result }: ReadView): boolean {
  return isTerminal(state) || (state === "running" && result !== null);
}

/** Whether no node says what became of a job: none answered, or something in its place, or it says that it does not know. */
function isNobodys(answer: NodeAnswer): boolean {
  if (answer.kind !== "answer") return answer.kind === "none";
  return answer.status >= 500 && (answer.code === "" || answer.code === "internal");
}

/** What the acknowledgement says of the wait; null where it does not. */
function waitOf(text: string): number | null {
  const found = /"new_job_wait_sec":(\d+(?:\.\d+)?)/.exec(text.slice(0, 65_536))?.[1];
  return found === undefined ? null : Number(found);
}

/** How long a job may lie at a node, in milliseconds. */
export function queueBudgetMs(wait_sec: number | null, wall_sec: number): number {
  if (wait_sec === null) return QUEUE.without_estimate * 1000;
  const most = wall_sec + QUEUE.grace;
  return Math.min(most, Math.max(QUEUE.least, QUEUE.factor * wait_sec + QUEUE.more)) * 1000;
}
