/**
 * Whether a correction of stored project context may be applied without the orchestrator.
 *
 * Every guard is one rule of `GUARDS`, a question to the same facts; all are asked, and one that fails is enough. A
 * guard that cannot be answered fails. Applying is the caller's: `mergeContext` in the transaction of the close.
 */
import { splitPath } from "../contract/path.ts";
import type { UpdateEntry } from "../contract/updates.ts";
import { compactJson, isArray, isObject, type JsonObject, type JsonValue, sameJson, valueAt } from "../json/value.ts";
import { KEPT_CODE_POINTS } from "../record/capture.ts";
import { REDACTED } from "../record/redact.ts";
import type { RecordedRun } from "../record/tool-record.ts";
import { splitWords } from "../record/words.ts";
import { isDateTime } from "./date-time.ts";
import { isWhatName } from "./name.ts";
import { plainForm } from "./plain-form.ts";
import { isAllowlisted, isSingleCommand, isTierZero, LONGEST_COMMAND, targetsOf } from "./read-only-command.ts";
import { holdsToken } from "./token.ts";

/** A run of the harness's own record; a row of `tool_records` with a command is one. */
export type DriftRun = Pick<RecordedRun, "command" | "exit_code" | "failed" | "output" | "tail" | "truncated"> & {
  /** RFC 3339, UTC. */
  readonly ended_at?: string | null;
};

export type DriftInput = {
  readonly entry: Pick<UpdateEntry, "contract" | "payload" | "drift">;
  /** Sections of the target workspace by name; only the entry's own is read. */
  readonly stored: JsonObject;
  /** The goal of the dispatch. */
  readonly goal: string | null;
  /** The project that the dispatch resolved. */
  readonly project: string | null;
  /** The turn's own record, oldest first, never what the envelope says ran; null when none is bound. */
  readonly record: readonly DriftRun[] | null;
};

/** What an applied correction rests on. */
export type DriftEvidence = {
  readonly command: string;
  readonly exit_code: number | null;
  /** When the run ended; null when that is not known. */
  readonly ran_at: string | null;
  /** The first 500 code points of the output. */
  readonly output: string | null;
};

export type DriftDecision = {
  readonly applies: boolean;
  /** Every guard that fails, in the order of `GUARD_NAMES`; empty exactly when the correction applies. */
  readonly failed: readonly GuardName[];
  /** The last run of the command; null when the record holds none. */
  readonly evidence: DriftEvidence | null;
  /** The path without its empty segments, as notices name it; null when it is unusable. */
  readonly key_path: string | null;
};

/** What the guards ask: the input, read once. */
export type DriftFacts = {
  readonly contract: string;
  readonly payload: JsonObject;
  /** The stored section; undefined when there is none of that name. */
  readonly section: JsonValue | undefined;
  readonly goal: string;
  readonly project: string;
  /** Null when it is no object. */
  readonly drift: JsonObject | null;
  /** Segments of `key_path`; empty when it is unusable. */
  readonly path: readonly string[];
  /** Null when it is no text or blank. */
  readonly command: string | null;
  /** The last run of exactly this command. */
  readonly run: DriftRun | null;
  /** Every distinct value of the payload that is no object; a list is one value. */
  readonly leaves: readonly JsonValue[];
};

/** Reads the input for the guards. */
export function factsOf({ entry, stored, goal, project, record }: DriftInput): DriftFacts {
  const drift = isObject(entry.drift) ? entry.drift : null;
  const keyPath = drift === null ? undefined : valueAt(drift, "key_path");
  const path = typeof keyPath === "string" && keyPath.trim() !== "" ? splitPath(keyPath) : [];
  const given = drift === null ? undefined : valueAt(drift, "command");
  const command = typeof given === "string" && given.trim() !== "" ? given : null;
  return {
    contract: entry.contract,
    payload: entry.payload,
    section: valueAt(stored, entry.contract),
    goal: goal ?? "",
    project: project ?? "",
    drift,
    path,
    command,
    run: command === null ? null : ((record ?? []).findLast((run) => run.command === command) ?? null),
    leaves: [...leavesOf(entry.payload)],
  };
}

/**
 * The rules, in the order of the specification. Each holds or fails by itself.
 *
 * Source: spec/contract.md 13.7
 */
export const GUARDS = {
  /** The correction says where, what, by which command and when it was seen. */
  drift_shape: ({ drift, path, command }) => {
    const observed = drift === null ? undefined : valueAt(drift, "observed_at");
    return (
      drift !== null &&
      path.length > 0 &&
      command !== null &&
      typeof observed === "string" &&
      isDateTime(observed) &&
      Object.hasOwn(drift, "new")
    );
  },
  /** The payload is `new` at `key_path` and nothing else, so that no second change rides along. */
  payload_matches: ({ payload, drift, path }) => {
    const wanted = drift === null ? undefined : valueAt(drift, "new");
    if (wanted === undefined || path.length === 0) return false;
    const placed = onlyValueAt(payload, path);
    // An empty object has no leaf that could be judged, and a payload without any leaf holds one.
    return placed !== undefined && !holdsEmptyObject(payload) && sameJson(placed, wanted);
  },
  project_resolved: ({ project }) => project.trim() !== "",
  section_exact: ({ section }) => section !== undefined,
  how_section: ({ contract }) => !isWhatName(contract) && contract.trim().toLowerCase() !== "targets",
  how_keys: ({ payload, section }) => everyKeyIsHow(payload) && replacedKeysAreHow(payload, section),
  nothing_lost: ({ payload, section }) => section === undefined || onlyAdds(payload, section),
  run_recorded: ({ run }) => run !== null && endedInZero(run),
  value_shown: ({ run, leaves }) => {
    if (run === null || !endedInZero(run)) return false;
    const head = headOf(run);
    return leaves.every((leaf) => typeof leaf === "string" && holdsToken(head.text, leaf, head.behind));
  },
  value_long: ({ leaves }) => texts(leaves).every((text) => [...text.trim().slice(0, 8)].length >= 4),
  value_not_numeric: ({ leaves }) => leaves.every((leaf) => typeof leaf === "string" && !isNumeric(leaf)),
  value_clean: ({ leaves }) =>
    texts(leaves).every((text) => !text.includes(REDACTED) && !text.includes("...[truncated]")),
  /** Else an echo of the command could put the value into its output. */
  value_not_in_command: ({ command, leaves }) => {
    if (command === null || leaves.length === 0) return true;
    // A longer one is not searched: it is not allowed anyway.
    if (command.length > LONGEST_COMMAND) return false;
    const forms = [command, ...(splitWords(command) ?? [])];
    return texts(leaves).every((text) => !forms.some((form) => form.includes(text)));
  },
  single_command: ({ command }) => command !== null && isSingleCommand(command),
  tier_t0: ({ command }) => command !== null && isTierZero(command),
  allowlisted: ({ command }) => command !== null && isAllowlisted(command),
  target_single: ({ command }) => command !== null && targetsOf(command) !== null,
  target_in_goal: ({ command, goal }) => {
    const targets = command === null ? null : targetsOf(command);
    return targets?.every((target) => holdsToken(goal, target)) ?? false;
  },
} as const satisfies Record<string, (facts: DriftFacts) => boolean>;

export type GuardName = keyof typeof GUARDS;

/** In the order of the specification. */
export const GUARD_NAMES = Object.keys(GUARDS) as readonly GuardName[];

/** Stored beside the guards when all held and applying failed. */
export const APPLY_FAILED = "apply_failed";

/**
 * Asks every guard of an entry that carries a drift.
 *
 * Errors: none, whatever the JSON values are
 * Source: spec/contract.md 13.7
 */
export function evaluateDrift(input: DriftInput): DriftDecision {
  const facts = factsOf(input);
  const failed = GUARD_NAMES.filter((name) => !GUARDS[name](facts));
  return {
    applies: failed.length === 0,
    failed,
    evidence: facts.run === null ? null : evidenceOf(facts.run),
    key_path: facts.path.length === 0 ? null : facts.path.join("."),
  };
}

/** The decision note of an applied correction: its evidence as compact JSON. */
export function decisionNote({ command, exit_code, ran_at, output }: DriftEvidence): string {
  return compactJson({ command, exit_code, ran_at, output });
}

function evidenceOf(run: DriftRun): DriftEvidence {
  const output = run.output === null ? null : headOf(run).text;
  return { command: run.command, exit_code: run.exit_code, ran_at: run.ended_at ?? null, output };
}

function leavesOf(payload: JsonObject): ReadonlySet<JsonValue> {
  const leaves = new Set<JsonValue>();
  const collect = (value: JsonValue): void => {
    if (isObject(value)) for (const inner of Object.values(value)) collect(inner);
    else leaves.add(value);
  };
  collect(payload);
  return leaves;
}

function texts(leaves: readonly JsonValue[]): readonly string[] {
  return leaves.filter((leaf) => typeof leaf === "string");
}

/** What stands at the path when each object on the way holds one key, the next of the path; else undefined. */
function onlyValueAt(payload: JsonObject, path: readonly string[]): JsonValue | undefined {
  let value: JsonValue = payload;
  for (const segment of path) {
    if (!isObject(value) || Object.keys(value).length !== 1) return undefined;
    const next = valueAt(value, segment);
    if (next === undefined) return undefined;
    value = next;
  }
  return value;
}

function holdsEmptyObject(value: JsonObject): boolean {
  const inner = Object.values(value);
  return inner.length === 0 || inner.some((one) => isObject(one) && holdsEmptyObject(one));
}

function everyKeyIsHow(value: JsonValue): boolean {
  if (isArray(value)) return value.every(everyKeyIsHow);
  return !isObject(value) || Object.entries(value).every(([key, inner]) => !isWhatName(key) && everyKeyIsHow(inner));
}

/** Of every stored subtree that a null, a list or a scalar of the payload would replace. */
function replacedKeysAreHow(payload: JsonObject, stored: JsonValue | undefined): boolean {
  if (!isObject(stored)) return true;
  return Object.entries(payload).every(([key, value]) => {
    const old = valueAt(stored, key);
    if (old === undefined) return true;
    return isObject(value) ? replacedKeysAreHow(value, old) : everyKeyIsHow(old);
  });
}

/** Whether each leaf lands on an absent path or on an equal value; a stored null is a value. */
function onlyAdds(payload: JsonObject, stored: JsonValue): boolean {
  if (!isObject(stored)) return false;
  return Object.entries(payload).every(([key, value]) => {
    const old = valueAt(stored, key);
    if (old === undefined) return true;
    return isObject(value) ? onlyAdds(value, old) : sameJson(value, old);
  });
}

function endedInZero(run: DriftRun): boolean {
  return run.exit_code === 0 && run.failed !== true;
}

/** The first 500 code points of an output, and what is known to follow them; null when that was not kept. */
function headOf(run: DriftRun): { readonly text: string; readonly behind: string | null } {
  const output = run.output ?? "";
  // 500 code points have at most twice as many code units.
  const text = [...output.slice(0, 2 * KEPT_CODE_POINTS)].slice(0, KEPT_CODE_POINTS).join("");
  if (text.length < output.length) return { text, behind: output.slice(text.length) };
  return { text, behind: run.truncated ? null : (run.tail ?? "") };
}

const DECIMAL = /^[+\u2212-]?(?:\p{Nd}+(?:\.\p{Nd}*)?|\.\p{Nd}+)(?:e[+\u2212-]?\p{Nd}+)?$/iu;
const HEXADECIMAL = /^[+\u2212-]?0x[0-9a-f]+$/i;

function isNumeric(text: string): boolean {
  const plain = plainForm(text).trim();
  return DECIMAL.test(plain) || HEXADECIMAL.test(plain);
}
