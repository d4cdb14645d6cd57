/** `init`: a draft for a turn that received no identity. It makes no row. */
import { agentPart, initialEnvelope } from "../core/contract/envelope.ts";
import { validationError } from "../core/contract/rejection.ts";
import { WritError } from "../core/error.ts";
import { draftText, rebuild, recordChange } from "./journal.ts";
import { checkDraftId } from "./target.ts";
import type { World } from "./world.ts";
import { checkEnvelope, Publication } from "./write.ts";

export type Initialised = {
  readonly draft_id: string;
  readonly agent_id: string;
  readonly agent_id_minted: boolean;
  readonly change_id: number | null;
  readonly warnings: readonly string[];
};

/**
 * Errors: `invalid_draft_id`, `usage` when the two ids differ, `validation` for a malformed agent id,
 * `draft_exists`.
 */
export function initDraft(
  world: World,
  given: { readonly agent_id: string | null; readonly draft_id: string | null },
): Initialised {
  if (given.draft_id !== null) checkDraftId(given.draft_id, "--draft-id");
  if (given.draft_id !== null && given.agent_id !== null && agentPart(given.draft_id) !== given.agent_id) {
    throw new WritError(
      "usage",
      `The agent of the draft id "${given.draft_id}" is not "${given.agent_id}": such a draft could never be finalized`,
      {
        hint: "Give one of the two, or make the part before the first dot the agent id",
      },
    );
  }
  const agent_id = given.agent_id ?? (given.draft_id === null ? world.mint.agentId() : agentPart(given.draft_id));
  const envelope = initialEnvelope(agent_id);
  const issues = checkEnvelope(envelope, null); // before a malformed agent id becomes part of a file name
  if (issues.length > 0) throw validationError(issues);
  const draft_id = given.draft_id ?? checkDraftId(`${agent_id}.${world.mint.token()}`, "--agent-id");
  const publication = new Publication(world);
  try {
    const change_id = world.store.write((tables) => {
      publication.discard();
      // A row whose file was lost is adopted by the next write: a blank draft must not stand in its way.
      if (world.drafts.read(draft_id) !== null || tables.handoffs.find(draft_id) !== null) {
        throw new WritError("draft_exists", `There is a draft of "${draft_id}" already; it was not touched`, {
          hint: `See it with: writ contract view --draft-id ${draft_id}`,
        });
      }
      publication.stage(draft_id, draftText(envelope));
      const before = rebuild(tables.journal.list(draft_id)); // of a draft that was removed; null for a first one
      return recordChange(world, tables, { draft_id, verb: "init", before, after: envelope });
    });
    const warnings = publication.publish();
    return {
      draft_id,
      agent_id,
      agent_id_minted: given.agent_id === null && given.draft_id === null,
      change_id,
      warnings,
    };
  } catch (error) {
    publication.discard();
    throw error;
  }
}
