/** One turn: what it says, what that was held against, and what happened in it. */
import { CAPITAL_LISTS, EVIDENCE_LISTS } from "../contract/envelope.ts";
import { isClosed } from "../contract/state.ts";
import { type Markup, markup, type Piece } from "../html/markup.ts";
import { counted, exact, grouped, LENGTHS, line } from "../html/shown-text.ts";
import { isArray, isObject, type JsonObject, type JsonValue, prettyJson, valueAt } from "../json/value.ts";
import { type Address, hrefOf } from "./address.ts";
import { renderApproval } from "./approvals-page.ts";
import { renderChecks } from "./checks.ts";
import { type Claims, listAt, textAt } from "./claims.ts";
import { renderPage, type Setting, section } from "./frame.ts";
import { groupOf } from "./groups.ts";
import { pair } from "./pairs.ts";
import type { BoardDetail, BoardEvidence, BoardTurn } from "./repository.ts";
import { renderTimeline } from "./timeline.ts";
import { badge, endText, exitMark, nameOf, renderCard, turnHref } from "./turn-card.ts";
import { MOMENTS, type TurnAddress, type TurnView } from "./turn-view.ts";
import { age, instant } from "./when.ts";

/** Entries of one list that are shown, and characters of one of them. */
const MOST_ITEMS = 40;
const ITEM_LENGTH = 1200;

const LIST_TITLES: Readonly<Record<(typeof EVIDENCE_LISTS)[number], string>> = {
  key_outputs: "Key outputs",
  verbatim_outputs: "Verbatim outputs",
  commands_run: "Commands run",
  files_checked: "Files checked",
  patterns_checked: "Patterns checked",
  cross_layer_impacts: "Cross-layer impacts",
  open_gaps: "Open gaps",
};

export function renderTurn(setting: Setting, address: TurnAddress, view: TurnView): string {
  const { turn, claims } = view;
  const group = groupOf(turn.agent_state, turn.cut_reason);
  const next = textAt(claims.status, "next_action");
  const steps = listAt(claims.status, "pending_steps");
  const body = markup`<header class="turn-head" data-part="head" data-group="${group}">
<h1>${nameOf(turn)} <span class="quiet">#${turn.id}</span> ${badge(group)}</h1>
${turn.goal !== null && markup`<p class="goal">${line(turn.goal, 600)}</p>`}
<p class="facts">${endText(turn.cut_reason)}<span class="dot" aria-hidden="true"> · </span>born ${age(turn.created_at, setting.now_ms)}<span class="dot" aria-hidden="true"> · </span>last seen ${age(turn.last_at, setting.now_ms)}<span class="dot" aria-hidden="true"> · </span><code>${line(turn.contract_id)}</code></p>
${turn.conclusion !== null && markup`<p class="conclusion"><b>Conclusion</b> ${line(turn.conclusion, 2000)}</p>`}
${turn.conclusion === null && draftConclusion(claims)}
${(next !== null || steps.length > 0) && markup`<dl class="pairs">${pair("Next action", line(next))}${pair("Pending steps", steps.length > 0 && markup`<ul class="plain">${items(steps, (step) => line(textOf(step), ITEM_LENGTH))}</ul>`)}</dl>`}
</header>
<div class="columns">
<div class="main-column">
${section("checks", "Checks", renderChecks(view))}
${section("claims", "Claims", renderClaims(view, address))}
${section("evidence", markup`Evidence <span class="count">${view.evidence.length}</span>`, renderEvidence(view.evidence, setting.now_ms))}
${section("timeline", markup`Timeline <span class="count">${grouped(turn.changes + turn.records)}</span>`, renderTimeline(setting, address, view), "timeline")}
</div>
<div class="side-column">
${section("chain", markup`Chain${view.chain.length > 1 && markup` <span class="count">${counted(view.chain.length, "link")}</span>`}`, renderChain(view, address, setting.now_ms))}
${
  view.approvals.length > 0 &&
  section(
    "approvals",
    "Approvals of its agent",
    view.approvals.map((one) => renderApproval(one, address, setting.now_ms)),
  )
}
${view.children.length > 0 && section("children", "Turns under it", markup`<ul class="cards">${view.children.map((child) => renderCard(child, address, setting.now_ms, true))}</ul>`)}
${section("row", "Row", renderRow(turn, address, setting.now_ms))}
</div>
</div>`;
  return renderPage(setting, `${titleOf(turn)} #${turn.id}`, body);
}

/** A window's title holds text alone. */
function titleOf(turn: BoardTurn): string {
  const name = (turn.agent_name ?? turn.agent_id).text;
  return name.length > 60 ? `${name.slice(0, 59)}…` : name;
}

function draftConclusion({ envelope }: Claims): Markup | null {
  const conclusion = envelope === null ? null : textAt(envelope, "conclusion");
  if (conclusion === null || conclusion.trim() === "") return null;
  return markup`<p class="conclusion"><b>Conclusion, not closed</b> ${line(conclusion, 2000)}</p>`;
}

function renderClaims(view: TurnView, address: TurnAddress): Piece {
  const { claims, turn } = view;
  if (claims.envelope === null) {
    return markup`<p class="hint">The envelope of this row is too large or not readable; it begins:</p>${exact(turn.raw_handoff_json)}`;
  }
  const filled = EVIDENCE_LISTS.filter((name) => listAt(claims.report, name).length > 0);
  const order = [...filled].sort((left, right) => LIST_ORDER.indexOf(left) - LIST_ORDER.indexOf(right));
  const others = Object.entries(claims.envelope).filter(([name, value]) => !SHOWN_ELSEWHERE.has(name) && says(value));
  const isEmpty = claims.verification === null && filled.length === 0 && others.length === 0;
  return markup`${isEmpty && markup`<p class="none">Nothing was claimed yet</p>`}
${claims.verification !== null && renderVerification(view, address)}
${order.map((name) => renderItems(name, listAt(claims.report, name)))}
${others.slice(0, MOST_ITEMS).map(([name, value]) => fold(name, valueBlock(value)))}
${fold("the whole envelope", exact(prettyJson(claims.envelope), LENGTHS.document))}`;
}

const LIST_ORDER = Object.keys(LIST_TITLES);

/** False for what was left as it was born: null, false, and what is empty. */
function says(value: JsonValue): boolean {
  if (isObject(value)) return Object.keys(value).length > 0;
  return value !== null && value !== false && value !== "" && !(isArray(value) && value.length === 0);
}

/** Keys of the envelope that the page shows in their own place, and marks that its row says better. */
const SHOWN_ELSEWHERE: ReadonlySet<string> = new Set([
  "agent_status",
  "evidence_report",
  "conclusion",
  "content_checks",
  "harness_record",
  "_contract_tag",
  "agent_name",
  "agent_state",
  "born_at_dispatch",
  "continues_contract_id",
  ...CAPITAL_LISTS,
]);

function renderVerification({ claims, claimedRun, turn }: TurnView, address: TurnAddress): Markup {
  const verification = claims.verification ?? {};
  const { command } = claims;
  const told = new Set(["type", "command", "result", "expect_exit", "method", "evidence_ids"]);
  const result = valueAt(verification, "result");
  const expected = valueAt(verification, "expect_exit");
  const more = Object.entries(verification).filter(([name]) => !told.has(name));
  const run =
    command === null
      ? null
      : claimedRun === null
        ? markup`<span class="exit unknown">no run has exactly this text</span>`
        : markup`<a href="${hrefToRun(address, claimedRun.seq, turn.records)}">record ${claimedRun.seq}</a> ${exitMark(claimedRun)}`;
  return markup`<h3>Verification</h3>
<dl class="pairs">${pair("Type", line(textAt(verification, "type"), LENGTHS.word))}
${pair("Result", result !== undefined && markup`<span class="word">${line(textOf(result), LENGTHS.word)}</span>`)}
${pair("Expected exit", expected !== undefined && line(textOf(expected), LENGTHS.word))}
${pair("Command", command !== null && exact(command))}
${pair("Its last run", run)}
${pair("Method", line(textAt(verification, "method"), 600))}
${pair("Cites evidence", listAt(verification, "evidence_ids").length > 0 && line(textOf(valueAt(verification, "evidence_ids") ?? null)))}
${more.slice(0, MOST_ITEMS).map(([name, value]) => pair(line(name, LENGTHS.word), valueInline(value, name)))}</dl>`;
}

/** Its place on the page of the timeline that has it: records alone stand there in the order of their numbers. */
function hrefToRun(address: TurnAddress, seq: number, records: number): string {
  const part = Math.floor(Math.max(0, records - seq) / MOMENTS) + 1;
  const there: Address = { ...address, kinds: "runs", part };
  return `${hrefOf(there, address)}#run-${seq}`;
}

function renderItems(name: (typeof EVIDENCE_LISTS)[number], list: readonly JsonValue[]): Markup {
  const show = name === "verbatim_outputs" ? quote : (value: JsonValue) => valueInline(value, name);
  return markup`<h3>${LIST_TITLES[name]} <span class="count">${grouped(list.length)}</span></h3>
<ul class="items">${items(list, show)}</ul>
`;
}

function items(list: readonly JsonValue[], show: (value: JsonValue) => Piece): Piece {
  const rest = list.length - MOST_ITEMS;
  return markup`${list.slice(0, MOST_ITEMS).map(
    (value) => markup`<li>${show(value)}</li>
`,
  )}${rest > 0 && markup`<li class="left-out">${counted(rest, "more entry", "more entries")} not shown</li>`}`;
}

/** What was quoted, and from which command. */
function quote(value: JsonValue): Piece {
  if (!isObject(value)) return valueBlock(value);
  const excerpt = textAt(value, "excerpt") ?? textAt(value, "output");
  const command = textAt(value, "command");
  const rest = Object.entries(value).filter(([name]) => !["excerpt", "output", "command"].includes(name));
  return markup`${command !== null && markup`<div class="of"><span class="quiet">of</span> <code>${line(command, ITEM_LENGTH)}</code></div>`}${
    excerpt !== null && exact(excerpt, ITEM_LENGTH)
  }${rest.length > 0 && exact(prettyJson(Object.fromEntries(rest) as JsonObject), ITEM_LENGTH)}`;
}

function valueInline(value: JsonValue, name: string): Piece {
  if (typeof value !== "string") return valueBlock(value);
  if (name === "commands_run" || name === "files_checked") return markup`<code>${line(value, ITEM_LENGTH)}</code>`;
  return value.includes("\n") ? exact(value, ITEM_LENGTH) : line(value, ITEM_LENGTH);
}

function valueBlock(value: JsonValue): Markup {
  return exact(typeof value === "string" ? value : prettyJson(value), ITEM_LENGTH);
}

function textOf(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function fold(name: string, body: Piece): Markup {
  return markup`<details data-key="fold-${name.slice(0, LENGTHS.word)}"><summary>${line(name, LENGTHS.word)}</summary>${body}</details>
`;
}

function renderEvidence(rows: readonly BoardEvidence[], now_ms: number): Piece {
  if (rows.length === 0) return markup`<p class="none">None was recorded or cited</p>`;
  return markup`<ul class="items">${rows.map(
    (
      row,
    ) => markup`<li id="evidence-${row.id}"><div class="row"><b>#${row.id}</b> <span class="word">${line(row.type, LENGTHS.word)}</span> <span class="exit ${
      row.polarity === "positive" ? "good" : "bad"
    }">${line(row.polarity, LENGTHS.word)}</span> <span>for ${line(row.ac_id, LENGTHS.word)} of ${line(row.brief, LENGTHS.word)}</span> <span class="quiet">${
      row.own ? "recorded here" : "cited"
    }, ${age(row.created_at, now_ms)}</span></div>
${row.text !== null && exact(row.text)}${
  row.artifact_path !== null &&
  markup`<div class="of"><code>${line(row.artifact_path, ITEM_LENGTH)}</code> <span class="quiet">${
    row.size_bytes !== null && `${grouped(row.size_bytes)} bytes`
  }</span></div>`
}</li>
`,
  )}</ul>`;
}

function renderChain({ chain, turn }: TurnView, address: TurnAddress, now_ms: number): Piece {
  if (chain.length <= 1) return markup`<p class="none">It continues nothing, and nothing continues it</p>`;
  return markup`<ol class="chain">${chain.map((link) => {
    const name = markup`#${link.id}`;
    const isHere = link.id === turn.id;
    return markup`<li${isHere && markup` aria-current="true"`}><div class="row">${
      isHere ? markup`<b>${name}</b>` : markup`<a href="${turnHref(link.id, address)}">${name}</a>`
    } ${badge(groupOf(link.agent_state, link.cut_reason))} <span class="quiet">${isHere && "this one, "}${age(link.created_at, now_ms)}</span></div>${
      link.conclusion !== null && markup`<p class="conclusion">${line(link.conclusion)}</p>`
    }</li>
`;
  })}</ol>`;
}

function renderRow(turn: BoardDetail, address: TurnAddress, now_ms: number): Piece {
  const linked: Readonly<Record<string, number | null>> = {
    parent_handoff_id: idOf(turn, "parent_handoff_id"),
    continues_handoff_id: turn.continues_handoff_id,
  };
  const value = (name: string, text: BoardDetail["contract_id"]): Piece => {
    const id = Object.hasOwn(linked, name) ? linked[name] : null;
    if (id !== null && id !== undefined) return markup`<a href="${turnHref(id, address)}">#${id}</a>`;
    if (name === "created_at" || name === "closed_at") return instant(text.text, now_ms);
    return markup`<code>${line(text)}</code>`;
  };
  return markup`<dl class="pairs">${turn.columns.map(([name, text]) => pair(name, value(name, text)))}</dl>
<p class="hint">The same and more: <code>writ contract show ${turn.id}</code>${isClosed(turn.agent_state) && turn.cut_reason === null ? "" : markup`. What an open turn wrote stands here as it was last journalled`}.</p>`;
}

function idOf(turn: BoardDetail, column: string): number | null {
  const text = turn.columns.find(([name]) => name === column)?.[1].text ?? "";
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : null;
}
