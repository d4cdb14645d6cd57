/**
 * Keeping what happened: captures are redacted, cut, hashed, and appended to their contract's chain.
 *
 * All that waits (reading an output) is done before the transaction; `seq` and the digests are made inside it, so
 * that parallel recorders neither collide nor fork the chain.
 */
import type { Tables } from "../core/contract/repository.ts";
import { isClosed } from "../core/contract/state.ts";
import { OutputKeeper } from "../core/record/capture.ts";
import { GENESIS, recordText } from "../core/record/digest.ts";
import { type Completion, type HookCapture, type HookEvent, toCapture } from "../core/record/hook.ts";
import { redact } from "../core/record/redact.ts";
import type { Capture, ToolRecord } from "../core/record/tool-record.ts";
import { type Place, placeOfContract, placeOfHook } from "./place.ts";
import type { World } from "./world.ts";

export type Kept =
  | {
      readonly contract_id: string;
      readonly records: readonly ToolRecord[];
      /** The turn was closed already: the record stands behind what its close saw. */
      readonly after_close: boolean;
      /** False before the turn has a row, or where the id is nobody's. */
      readonly has_row: boolean;
    }
  | { readonly contract_id: null; readonly why: string };

/** An output on its way into the record. */
export type Keeping = { push(text: string): void; finish(): NonNullable<Completion["output"]> };

/** Begins to keep one output: redacted window by window, cut to its two ends, hashed whole. */
export function keepOutputOf(world: Pick<World, "values" | "hasher">): Keeping {
  const hasher = world.hasher();
  const keeper = new OutputKeeper(
    (window) => redact(window, "output", world.values),
    (text) => hasher.update(text),
  );
  return { push: (text) => keeper.push(text), finish: () => ({ ...keeper.finish(), output_sha256: hasher.hex() }) };
}

/** Keeps one run of `writ run`. Errors: `store_busy`, `store_failed`. */
export function keepRun(world: World, named: string | null, capture: Capture): Kept {
  const contractId = named ?? world.contractId;
  if (contractId === null) return { contract_id: null, why: "no contract was named" };
  return world.store.write((tables) => append(world, tables, placeOfContract(tables, contractId), [capture]));
}

export type HookRequest = {
  /** `--contract-id`. */
  readonly contract_id: string | null;
  readonly event: Extract<HookEvent, { kind: "captures" | "start" }>;
  /** Streams the text of a regular file into the sink; false when it cannot be read. */
  readonly streamFile: (path: string, sink: (text: string) => void) => boolean;
};

/** Keeps what a harness's hook reported, or binds the turn it says has started. Errors: as `keepRun`. */
export function keepHook(world: World, request: HookRequest): Kept {
  const { event } = request;
  const captures =
    event.kind === "captures" ? event.captures.map((hook) => complete(world, hook, request.streamFile)) : [];
  return world.store.write((tables) => {
    const place = placeOfHook(tables, {
      named: request.contract_id,
      environment: world.contractId,
      origin: event,
      mayClaim: true,
    });
    if (place.contract_id === null) return place;
    if (event.kind === "start" && event.agent_id !== null && place.row !== null) {
      tables.handoffs.stampHarness(place.row.id, event.agent_id);
    }
    if (event.kind === "start") tables.records.bind(place.contract_id, "hook", world.clock.now());
    return append(world, tables, place, captures);
  });
}

/** The event's output, from the file that the harness put it in where that can be read. */
function complete(world: World, hook: HookCapture, streamFile: HookRequest["streamFile"]): Capture {
  const now = world.clock.ms();
  const times = { ended_at: world.clock.now(), started_at: startOf(now, hook.durationMs) };
  const redactCommand = (text: string) => redact(text, "command", world.values);
  if (hook.persisted !== null) {
    const fromFile = keepOutputOf(world);
    if (streamFile(hook.persisted, fromFile.push)) {
      return toCapture(hook, { ...times, redactCommand, output: fromFile.finish(), readFrom: "file" });
    }
  }
  if (hook.outputText === null) return toCapture(hook, { ...times, redactCommand, output: null, readFrom: "payload" });
  const fromPayload = keepOutputOf(world);
  fromPayload.push(hook.outputText);
  return toCapture(hook, { ...times, redactCommand, output: fromPayload.finish(), readFrom: "payload" });
}

function startOf(now: number, durationMs: number | null): string | null {
  return durationMs === null ? null : `${new Date(now - durationMs).toISOString().slice(0, 19)}Z`;
}

/** A `tool_use_id` that the contract has already is left out: the same event twice is one record. */
function append(world: World, tables: Tables, place: Place, captures: readonly Capture[]): Kept {
  if (place.contract_id === null) return place;
  const { contract_id } = place;
  const records: ToolRecord[] = [];
  let last = tables.records.newest(contract_id);
  for (const capture of captures) {
    if (capture.tool_use_id !== null && tables.records.hasToolUse(contract_id, capture.tool_use_id)) continue;
    const open = { ...capture, contract_id, seq: (last?.seq ?? 0) + 1, prev_digest: last?.digest ?? GENESIS };
    const record: ToolRecord = { ...open, digest: world.sha256(recordText(open)) };
    tables.records.insert(record);
    records.push(record);
    last = record;
  }
  const [first] = captures;
  if (first !== undefined) tables.records.bind(contract_id, first.source, world.clock.now());
  return {
    contract_id,
    records,
    after_close: place.row !== null && isClosed(place.row.agent_state),
    has_row: place.row !== null,
  };
}
