/** Consent that was asked for: what waits, and what was decided. */
import { commandsOf, readPayload } from "../approval/request.ts";
import { type Markup, markup } from "../html/markup.ts";
import { counted, exact, grouped, LENGTHS, line } from "../html/shown-text.ts";
import { isArray, type JsonObject, valueAt } from "../json/value.ts";
import type { Address } from "./address.ts";
import { renderPage, type Setting, section } from "./frame.ts";
import { pair } from "./pairs.ts";
import type { BoardApproval } from "./repository.ts";
import { turnHref } from "./turn-card.ts";
import { instant } from "./when.ts";

export type Approvals = {
  readonly pending: readonly BoardApproval[];
  /** How many wait; more than are listed, perhaps. */
  readonly waiting: number;
  readonly decided: readonly BoardApproval[];
};

/** Commands of one request that are listed, and characters of one of them. */
const MOST_COMMANDS = 20;
const COMMAND_LENGTH = 1000;

/** What is said about a request, in this order. */
const SAID = ["operation", "rationale", "scope", "risk_level", "rollback"] as const;

export function renderApprovals(setting: Setting, address: Address, approvals: Approvals): string {
  const { pending, waiting, decided } = approvals;
  const list = (rows: readonly BoardApproval[]) => rows.map((one) => renderApproval(one, address, setting.now_ms));
  const body = markup`<h1>Approvals</h1>
<div class="stack">${section(
    "pending",
    markup`Waiting for a decision <span class="count">${grouped(waiting)}</span>`,
    markup`${
      pending.length === 0
        ? markup`<p class="none">None</p>`
        : markup`<p class="hint">Decide on the command line, outside of a turn: <code>writ approvals grant ID</code> or <code>writ approvals deny ID</code>.</p>`
    }
${list(pending)}${waiting > pending.length && markup`<p class="left-out">${counted(waiting - pending.length, "older request")} not shown</p>`}`,
  )}
${section("decided", "Decided", decided.length === 0 ? markup`<p class="none">None</p>` : list(decided))}</div>`;
  return renderPage(setting, "Approvals", body);
}

export function renderApproval(approval: BoardApproval, from: Address, now_ms: number): Markup {
  const payload = readPayload(approval.payload.text);
  const commands = commandsOf(payload);
  const agent = line(approval.agent_id, LENGTHS.word);
  return markup`<article class="approval" data-status="${approval.status}">
<h3 class="row"><span class="badge" data-approval="${approval.status}">${approval.status}</span> <code>${line(approval.id, LENGTHS.word)}</code></h3>
${
  commands.length > 0
    ? markup`<ol class="commands">${commands.slice(0, MOST_COMMANDS).map((command) => markup`<li>${exact(command, COMMAND_LENGTH)}</li>`)}</ol>${
        commands.length > MOST_COMMANDS &&
        markup`<p class="left-out">${counted(commands.length - MOST_COMMANDS, "more command")} not shown</p>`
      }`
    : markup`<p class="hint">What it asks for cannot be read:</p>${exact(approval.payload)}`
}
<dl class="pairs">${SAID.map((name) => pair(name.replace("_", " "), payload === null ? null : said(payload, name)))}
${pair("asked", instant(approval.created_at, now_ms))}
${pair("by", agent !== null && approval.turn_id !== null ? markup`<a href="${turnHref(approval.turn_id, from)}">${agent}</a>` : agent)}
${pair("session", line(approval.session_id, LENGTHS.word))}
${pair("decided", instant(approval.decided_at, now_ms))}
${pair("decided by", line(approval.decided_by, LENGTHS.word))}
${pair("reason", line(approval.reason))}</dl>
</article>
`;
}

function said(payload: JsonObject, name: string): Markup | null {
  const value = valueAt(payload, name);
  if (value === undefined || value === null || (isArray(value) && value.length === 0)) return null;
  return line(typeof value === "string" ? value : JSON.stringify(value));
}
