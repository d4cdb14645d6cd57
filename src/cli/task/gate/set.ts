/** `writ task gate set`. */
import { GATE_STATUSES } from "../../../core/task/verdict.ts";
import { settleGate } from "../../../task/gate.ts";
import { defineCommand } from "../../command.ts";
import { JSON_SWITCH, wholeNumber } from "../../contract/address.ts";
import { choiceOperand, idOperand } from "../../operand.ts";
import { inWorld, openWorld } from "../../world.ts";
import { printSettled } from "./closure.ts";

export const command = defineCommand({
  meta: { name: "task gate set", description: "Settle a gate; its task follows" },
  args: {
    "gate-id": { type: "positional", required: true, description: "The id that task gate add printed" },
    status: { type: "positional", required: true, description: "pass, fail or pending" },
    "handoff-id": { type: "string", valueHint: "N", description: "The settling turn (default: WRIT_CONTRACT_ID's)" },
    ...JSON_SWITCH,
  },
  examples: ["writ task gate set 9 pass", "writ task gate set 9 fail --handoff-id 41 --json"],
  notes: [
    "A task with at least one gate, all of them pass, is done; else it is pending. A skipped task never moves.",
    "A turn that worked on the task settles the gate, and the task stays as it is until someone else does.",
  ],
  exits: { 0: "settled; what became of the task is said beside it", 3: "no such gate or turn" },
  run({ args, json, out }) {
    const settle = {
      gate_id: idOperand(args["gate-id"], "GATE_ID"),
      status: choiceOperand(args.status, "STATUS", GATE_STATUSES),
      handoff_id: wholeNumber(args["handoff-id"], "--handoff-id", 1),
    };
    const settled = inWorld(openWorld(), (world) => settleGate(world, settle));
    return printSettled(out, json, settled, `gate id=${settled.gate.id} ${settled.gate.status}`);
  },
});
