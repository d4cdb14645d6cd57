/** `writ task gate add`. */
import { GATE_TYPES } from "../../../core/task/verdict.ts";
import { addGate } from "../../../task/gate.ts";
import { defineCommand } from "../../command.ts";
import { JSON_SWITCH } from "../../contract/address.ts";
import { idOperand, textOf } from "../../operand.ts";
import { inWorld, openWorld } from "../../world.ts";
import { printSettled } from "./closure.ts";

export const command = defineCommand({
  meta: { name: "task gate add", description: "Add a gate that a verifier settles" },
  args: {
    "task-id": { type: "positional", required: true, description: "The id that task add printed" },
    type: { type: "enum", required: true, options: [...GATE_TYPES], description: "How it is verified" },
    "evidence-shape": { type: "string", valueHint: "TEXT", description: "What the evidence must show" },
    "evidence-type": { type: "string", valueHint: "TEXT", description: "Which type of evidence" },
    "artifact-path": { type: "string", valueHint: "PATH", description: "The file that it is about" },
    ...JSON_SWITCH,
  },
  examples: [
    "writ task gate add 4 --type command --evidence-shape 'bun test checkout exits 0'",
    "writ task gate add 4 --type semantic --evidence-type text --json",
  ],
  notes: ["A task that was done is pending again: its new gate is not settled."],
  exits: { 0: "added", 3: "no such task" },
  run({ args, json, out }) {
    const gate = {
      task_id: idOperand(args["task-id"], "TASK_ID"),
      verification_type: args.type,
      evidence_type: textOf(args["evidence-type"]),
      evidence_shape: textOf(args["evidence-shape"]),
      artifact_path: textOf(args["artifact-path"]),
    };
    const settled = inWorld(openWorld(), (world) => addGate(world, gate));
    return printSettled(out, json, settled, `gate id=${settled.gate.id}`);
  },
});
