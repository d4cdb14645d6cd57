/** The two options that say which draft a verb works on, and the text of an answer that every write gives. */

import type { Mutation } from "../../core/contract/mutate.ts";
import { writeNotes } from "../../core/contract/write-notes.ts";
import { WritError } from "../../core/error.ts";
import type { JsonObject } from "../../core/json/value.ts";
import type { Address } from "../../editor/target.ts";
import type { Written } from "../../editor/write.ts";
import type { Output } from "../command.ts";

export const ADDRESS = {
  "draft-id": { type: "string", alias: "contract-id", valueHint: "ID", description: "The draft to work on" },
  "agent-id": { type: "string", valueHint: "ID", description: "The agent whose draft to work on" },
} as const;

export const JSON_SWITCH = { json: { type: "boolean", description: "Print one JSON document" } } as const;

/** What to read about how a draft is found, for the help of each verb. */
export const ADDRESS_NOTE =
  "Without --draft-id and --agent-id the draft is WRIT_CONTRACT_ID's, else the only agent's newest live one.";

/** What becomes of a write to a closed contract, for the help of each verb that follows a chain. */
export const FOLLOWS_NOTE =
  "A closed contract that is continued stands for its live link: that is the one that is written.";

/** The same for the verbs that do not follow. */
export const VERY_NOTE =
  "It works on the very contract named; of one that is closed and continued it says which link is live.";

export function addressOf(args: {
  readonly "draft-id": string | undefined;
  readonly "agent-id": string | undefined;
}): Address {
  return { draft_id: args["draft-id"] ?? null, agent_id: args["agent-id"] ?? null };
}

/** A change id as it is typed. Errors: `usage`. */
export function changeIdOf(text: string | undefined, option: string): number | null {
  return wholeNumber(text, option, 1);
}

/** A whole number from an option; null when it was not given. Errors: `usage`. */
export function wholeNumber(text: string | undefined, option: string, least: number): number | null {
  if (text === undefined) return null;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : -1;
  if (value >= least) return value;
  throw new WritError("usage", `${option} takes a whole number from ${least}, not "${text}"`, {
    hint: `For example: ${option} ${Math.max(least, 1)}`,
  });
}

/** What a write answers with, in its JSON form. Absent keys had nothing to say. */
export function writtenDocument(written: Written): JsonObject & { ok: boolean } {
  return {
    ok: true,
    status: "ok",
    draft_id: written.draft_id,
    mirrored: written.mirrored,
    ...(written.mirror_skipped_reason === null ? {} : { mirror_skipped_reason: written.mirror_skipped_reason }),
    ...(written.change_id === null ? {} : { change_id: written.change_id }),
    ...(written.continuation === null ? {} : { continuation: { ...written.continuation } }),
    ...(written.canonicalized.length === 0 ? {} : { canonicalized: written.canonicalized }),
    ...(written.sanitized.length === 0 ? {} : { sanitized: written.sanitized }),
  };
}

/** What a write says beside its answer, in both modes. */
export function talkOfWrite(out: Output, written: Written): void {
  const { continuation } = written;
  if (continuation?.created === true) {
    out.talk(`[CONTINUATION opened] ${continuation.contract_id} continues ${continuation.continues_contract_id}`);
    out.talk(`    export WRIT_CONTRACT_ID=${continuation.contract_id}`);
  } else talkLanding(out, written.addressed, written.draft_id);
  for (const line of written.sanitized) out.talk(`[SANITIZED] ${line}`);
  for (const line of written.canonicalized) out.talk(`[CANONICALIZED] ${line}`);
  for (const line of written.warnings) out.talk(`Warning: ${line}`);
}

/** Says where a write went that was addressed to another link of the chain. */
export function talkLanding(out: Output, addressed: string, draftId: string): void {
  if (addressed === draftId) return;
  out.talk(`[CONTINUATION] ${addressed} is closed and continued: the write went to ${draftId}, its live link`);
}

/** Says that a contract that was looked at is history, and how to reach what goes on; `live` is null where it is not. */
export function talkContinued(out: Output, draftId: string, live: string | null): void {
  if (live !== null) out.talk(`[CONTINUED] ${draftId} is closed; ${live} continues it: --draft-id ${live}`);
}

/** Says how many a --limit left out. */
export function talkCut(out: Output, shown: number, total: number): void {
  if (total > shown) out.talk(`${total - shown} more; all of them: --limit ${total}`);
}

/** Prints what a write answers with. */
export function printWritten(out: Output, json: boolean, written: Written, mutation: Mutation): number {
  talkOfWrite(out, written);
  for (const note of writeNotes(mutation)) out.talk(`[NOTE] ${note}`);
  if (json) out.document(writtenDocument(written));
  else out.line(`OK: draft ${written.draft_id} updated and validated.`);
  return 0;
}
