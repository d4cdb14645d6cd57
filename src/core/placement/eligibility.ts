/**
 * Whether a leg may go to a seat of a place now, and if not, the one word for why.
 *
 * The words are tried in a fixed order and the first that holds is told. Those up to `slow` say what a place can do at
 * all; those from `probing` on say how it is just now: a leg that only they keep away may wait.
 *
 * Source: delegation run, section 4.4
 */
import type { DelegationContract } from "../delegation/contract.ts";
import { reserveTokens } from "./estimate.ts";
import type { PlaceRecord, PlaceView, SeatRecord } from "./place.ts";

export const ABILITY_WORDS = [
  "probe",
  "skew",
  "quarantine",
  "noschema",
  "hop",
  "write",
  "unfit(seat)",
  "unfit(ctx)",
  "slow",
] as const;
export const MOMENT_WORDS = ["probing", "queue", "backlog", "cooldown", "cap"] as const;

export type AbilityWord = (typeof ABILITY_WORDS)[number];
export type MomentWord = (typeof MOMENT_WORDS)[number];

/** Why not: `detail` is one line, or "". */
export type Miss = { readonly word: AbilityWord | MomentWord; readonly detail: string };

/** A leg as placement sees it. */
export type Asker = {
  readonly contract: DelegationContract;
  /** `estimateTokens` of the contract. */
  readonly estimate: number;
  /** The seat that was asked for; "": any. */
  readonly seat: string;
};

/** What this call knows of a place beyond what the place says. */
export type Standing = {
  /** Legs of this call that are bound for the place and that its record does not count yet. */
  readonly committed: number;
  /** The same for one seat of it. */
  readonly committedTo: (seat: string) => number;
  readonly quarantined: boolean;
  /** When the place turned a leg of this call away, and until when it is left alone; null: it did not. */
  readonly cooldown: Cooldown | null;
  readonly now_ms: number;
  /** How long the leg would wait at a place before it is run, in seconds. */
  readonly patience_sec: number;
};

export type Cooldown = {
  readonly since_ms: number;
  readonly until_ms: number;
  /** It has said before that it has room, and turned the leg away all the same. */
  readonly isStubborn: boolean;
};

export const PROTOCOL = 1;
export const SCHEMA_VERSION = 1;

/** A step's call, and an answer as short as any. */
const LEAST_DECODED = 256 + 64;
/** Reading is about so many times as fast as writing. */
const PREFILL_SPEEDUP = 8;

/** True for the words that say how a place is just now. */
export function isMoment(miss: Miss): boolean {
  return (MOMENT_WORDS as readonly string[]).includes(miss.word);
}

/** Where a word stands in the order: the later, the nearer the seat is to taking the leg. */
export function orderOf({ word }: Miss): number {
  return [...ABILITY_WORDS, ...MOMENT_WORDS].indexOf(word);
}

/**
 * The first word that keeps the leg away.
 *
 * @param seat null: the place has no seat at all
 * @returns    null: the leg may go there now
 * Errors:     none
 */
export function missOf(asker: Asker, place: PlaceView, seat: SeatRecord | null, standing: Standing): Miss | null {
  return abilityMiss(asker, place, seat, standing) ?? momentMiss(place, seat, standing);
}

function abilityMiss(asker: Asker, place: PlaceView, seat: SeatRecord | null, standing: Standing): Miss | null {
  const { contract } = asker;
  const isRemote = place.kind === "remote";
  if (!place.probe.ok) return miss("probe", place.probe.why);
  const { record } = place.probe;
  if (seat?.served === false) return miss("probe", `model "${seat.model}" is not served`);
  if (isRemote && record.protocol !== PROTOCOL) {
    return miss("skew", `protocol ${record.protocol}, ours is ${PROTOCOL}`);
  }
  if (isRemote && !record.schema_versions.includes(SCHEMA_VERSION)) {
    return miss("skew", `schema versions ${record.schema_versions.join(", ") || "none"}, ours is ${SCHEMA_VERSION}`);
  }
  if (isRemote && standing.quarantined) return miss("quarantine", "answered about other documents");
  if (isRemote && contract.output_schema === null) return miss("noschema", "the contract has no output_schema");
  if (isRemote && contract.depth !== 0) return miss("hop", `depth ${contract.depth}`);
  if (contract.write_root !== "" && !record.accepts_write) {
    return miss("write", `agent_allow_write is false ${isRemote ? "there" : "here"}`);
  }
  if (seat === null) return miss("unfit(seat)", "it has no seat");
  if (asker.seat !== "" && seat.name !== asker.seat) return miss("unfit(seat)", `no seat "${asker.seat}"`);
  return windowMiss(asker, seat, isRemote) ?? speedMiss(asker, seat);
}

function windowMiss({ estimate }: Asker, { ctx_tokens }: SeatRecord, isRemote: boolean): Miss | null {
  // What is not known is no capacity; a seat of this machine is asked by the run itself.
  if (ctx_tokens === 0) return isRemote ? miss("unfit(ctx)", "window not known") : null;
  const needed = estimate + reserveTokens(ctx_tokens);
  return needed > ctx_tokens ? miss("unfit(ctx)", `needs about ${needed} of ${ctx_tokens} tokens`) : null;
}

function speedMiss({ estimate, contract }: Asker, { tok_s }: SeatRecord): Miss | null {
  if (tok_s === null || tok_s <= 0) return null;
  const least = LEAST_DECODED / tok_s + estimate / (PREFILL_SPEEDUP * tok_s);
  if (least <= contract.timeout_sec) return null;
  return miss("slow", `about ${Math.ceil(least)} s at ${rounded(tok_s)} tok/s, wall ${contract.timeout_sec} s`);
}

function momentMiss(place: PlaceView, seat: SeatRecord | null, standing: Standing): Miss | null {
  if (!place.probe.ok || seat === null) return null;
  const { record } = place.probe;
  const isRemote = place.kind === "remote";
  if (isRemote && seat.served === null) return miss("probing", "its first look at the seat has not ended");
  if (isRemote && record.draining) return miss("queue", "draining");
  const held = record.queued + record.running;
  if (isRemote && record.max_queue > 0 && held >= record.max_queue) return miss("queue", `${held}/${record.max_queue}`);
  const wait = record.new_job_wait_sec;
  if (isRemote && wait !== null && wait > standing.patience_sec) {
    const patience = Math.max(0, Math.floor(standing.patience_sec));
    return miss("backlog", `a new job waits about ${Math.ceil(wait)} s, patience ${patience} s`);
  }
  const cooling = coolingMs(place, record, standing);
  if (cooling > 0) return miss("cooldown", `${Math.ceil(cooling / 1000)} s left`);
  return roomMiss(place, record, seat, standing);
}

/** A reading from after the refusal that shows a free worker ends the cooldown, of a place that means what it shows. */
function coolingMs(place: PlaceView, record: PlaceRecord, { cooldown, now_ms }: Standing): number {
  if (cooldown === null) return 0;
  const isLifted =
    !cooldown.isStubborn && place.taken_ms > cooldown.since_ms && hasRoom(record, 0) && record.queued === 0;
  return isLifted ? 0 : cooldown.until_ms - now_ms;
}

function roomMiss(place: PlaceView, record: PlaceRecord, seat: SeatRecord, standing: Standing): Miss | null {
  if (place.kind === "local") {
    const taken = seat.busy + standing.committedTo(seat.name);
    return taken >= seat.slots ? miss("cap", `${Math.min(taken, seat.slots)}/${seat.slots} slots`) : null;
  }
  if (hasRoom(record, standing.committed)) return null;
  return miss("cap", `${Math.min(record.running + standing.committed, record.max_running)}/${record.max_running} jobs`);
}

/** Whether one more job would run at once, beside those that are already bound for the place. */
export function hasRoom({ max_running, running }: PlaceRecord, committed: number): boolean {
  return max_running < 0 || max_running - running - committed > 0;
}

function miss(word: Miss["word"], detail: string): Miss {
  return { word, detail };
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
