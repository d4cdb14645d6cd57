/** `writ task gate list`. */
import { counted } from "../../../core/counted.ts";
import { listGates } from "../../../task/gate.ts";
import { defineCommand } from "../../command.ts";
import { JSON_SWITCH } from "../../contract/address.ts";
import { idOperand } from "../../operand.ts";
import { tableLines } from "../../table.ts";
import { inWorld, openReadingWorld } from "../../world.ts";

const HEADER = ["id", "type", "status", "evidence_type", "evidence_shape", "artifact_path", "settled_by", "settled_at"];

export const command = defineCommand({
  meta: { name: "task gate list", description: "List the gates of a task and what they say together" },
  args: {
    "task-id": { type: "positional", required: true, description: "The id that task add printed" },
    ...JSON_SWITCH,
  },
  examples: ["writ task gate list 4", "writ task gate list 4 --json"],
  exits: { 0: "listed; also when there is none", 3: "no such task" },
  run({ args, json, out }) {
    const id = idOperand(args["task-id"], "TASK_ID");
    const { task, gates, approving } = inWorld(openReadingWorld(), (world) => listGates(world, id));
    if (json) out.document({ ok: true, task_id: id, task_status: task.status, approving, count: gates.length, gates });
    else if (gates.length === 0) out.line("No gates matched.");
    else {
      const cells = gates.map((gate) => [
        gate.id,
        gate.verification_type,
        gate.status,
        gate.evidence_type,
        gate.evidence_shape,
        gate.artifact_path,
        gate.settled_by_handoff_id,
        gate.settled_at,
      ]);
      for (const line of tableLines(HEADER, cells, out.columns())) out.line(line);
      out.line(`${counted(gates.length, "gate")}, ${approving ? "approving" : "not approving"}.`);
    }
    return 0;
  },
});
