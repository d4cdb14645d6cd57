/** `writ contract finalize`. */
import { finalizeContract } from "../../editor/finalize.ts";
import { openCloseWorld } from "../close-world.ts";
import { defineCommand } from "../command.ts";
import { inWorld, sessionOf } from "../world.ts";
import { ADDRESS, ADDRESS_NOTE, addressOf, FOLLOWS_NOTE, JSON_SWITCH, talkLanding, wholeNumber } from "./address.ts";
import { STRICT_TEXT, talkAdvice, talkUnclosed, talkVerdict } from "./verdict.ts";

export const command = defineCommand({
  meta: {
    name: "contract finalize",
    description: "Close the turn: hold its claims against the record and keep the row",
  },
  args: {
    workspace: { type: "string", valueHint: "W", description: "The workspace of a turn that was never dispatched" },
    "session-id": { type: "string", valueHint: "ID", description: "The session of the turn" },
    "plan-task-id": { type: "string", valueHint: "N", description: "The plan task that the turn worked on" },
    strict: { type: "boolean", description: STRICT_TEXT },
    ...ADDRESS,
    ...JSON_SWITCH,
  },
  examples: ["writ contract finalize", "writ contract finalize --strict --json"],
  notes: [
    "It does not turn one state into another: set agent_status.agent_state first. IN_PROGRESS is kept as a checkpoint.",
    ADDRESS_NOTE,
    FOLLOWS_NOTE,
  ],
  exits: {
    0: "closed, or kept as a checkpoint, or closed already",
    1: "not valid, a conclusion is missing, or the record refutes what is cited; with --strict also for advice",
    3: "no such draft, several that could be meant, or the state forbids this close",
  },
  run({ args, json, out }) {
    const planTaskId = wholeNumber(args["plan-task-id"], "--plan-task-id", 1);
    const closing = inWorld(openCloseWorld(), (world) =>
      finalizeContract(world, {
        address: addressOf(args),
        workspace: args.workspace ?? null,
        session_id: sessionOf(args["session-id"]),
        plan_task_id: planTaskId,
        strict: args.strict,
      }),
    );
    for (const line of closing.sanitized) out.talk(`[SANITIZED] ${line}`);
    for (const warning of closing.warnings) out.talk(`Warning: ${warning}`);
    const { status, draft_id, handoff_id, created, agent_state, content_checks, conclusion_alias } = closing;
    const { proposals, notices, evidence_ids } = closing;
    if (json) {
      out.document({
        ok: true,
        status,
        draft_id,
        handoff_id,
        created,
        agent_state,
        content_checks,
        conclusion_alias,
        proposals: { ...proposals },
        notices,
        evidence_ids,
        unheld: closing.claims.unheld,
      });
    } else if (status === "checkpointed") out.line(`OK: draft ${draft_id} checkpointed (handoff_id=${handoff_id}).`);
    else if (created) out.line(`OK: draft ${draft_id} finalized (handoff_id=${handoff_id}).`);
    else out.line(`OK: draft ${draft_id} was already finalized (handoff_id=${handoff_id}); no-op.`);
    talkLanding(out, closing.addressed, draft_id);
    if (json) {
      talkAdvice(out, closing.advice);
      return 0;
    }
    for (const notice of notices) out.line(notice);
    talkVerdict(out, closing.advice, closing.claims);
    if (status === "checkpointed") talkUnclosed(out, draft_id, closing.incomplete);
    return 0;
  },
});
