/** `validate`: the verdict on a draft as it stands, and on its close. Writes nothing, repairs nothing, adopts nothing. */

import { validationError } from "../core/contract/rejection.ts";
import type { HandoffRow, Tables } from "../core/contract/repository.ts";
import type { UpdateRefusal } from "../core/contract/updates.ts";
import { validate } from "../core/contract/validate.ts";
import { isObject, type JsonObject, valueAt } from "../core/json/value.ts";
import type { Issue } from "../core/result.ts";
import {
  type CheckedClaims,
  type CheckWorld,
  examineClose,
  type Incomplete,
  liveOf,
  NO_CLAIMS,
  type StaleFiles,
  staleAround,
} from "./finalize.ts";
import { loadDraft, parseDraftValue } from "./load.ts";
import { type Address, noDraftFor, resolveTarget } from "./target.ts";
import { shapeRefusals } from "./updates.ts";
import type { ReadingWorld } from "./world.ts";
import { checkEnvelope } from "./write.ts";

export type Validated = {
  readonly draft_id: string;
  readonly cross_check: "done" | "skipped";
  readonly would: "finalize" | "checkpoint" | null;
  readonly advice: readonly Issue[];
  readonly claims: CheckedClaims;
  /** As that of a `Closing`. */
  readonly incomplete: Incomplete | null;
  /** What a close would refuse of `update_contracts`, without being refused itself. */
  readonly refused: readonly UpdateRefusal[];
};

/** Errors: `no_draft`, `draft_unreadable`, `validation`. */
export function validateDraft(world: ReadingWorld, address: Address): Validated {
  const { draft_id } = resolveTarget(world, address);
  const file = world.drafts.read(draft_id);
  if (file === null) throw noDraftFor(draft_id);
  const value = parseDraftValue(draft_id, file);
  if (!isObject(value)) throw validationError(validate(value), `draft ${draft_id} is not valid.`);
  const { store } = world;
  const issues =
    store === null
      ? checkEnvelope(value, null)
      : store.read((tables) => checkEnvelope(current(world, tables, draft_id), tables));
  if (issues.length > 0) throw validationError(issues, `draft ${draft_id} is not valid.`);
  return {
    draft_id,
    cross_check: store === null ? "skipped" : "done",
    would: null,
    advice: [],
    claims: NO_CLAIMS,
    incomplete: null,
    refused: [],
  };
}

/**
 * Every refusal of `finalize` on the live link, read-only; the first one is thrown.
 *
 * Errors: those of `validateDraft` and of `finalizeContract`.
 */
export function validateClose(world: CheckWorld, address: Address, strict: boolean): Validated {
  const target = resolveTarget(world, address);
  const stale = staleAround(world, target);
  return world.store.read((tables) => validateLink(world, tables, liveOf(tables, target.draft_id), { strict, stale }));
}

/** The same for a link that was found already, inside a transaction. Touches nothing. Errors: as `validateClose`. */
export function validateLink(
  world: CheckWorld,
  tables: Tables,
  { draft_id, row }: { readonly draft_id: string; readonly row: HandoffRow | null },
  { strict, stale }: { readonly strict: boolean; readonly stale: StaleFiles },
): Validated {
  if (world.drafts.read(draft_id) === null) throw noDraftFor(draft_id);
  const envelope = current(world, tables, draft_id, row);
  const issues = checkEnvelope(envelope, tables);
  if (issues.length > 0) throw validationError(issues, `draft ${draft_id} is not valid.`);
  const verdict = examineClose(world, tables, { draft_id, row, envelope, plan_task_id: null, strict, stale });
  return {
    draft_id,
    cross_check: "done",
    would: verdict.outcome === "close" ? "finalize" : "checkpoint",
    advice: verdict.advice,
    claims: verdict.claims,
    incomplete: verdict.incomplete,
    refused: shapeRefusals(valueAt(envelope, "update_contracts")),
  };
}

function current(
  world: Pick<ReadingWorld, "drafts">,
  tables: Tables,
  draft_id: string,
  row: HandoffRow | null = null,
): JsonObject {
  return loadDraft(world, tables, { draft_id, named: false, row }).envelope;
}
