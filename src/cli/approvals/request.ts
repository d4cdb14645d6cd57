/** `writ approvals request`. */
import { checkCommands, requestApproval } from "../../approval/request.ts";
import { RISKS } from "../../core/approval/request.ts";
import { defineCommand } from "../command.ts";
import { JSON_SWITCH } from "../contract/address.ts";
import { textOf } from "../operand.ts";
import { inWorld, openWorld, randomHex, sessionOf } from "../world.ts";

export const command = defineCommand({
  meta: { name: "approvals request", description: "Ask for consent to commands, and print the id of the request" },
  args: {
    command: {
      type: "string",
      required: true,
      multiple: true,
      valueHint: "CMD",
      description: "A command, as it will run",
    },
    operation: { type: "string", valueHint: "TEXT", description: "What is to be done" },
    rationale: { type: "string", valueHint: "TEXT", description: "Why" },
    scope: { type: "string", valueHint: "TEXT", description: "What it reaches" },
    risk: { type: "enum", options: [...RISKS], description: "How much can go wrong" },
    rollback: { type: "string", valueHint: "TEXT", description: "How it is taken back" },
    "agent-id": { type: "string", valueHint: "ID", description: "Who asks (default: the turn's agent)" },
    "session-id": { type: "string", valueHint: "ID", description: "The session it is asked in" },
    ...JSON_SWITCH,
  },
  examples: [
    "writ approvals request --command 'npm publish' --risk high --rollback 'npm deprecate'",
    "writ approvals request --command 'git tag v2' --command 'git push origin v2' --json",
  ],
  notes: [
    "Each --command is one command: without &&, ||, ;, |, &, a line break, backticks, $( ), and process substitution.",
    "The same request, while it is pending, is one request: its id is printed again.",
  ],
  exits: { 0: "asked; also when the same was asked before", 2: "a command that is not one command" },
  run({ args, json, out }) {
    const asked = {
      commands: args.command,
      operation: textOf(args.operation),
      rationale: textOf(args.rationale),
      scope: textOf(args.scope),
      risk_level: args.risk ?? null,
      rollback: textOf(args.rollback),
    };
    const asker = { agent_id: textOf(args["agent-id"]), session_id: sessionOf(args["session-id"]) };
    checkCommands(asked.commands);
    const world = { ...openWorld(), mint: { approvalId: () => `P-${randomHex(16)}` } };
    const { approval, request, created } = inWorld(world, (open) => requestApproval(open, asked, asker));
    if (!created) out.talk(`The same request is pending since ${approval.created_at}.`);
    if (json) {
      const { command_set, request_fingerprint, exact_content } = request;
      const status = "pending";
      out.document({
        ok: true,
        status,
        approval_id: approval.id,
        created,
        command_set,
        request_fingerprint,
        exact_content,
      });
    } else out.line(approval.id);
    return 0;
  },
});
