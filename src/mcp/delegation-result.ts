/**
 * `delegation_result`: what became of a delegation. Waits for one that goes on, and brings what was too long for one answer
 * in pages.
 *
 * Source: delegation run, section 9
 */
import { openRecords, recordOf } from "../cli/runs/open.ts";
import { legOpen, legsWithResult, openLegOf } from "../cli/runs/open-leg.ts";
import { pageText } from "../core/delegation/page-text.ts";
import { type LegText, type RunEntry, readRunEntry } from "../core/delegation/run-entry.ts";
import { WritError } from "../core/error.ts";
import type { JsonObject } from "../core/json/value.ts";
import { nearest } from "../core/near-miss.ts";
import type { DelegateClock } from "../delegate/world.ts";
import { isAlive } from "../host/process-identity.ts";
import { badInput, type Parameters, readArguments, schemaOf } from "./arguments.ts";
import { type Delegation, delegationOf } from "./delegation.ts";
import { answerOfDocument, answerOfEnded, answerOfLive, isWorthReading, runningAnswer } from "./run-answer.ts";
import { answered, type Tool, type ToolAnswer, type ToolCall } from "./tool.ts";

/** The longest that one call waits, in seconds: most clients give a call up after 60. */
const MOST_WAIT_SEC = 50;

/** One page of a field, in bytes. */
export const PAGE_BYTES = 100_000;

/** How often the record of a call of another process is looked at, in milliseconds. */
const LOOK_MS = 1000;

const PARAMETERS = {
  run_id: {
    kind: "text",
    required: true,
    description: "Of the handle, or of a past delegation; its beginning will do",
  },
  wait_sec: {
    kind: "number",
    least: 0,
    most: MOST_WAIT_SEC,
    description: "Wait so long for one that goes on (default 50)",
  },
  index: { kind: "number", least: 0, most: 63, description: "Only this leg, from 0" },
  field: { kind: "text", description: "Only this member of the leg, in pages: output, diff, structured, or any other" },
  offset: { kind: "number", least: 0, description: "Where the page begins, in bytes: next_offset of the page before" },
} as const satisfies Parameters;

export const tool: Tool = {
  name: "delegation_result",
  description:
    "Wait for a delegation that agent_delegate answered with a run_id: its result document, or again that it runs. Also reads any past delegation; with index one leg, with index and field one field of it in pages, for what an answer left out (output_ref, diff_ref).",
  inputSchema: schemaOf(PARAMETERS),
  reads: true,
  async run(call) {
    const { run_id, wait_sec, index, field, offset = 0 } = readArguments(PARAMETERS, call.arguments);
    const found = await findRun(call, run_id, wait_sec ?? usualWait(delegationOf(call)));
    if (found.kind === "answer") return found.answer;
    const { entry, isOver } = found;
    if (field !== undefined) return pageOf(entry, legOf(entry, index), field, offset);
    const ok = isWorthReading(entry.summary);
    if (index !== undefined) return answerOfDocument(legOf(entry, index).text, entry.run_id, true);
    return answerOfDocument(isOver ? entry.document : leftBehind(entry.document), entry.run_id, ok);
  },
};

/** As long as a call is held that says nothing else, where clients can stand that. */
function usualWait({ config }: Delegation): number {
  const { mcp_wait_sec } = config.limits;
  return mcp_wait_sec === 0 ? MOST_WAIT_SEC : Math.min(mcp_wait_sec, MOST_WAIT_SEC);
}

type Found =
  | { readonly kind: "answer"; readonly answer: ToolAnswer }
  /** `isOver` false: the process that carried it out is gone, and left what it had. */
  | { readonly kind: "entry"; readonly entry: RunEntry; readonly isOver: boolean };

async function findRun(call: ToolCall, typed: string, wait_sec: number): Promise<Found> {
  const { calls, world } = delegationOf(call);
  const running = calls.find(typed);
  const { clock } = await world();
  if (running !== null) {
    const over = new AbortController();
    const signal = AbortSignal.any([over.signal, call.signal]);
    const ended = await Promise.race([running.ended, clock.sleep(wait_sec * 1000, signal).then(() => null)]);
    over.abort();
    if (ended === null) return { kind: "answer", answer: answerOfLive(running) };
  }
  const kept = calls.recall(typed);
  if (kept?.kind === "defect") return { kind: "answer", answer: answerOfEnded(kept) };
  // What was published: the record on disk is masked.
  const entry = kept === null ? null : readRunEntry(kept.text);
  if (entry !== null) return { kind: "entry", entry, isOver: true };
  return await findRecord(typed, wait_sec, clock, call.signal);
}

/** A record on disk, waited for where another process still writes it. Errors: `no_run` */
async function findRecord(typed: string, wait_sec: number, clock: DelegateClock, signal: AbortSignal): Promise<Found> {
  const until = clock.ms() + wait_sec * 1000;
  for (;;) {
    const entry = recordOf(openRecords(), typed);
    if (entry.ended) return { kind: "entry", entry, isOver: true };
    if (!isAlive(entry.pid)) return { kind: "entry", entry, isOver: false };
    const left = until - clock.ms();
    if (left <= 0 || signal.aborted) {
      const { run_id, legs, results, summary } = entry;
      return { kind: "answer", answer: runningAnswer(run_id, { legs, done: results.length }, summary) };
    }
    await clock.sleep(Math.min(LOOK_MS, left), signal);
  }
}

/** The document of a process that is gone says so behind everything else. */
function leftBehind(document: string): string {
  return `${document.slice(0, -1)},"ended":false}`;
}

/** Errors: `no_leg`, `leg_open` */
function legOf(entry: RunEntry, index: number | undefined): LegText {
  const { run_id, legs, results } = entry;
  const open = openLegOf(entry, index ?? null);
  if (open !== null) throw legOpen(entry, open, "/index");
  const [only] = results;
  if (index === undefined && results.length === 1 && legs === 1 && only !== undefined) return only;
  const found = results.find((leg) => leg.index === index);
  if (found !== undefined) return found;
  const what = index === undefined ? `has ${legs} legs: name one` : `has no leg ${index}`;
  throw new WritError("no_leg", `${run_id} ${what}`, { path: "/index", hint: legsWithResult(entry) });
}

/** One page of a field: a text as it is, anything else as it is written. Errors: `bad_input` */
function pageOf({ run_id }: RunEntry, { index, fields }: LegText, name: string, offset: number): ToolAnswer {
  const field = fields.get(name);
  if (field === undefined) {
    const near = nearest(name, fields.keys());
    const message = `Leg ${index} has no field "${name.slice(0, 80)}"`;
    const hint = near !== null ? `Did you mean "${near}"?` : `It has ${[...fields.keys()].join(", ")}`;
    throw badInput([{ code: "bad_argument", path: "/field", message, hint }]);
  }
  const page: JsonObject = { ...pageText(field.value, offset, PAGE_BYTES) };
  return answered({ ok: true, status: "ok", run_id, index, field: name, ...page }, false);
}
