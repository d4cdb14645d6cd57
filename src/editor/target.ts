/** Which draft a verb works on. */
import { draftIdFault, isAgentId } from "../core/contract/envelope.ts";
import type { Tables } from "../core/contract/repository.ts";
import { WritError } from "../core/error.ts";
import { quoteWords } from "../core/record/words.ts";
import type { ReadingWorld } from "./world.ts";

/** What the caller gave; null is "not given". */
export type Address = { readonly draft_id: string | null; readonly agent_id: string | null };

/** `named` says that the id itself was given, so that a missing draft may be made from its row. */
export type Target = { readonly draft_id: string; readonly named: boolean };

const CANDIDATES_PRINTED = 5;

/**
 * `--draft-id`, else the drafts of `--agent-id`, else `WRIT_CONTRACT_ID`, else all drafts.
 *
 * Errors: `invalid_draft_id`, `no_draft`, `ambiguous_draft`, `ambiguous_agent_draft`.
 */
export function resolveTarget(world: ReadingWorld, address: Address): Target {
  if (address.draft_id !== null) return { draft_id: checkDraftId(address.draft_id, "--draft-id"), named: true };
  if (address.agent_id !== null) {
    const prefix = `${address.agent_id}.`;
    const drafts = world.drafts.list().filter((draft) => draft.draft_id.startsWith(prefix));
    const [newest] = drafts;
    if (newest === undefined)
      throw noDraft(
        `No draft found for agent '${address.agent_id}'. Run 'writ contract init' first.`,
        nameHint(address.agent_id),
      );
    const live = liveOnly(world, drafts);
    if (live.length > 1) throw ambiguous(world, "ambiguous_agent_draft", live, `agent "${address.agent_id}" has`);
    return { draft_id: (live[0] ?? newest).draft_id, named: false };
  }
  if (world.contractId !== null) return { draft_id: checkDraftId(world.contractId, "WRIT_CONTRACT_ID"), named: true };

  const drafts = world.drafts.list();
  const live = liveOnly(world, drafts);
  const pool = live.length > 0 ? live : drafts;
  const [newest] = pool;
  if (newest === undefined) throw noDraft("No draft found. Run 'writ contract init' first.");
  const agents = new Set(pool.map((draft) => draft.draft_id.split(".", 1)[0]));
  if (agents.size > 1) throw ambiguous(world, "ambiguous_draft", pool, "there are");
  return { draft_id: newest.draft_id, named: false };
}

/** Errors: `invalid_draft_id`, before any file is touched. */
export function checkDraftId(draftId: string, from: string): string {
  const fault = draftIdFault(draftId);
  if (fault === null) return draftId;
  throw new WritError("invalid_draft_id", `The draft id of ${from} cannot be used: ${fault}`, {
    hint: "A draft id looks like a0123456789abcdef.0a1b2c3d4e5f; see: writ contract list",
  });
}

export function noDraftFor(draftId: string): WritError {
  return noDraft(
    `No draft found for id '${draftId}'. Run 'writ contract init' first.`,
    "An id that you were given is copied whole, and looked for in the store of WRIT_DATA_DIR; init makes another, unrelated draft",
  );
}

/** @param reason why there is none, where it can be told */
function noDraft(message: string, reason: string | null = null): WritError {
  const next = "See what there is with: writ contract list; birth a turn with: writ dispatch --agent NAME";
  return new WritError("no_draft", message, { hint: reason === null ? next : `${reason}. ${next}` });
}

/** What to type for an agent id that has not the form of one: it was meant as a name. Null for one that has. */
export function nameHint(agentId: string): string | null {
  if (isAgentId(agentId)) return null;
  const list = `writ contract list --agent ${quoteWords([agentId])}`;
  return `--agent-id takes an id, such as a0123456789abcdef; by name the turns are found with: ${list}`;
}

type Draft = { readonly draft_id: string; readonly modified_ms: number };

/** Drafts whose row is not closed; all of them when the store cannot be read. */
function liveOnly(world: ReadingWorld, drafts: readonly Draft[]): readonly Draft[] {
  if (drafts.length === 0) return drafts;
  const ids = drafts.map((draft) => draft.draft_id);
  const closed = readable(world, (tables) => tables.handoffs.listClosed(ids)) ?? new Set();
  return drafts.filter((draft) => !closed.has(draft.draft_id));
}

/** What the store says; null when there is none, or it cannot be read: the drafts are then all there is to go by. */
function readable<T>(world: ReadingWorld, look: (tables: Tables) => T): T | null {
  try {
    return world.store?.read(look) ?? null;
  } catch (error) {
    if (error instanceof WritError && error.code === "store_failed") return null;
    throw error;
  }
}

function ambiguous(
  world: ReadingWorld,
  code: "ambiguous_draft" | "ambiguous_agent_draft",
  drafts: readonly Draft[],
  subject: string,
): WritError {
  const candidates = drafts.map(({ draft_id, modified_ms }) => ({
    draft_id,
    modified_at: `${new Date(modified_ms).toISOString().slice(0, 19)}Z`,
    agent_state: readable(world, (tables) => tables.handoffs.find(draft_id))?.agent_state ?? null,
  }));
  const lines = candidates
    .slice(0, CANDIDATES_PRINTED)
    .map((one) => `  --draft-id ${one.draft_id}  ${one.modified_at}  ${one.agent_state ?? "no row"}`);
  if (candidates.length > CANDIDATES_PRINTED) lines.push(`  and ${candidates.length - CANDIDATES_PRINTED} more`);
  return new WritError(code, `Which draft is meant is not clear: ${subject} ${candidates.length} that could be`, {
    hint: "Name one with --draft-id",
    details: { candidates },
    lines,
  });
}
