/** `writ contract list`. */
import { STATES } from "../../core/contract/envelope.ts";
import { WritError } from "../../core/error.ts";
import type { JsonObject } from "../../core/json/value.ts";
import { countHandoffs, listHandoffs } from "../../editor/look.ts";
import { nameHint } from "../../editor/target.ts";
import { defineCommand, type Output } from "../command.ts";
import { tableLines } from "../table.ts";
import { inWorld, openReadingWorld } from "../world.ts";
import { JSON_SWITCH, talkCut, wholeNumber } from "./address.ts";

const HEADER = [
  "id",
  "created_at",
  "agent_id",
  "agent_name",
  "agent_state",
  "cut_reason",
  "kind",
  "session_id",
  "plan_task_id",
  "parent_handoff_id",
  "contract_id",
];

const CUT = "Only turns cut for this reason; any for every cut, turns that still run included";

export const command = defineCommand({
  meta: { name: "contract list", description: "List turns, newest first" },
  args: {
    "agent-id": { type: "string", valueHint: "ID", description: "Only this agent id" },
    agent: { type: "string", valueHint: "NAME", description: "Only this agent name" },
    state: { type: "enum", options: ["DISPATCHED", ...STATES], description: "Only this state" },
    cut: { type: "string", valueHint: "REASON", description: CUT },
    session: { type: "string", valueHint: "ID", description: "Only this session" },
    "contract-id": { type: "string", alias: "draft-id", valueHint: "ID", description: "Only this contract" },
    "harness-id": { type: "string", valueHint: "HID", description: "Only this run id of the harness" },
    workspace: { type: "string", valueHint: "W", description: "Only this workspace" },
    since: { type: "string", valueHint: "DATE", description: "Only turns born at or after this instant" },
    until: {
      type: "string",
      valueHint: "DATE",
      description: "Only turns born at or before; a date means the whole day",
    },
    limit: { type: "string", valueHint: "N", description: "At most this many (default 20)" },
    ...JSON_SWITCH,
  },
  examples: ["writ contract list --state NEEDS_VERIFICATION", "writ contract list --cut any --since 2026-11-01 --json"],
  exits: { 0: "listed; also when nothing matched" },
  run({ args, json, out }) {
    const filter = {
      agent_id: args["agent-id"] ?? null,
      agent_name: args.agent ?? null,
      agent_state: args.state ?? null,
      cut_reason: args.cut ?? null,
      session_id: args.session ?? null,
      contract_id: args["contract-id"] ?? null,
      harness_agent_id: args["harness-id"] ?? null,
      workspace: args.workspace ?? null,
      since: dateOf(args.since, "--since"),
      until: dateOf(args.until, "--until"),
      limit: wholeNumber(args.limit, "--limit", 1) ?? 20,
    };
    const { rows, total } = inWorld(openReadingWorld(), (world) => {
      const rows = listHandoffs(world, filter);
      // Counted only where the limit may have left some out.
      return { rows, total: rows.length < filter.limit ? rows.length : countHandoffs(world, filter) };
    });
    if (json) out.document({ ok: true, count: rows.length, total, handoffs: rows as readonly JsonObject[] });
    else if (rows.length === 0) out.line("No handoffs matched.");
    else {
      const cells = rows.map((row) => [
        row.id,
        row.created_at,
        row.agent_id,
        row.agent_name,
        row.agent_state,
        row.cut_reason,
        row.kind,
        row.session_id,
        row.plan_task_id,
        row.parent_handoff_id,
        row.contract_id,
      ]);
      for (const line of tableLines(HEADER, cells, out.columns())) out.line(line);
      out.line(`${rows.length} handoff(s).`);
      talkCut(out, rows.length, total);
    }
    if (rows.length === 0) talkName(out, args["agent-id"]);
    return 0;
  },
});

/** An agent id that has not the form of one was meant as a name. */
function talkName(out: Output, agentId: string | undefined): void {
  const hint = agentId === undefined ? null : nameHint(agentId);
  if (hint !== null) out.talk(hint);
}

/** A date, or an instant in UTC, as the store compares them. Errors: `usage`. */
function dateOf(text: string | undefined, option: string): string | null {
  if (text === undefined) return null;
  const isForm = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$/.test(text);
  const isDate = text.length === 10;
  const ms = isForm ? Date.parse(isDate || /(Z|[+-]\d{2}:\d{2})$/.test(text) ? text : `${text}Z`) : Number.NaN;
  if (Number.isNaN(ms)) {
    throw new WritError("usage", `${option} takes a date or an instant, not "${text}"`, {
      hint: `For example: ${option} 2026-11-30 or ${option} 2026-11-30T09:00:00Z`,
    });
  }
  return isDate ? text : `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
