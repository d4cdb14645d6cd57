/** What happened in a turn, newest first: runs with both kept ends of their output, and writes. */

import { type Markup, markup, type Piece } from "../html/markup.ts";
import { counted, type Excerpt, exact, grouped, LENGTHS, line, output } from "../html/shown-text.ts";
import type { Address, Kinds } from "./address.ts";
import { hrefOf } from "./address.ts";
import type { Setting } from "./frame.ts";
import type { BoardChange, BoardEntry, BoardRecord } from "./repository.ts";
import { exitMark } from "./turn-card.ts";
import type { TurnAddress, TurnView } from "./turn-view.ts";
import { age, lasted } from "./when.ts";

const TABS: readonly (readonly [kinds: Kinds, title: string])[] = [
  ["all", "Everything"],
  ["runs", "Record"],
  ["writes", "Writes"],
];

/** Characters of one side of a change. */
const SIDE_LENGTH = 400;

/** JSON texts up to this stand in the line of their path. */
const SHORT_VALUE = 160;

export function renderTimeline(setting: Setting, address: TurnAddress, view: TurnView): Piece {
  const { moments, more } = view;
  const to = (part: number): Address => ({ ...address, part });
  return markup`<nav class="tabs" aria-label="Kinds of entries"><ul>${TABS.map(
    ([kinds, title]) =>
      markup`<li><a href="${hrefOf({ ...address, kinds, part: 1 }, address)}#timeline"${kinds === address.kinds && markup` aria-current="page"`}>${title}</a></li>
`,
  )}</ul></nav>
${
  moments.length === 0
    ? markup`<p class="none">Nothing here</p>`
    : markup`<ol class="moments">${moments.map((moment) =>
        moment.kind === "run"
          ? renderRecord(moment.record, setting.now_ms)
          : renderChange(moment.change, setting.now_ms),
      )}</ol>`
}
<nav class="pager" aria-label="Pages of the timeline">
${address.part > 1 && markup`<a href="${hrefOf(to(address.part - 1), address)}#timeline" rel="prev">Newer</a>`}
${more && markup`<a href="${hrefOf(to(address.part + 1), address)}#timeline" rel="next">Older</a>`}
</nav>`;
}

function renderRecord(record: BoardRecord, now_ms: number): Markup {
  const at = record.ended_at ?? record.started_at;
  const took = lasted(record.started_at, record.ended_at);
  const isCommand = record.tool === "bash";
  const mark = isCommand ? exitMark(record) : record.failed && markup`<span class="exit bad">failed</span>`;
  const isBad = record.failed || record.signal !== null || (record.exit_code ?? 0) !== 0;
  return markup`<li class="moment run" id="run-${record.seq}" data-bad="${isBad ? "yes" : "no"}">
<div class="row"><span class="kind">${isCommand ? "run" : line(record.tool, LENGTHS.word)}</span> <span class="quiet">${record.seq}</span> ${mark} <span class="age">${
    at === null ? "time unknown" : age(at, now_ms)
  }</span></div>
<div class="command">${exact(record.command ?? record.path ?? "")}</div>
${record.exit_note !== null && markup`<p class="quiet">${line(record.exit_note)}</p>`}
${renderOutput(record, isBad)}
<p class="facts quiet">${record.source === "hook" ? markup`from a hook${record.harness !== null && markup` of ${line(record.harness, LENGTHS.word)}`}` : "from writ run"}${
    took !== null && markup`, took ${took}`
  }${record.cwd !== null && markup`, in <code>${line(record.cwd)}</code>`}</p>
</li>
`;
}

function renderOutput(record: BoardRecord, isBad: boolean): Piece {
  if (record.tool !== "bash") return null;
  if (record.output === null) return markup`<p class="none">Its output was not kept</p>`;
  if (record.output.text === "" && record.tail === null) return markup`<p class="none">It printed nothing</p>`;
  const size = record.output_bytes === null ? "size unknown" : `${grouped(record.output_bytes)} bytes`;
  return markup`<details class="output" data-key="output-${record.seq}"${isBad && markup` open`}><summary>Output <span class="quiet">${size}${
    record.ordered ? "" : ", its two streams apart"
  }</span></summary>
${output(record.output)}${record.truncated && markup`<p class="left-out">${leftOut(record)}</p>`}${record.tail !== null && output(record.tail)}</details>`;
}

function leftOut({ output_bytes, output, tail }: BoardRecord): string {
  if (output_bytes === null || output === null) return "something here was not kept";
  const kept = output.size_bytes + (tail?.size_bytes ?? 0);
  return `${counted(Math.max(0, output_bytes - kept), "byte")} here were not kept`;
}

function renderChange(change: BoardChange, now_ms: number): Markup {
  const rest = change.paths - change.entries.length;
  return markup`<li class="moment write" id="change-${change.change_id}">
<div class="row"><span class="kind">${line(change.verb, LENGTHS.word)}</span> <span class="quiet">${change.change_id}${
    change.undoes !== null && `, takes back ${change.undoes}`
  }</span> <span class="age">${age(change.at, now_ms)}</span></div>
<ul class="entries">${change.entries.map((entry, index) => renderEntry(change, entry, index))}${
    rest > 0 && markup`<li class="left-out">${counted(rest, "more path")} not shown</li>`
  }</ul>
</li>
`;
}

function renderEntry(change: BoardChange, { path, before, after }: BoardEntry, index: number): Markup {
  const name = path.text === "" ? "the whole envelope" : markup`<code>${line(path)}</code>`;
  const how = before === null ? "new" : after === null ? "removed" : "changed";
  const sides = [before, after].filter((side) => side !== null);
  if (sides.every((side) => side.size_bytes <= SHORT_VALUE)) {
    return markup`<li><span class="how">${how}</span> ${name} ${before !== null && markup`<del>${value(before)}</del>`} ${
      after !== null && markup`<ins>${value(after)}</ins>`
    }</li>
`;
  }
  const size = after === null ? "" : `${grouped(after.size_bytes)} bytes`;
  return markup`<li><details data-key="entry-${change.change_id}-${index}"><summary><span class="how">${how}</span> ${name} <span class="quiet">${size}</span></summary>
${before !== null && markup`<div class="side"><span class="quiet">before</span>${exact(before, SIDE_LENGTH)}</div>`}${
  after !== null && markup`<div class="side"><span class="quiet">after</span>${exact(after, SIDE_LENGTH)}</div>`
}</details></li>
`;
}

/** A short JSON text in its line. */
function value(text: Excerpt): Markup {
  return markup`<code>${line(text, LENGTHS.line)}</code>`;
}
