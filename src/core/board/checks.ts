/** What a close was held against, and what of it stands. */

import { type Markup, markup, type Piece } from "../html/markup.ts";
import { counted, exact, LENGTHS, line } from "../html/shown-text.ts";
import { parseJson } from "../json/parse.ts";
import { isObject, type JsonObject, type JsonValue } from "../json/value.ts";
import type { SkipReason } from "../record/content-checks.ts";
import { listAt, textAt } from "./claims.ts";
import type { RecordState, TurnView } from "./turn-view.ts";

/** Entries of a list that are shown. */
const MOST = 40;

const SKIP_MEANINGS: Readonly<Record<SkipReason, string>> = {
  command_not_string: "the command is no text",
  result_not_pass: "the result is not pass, so no status was asked for",
  no_tool_record: "no record is bound to this turn",
  proven_by_evidence: "evidence that is cited stands for it",
  exit_not_kept: "the run's status was not kept",
  unattributed: "the quote names no command",
  entry_not_readable: "the entry has no form that can be compared",
  no_quote: "the entry quotes nothing",
  output_not_kept: "the run's output was not kept",
  output_truncated: "it may stand in the part of the output that was not kept",
  output_redacted: "it may be what was masked in the output",
  order_not_kept: "the two streams were recorded apart",
  unread_key: "a key of the entry is not read",
  quote_not_string: "the quote is no text",
};

export function renderChecks({ turn, record }: Pick<TurnView, "turn" | "record">): Piece {
  const checks = parsed(turn.content_checks?.text ?? null);
  const advice = checks === null ? [] : listAt(checks, "advice");
  const skipped = checks === null ? [] : listAt(checks, "skipped");
  const signs: Markup[] = [];
  if (checks === null) signs.push(sign("unknown", "Not held against anything: no clean close has checked its claims"));
  else if (checks.bound === true) {
    const open = skipped.length === 0 ? "" : `; ${counted(skipped.length, "claim")} could not be compared`;
    signs.push(sign("good", `Closed: the record refutes nothing that it claims${open}`));
  } else {
    signs.push(sign("unknown", "Closed without a tool record: what it says it ran was not compared"));
  }
  signs.push(recordSign(record, turn.records, turn.bound));
  const refused = turn.update_contracts_refused;
  return markup`<ul class="signs">${signs}</ul>
${
  advice.length > 0 &&
  markup`<h3>Advice <span class="count">${advice.length}</span></h3>
<ul class="items">${entries(advice, adviceLine)}</ul>`
}
${
  skipped.length > 0 &&
  markup`<h3>Skipped <span class="count">${skipped.length}</span></h3>
<ul class="items">${entries(skipped, skippedLine)}</ul>`
}
${checks !== null && advice.length === 0 && skipped.length === 0 && markup`<p class="none">No advice, and nothing was skipped</p>`}
${refused !== null && markup`<h3>Refused update contracts</h3>${exact(refused)}`}`;
}

function recordSign(record: RecordState, count: number, isBound: boolean): Markup {
  switch (record.state) {
    case "empty":
      return sign("unknown", isBound ? "The record is bound and empty: nothing was run" : "There is no tool record");
    case "whole":
      return sign("good", `The chain of ${counted(count, "record")} is whole`);
    case "broken":
      return sign(
        "bad",
        record.seq === null
          ? "The chain of records is broken: the head that the close stored is not there"
          : `The chain of records is broken at ${record.seq}: a record was changed, removed or put in`,
      );
    case "unread":
      return sign("unknown", `${counted(count, "record")} were not recomputed here; see writ record verify`);
    default:
      return record satisfies never;
  }
}

const SIGN_WORDS = { good: "holds", bad: "refuted", unknown: "not known" } as const;

function sign(kind: keyof typeof SIGN_WORDS, text: string): Markup {
  return markup`<li class="sign-${kind}"><b>${SIGN_WORDS[kind]}</b> ${text}</li>
`;
}

function entries(list: readonly JsonValue[], show: (entry: JsonObject) => Piece): Piece {
  const rest = list.length - MOST;
  return markup`${list.slice(0, MOST).map(
    (entry) => markup`<li>${isObject(entry) ? show(entry) : exact(JSON.stringify(entry))}</li>
`,
  )}${rest > 0 && markup`<li class="left-out">${counted(rest, "more entry", "more entries")} not shown</li>`}`;
}

function adviceLine(advice: JsonObject): Piece {
  const hint = textAt(advice, "hint");
  return markup`<span class="advice">${line(textAt(advice, "code") ?? "advice", LENGTHS.word)}</span> ${line(textAt(advice, "message"), 600)}${
    hint !== null && markup`<div class="quiet">${line(hint, 600)}</div>`
  }`;
}

function skippedLine(skipped: JsonObject): Piece {
  const reason = textAt(skipped, "reason") ?? "";
  const meaning = Object.hasOwn(SKIP_MEANINGS, reason) ? SKIP_MEANINGS[reason as SkipReason] : null;
  const key = textAt(skipped, "key");
  return markup`<span class="word">${line(reason, LENGTHS.word)}</span> ${meaning} <div class="quiet"><code>${line(textAt(skipped, "path"))}</code>${
    key !== null && markup`, key <code>${line(key, LENGTHS.word)}</code>`
  }</div>`;
}

function parsed(text: string | null): JsonObject | null {
  if (text === null) return null;
  const value = parseJson(text);
  return value.ok && isObject(value.value) ? value.value : null;
}
