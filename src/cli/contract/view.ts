/** `writ contract view`: the envelope itself, as JSON in both modes. */

import { FIELD_PATHS } from "../../core/contract/envelope.ts";
import { WritError } from "../../core/error.ts";
import type { JsonValue } from "../../core/json/value.ts";
import { continuedBy } from "../../editor/look.ts";
import { fieldOf, type HarnessView, type View, viewAt, viewByHarness, viewDraft } from "../../editor/view.ts";
import { defineCommand } from "../command.ts";
import { inWorld, openReadingWorld } from "../world.ts";
import { ADDRESS, ADDRESS_NOTE, addressOf, changeIdOf, JSON_SWITCH, talkContinued, VERY_NOTE } from "./address.ts";

export const command = defineCommand({
  meta: { name: "contract view", description: "Print the envelope of a draft, or one field of it" },
  args: {
    field: { type: "string", valueHint: "PATH", offers: FIELD_PATHS, description: "Print only this field" },
    at: { type: "string", valueHint: "CHANGE", description: "Print the envelope as it stood after this change" },
    "harness-id": { type: "string", valueHint: "HID", description: "Find the row by the harness's own run id" },
    ...ADDRESS,
    ...JSON_SWITCH,
  },
  examples: [
    "writ contract view",
    "writ contract view --field evidence_report.key_outputs",
    "writ contract view --at 17",
  ],
  notes: [
    "Standard output is JSON with and without --json; --json says how an error is printed.",
    "A missing draft of an open turn is made from its row first.",
    ADDRESS_NOTE,
    VERY_NOTE,
  ],
  exits: {
    0: "printed",
    1: "there is no such field",
    3: "no such draft or change, several drafts that could be meant, or nothing to recover",
  },
  run({ args, out }) {
    const at = changeIdOf(args.at, "--at");
    const harness = args["harness-id"];
    if (harness !== undefined && (at !== null || args["draft-id"] !== undefined || args["agent-id"] !== undefined)) {
      throw new WritError("usage", "--harness-id goes with none of --draft-id, --agent-id and --at", {
        hint: "Find the contract id with: writ contract list --harness-id HID",
      });
    }
    const product = inWorld(openReadingWorld(), (world) => {
      if (harness !== undefined) {
        const view = viewByHarness(world, harness);
        return { view, document: harnessDocument(view), live: continuedBy(world, view.draft_id) };
      }
      const view = at === null ? viewDraft(world, addressOf(args)) : viewAt(world, addressOf(args), at);
      return { view, document: viewDocument(view), live: continuedBy(world, view.draft_id) };
    });
    const { view, document, live } = product;
    out.product(args.field === undefined ? document : fieldOf(view.envelope, args.field));
    talkContinued(out, view.draft_id, live);
    return 0;
  },
});

function viewDocument({ draft_id, envelope, row }: View): JsonValue {
  if (row === null) return { draft_id, envelope };
  const { id, agent_state, cut_reason } = row;
  return { draft_id, envelope_source: "db_row", handoff_id: id, agent_state, cut_reason, envelope };
}

function harnessDocument({ envelope, envelope_source, row }: HarnessView): JsonValue {
  const { harness_agent_id, contract_id, id, agent_id, agent_state, cut_reason, session_id, created_at } = row;
  return {
    harness_agent_id,
    contract_id,
    handoff_id: id,
    agent_id,
    agent_state,
    cut_reason,
    session_id,
    created_at,
    envelope_source,
    envelope,
  };
}
