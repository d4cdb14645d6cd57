/** `writ help envelope`: what a turn writes, what its close needs, and the calls that it takes; two screens of 24 lines. */
import {
  AGENT_KEYS,
  EVIDENCE_KEYS,
  type Level,
  STATES,
  STATUS_KEYS,
  TYPED_FIELDS,
} from "../../core/contract/envelope.ts";
import { meaningOf, STATE_NEEDS, VERIFICATION_MEANINGS } from "../../core/contract/meanings.ts";
import { COMPANIONS } from "../../core/contract/validate.ts";
import { type Look, type Row, rows, unbroken, wrap } from "../page.ts";

/** The closed objects, which have lines of their own for their keys. */
const ENTERED: readonly (readonly [Level, readonly string[]])[] = [
  ["agent_status", STATUS_KEYS],
  ["evidence_report", EVIDENCE_KEYS],
];

/** An entry of verbatim_outputs, to copy. */
const QUOTE = '{"command":"bun test","excerpt":"4 pass ... 0 fail"}';

/** In the order in which an envelope is built: what a claim rests on before the claim, the state last. */
export const CALLS: readonly string[] = [
  "writ dispatch --agent NAME --goal TEXT",
  "export WRIT_CONTRACT_ID=ID",
  "writ run -- CMD",
  `writ contract fill --json '{"evidence_report":{"files_checked":["..."]}}'`,
  "writ contract add evidence_report.key_outputs TEXT",
  `writ contract fill --json '{"evidence_report":{"verification":{...}}}'`,
  `writ contract add evidence_report.verbatim_outputs '{"command":...}'`,
  "writ contract set conclusion TEXT",
  "writ contract set agent_status.next_action done",
  "writ contract set agent_status.agent_state COMPLETE",
  "writ contract validate --close",
  "writ contract finalize",
];

export function render(look: Look): string {
  const section = (title: string, content: readonly string[]) => [
    ...wrap(title, look.width, "").map(look.title),
    ...content,
  ];
  return [
    ...section("Fields of an envelope", fieldLines(look)),
    ...section("States, and what each close needs besides a conclusion", rows(stateRows(), look, 2)),
    ...section("verification and verbatim_outputs, both in evidence_report", rows(claimRows(), look, 2)),
    ...section("The twelve calls of a turn, in build order: the state last", callLines(look.width)),
  ].join("\n");
}

/** One row a field; those of one meaning share a line at the end. */
function fieldLines(look: Look): readonly string[] {
  const all = AGENT_KEYS.flatMap((key): readonly Row[] => [
    fieldRow("", key),
    ...ENTERED.flatMap(([level, keys]) => (level === key ? keys.map((inner) => fieldRow(level, inner)) : [])),
  ]);
  const shared = sharing(all).filter(([names]) => names.includes(", "));
  const single = sharing(all).filter(([names]) => !names.includes(", "));
  return [
    ...rows(single, look, 2),
    ...shared.flatMap(([names, text]) => wrap(`${names}: ${text}`, look.width, "  ", "      ")),
  ];
}

function fieldRow(level: Level, key: string): Row {
  const declared = TYPED_FIELDS[level].find(([name]) => name === key)?.[1] ?? "any";
  const type = declared === "array" ? "list" : declared;
  return [level === "" ? key : `  ${key}`, `${type}; ${meaningOf(level, key)}`];
}

function stateRows(): readonly Row[] {
  return sharing(STATES.map((state) => [state, STATE_NEEDS[state]]));
}

function claimRows(): readonly Row[] {
  const owes = [...new Set(COMPANIONS.values())].map((companion) => {
    const types = [...COMPANIONS].flatMap(([type, owed]) => (owed === companion ? [type] : []));
    return `${types.join(" and ")} ${types.length > 1 ? "owe" : "owes"} ${companion}`;
  });
  const others = sharing(Object.entries(VERIFICATION_MEANINGS)).map(([keys, text]) => `${keys} (${text})`);
  return [
    ["type", `${owes.join(", ")}, none owes nothing, any other word one of the three`],
    ["and", others.join(", ")],
    [
      "quote",
      `${unbroken(QUOTE)}, where ... is what is left out; or a text, which is held against nothing (unattributed)`,
    ],
  ];
}

/** Those of one text in one row, at the place of the first. */
function sharing(content: readonly Row[]): readonly Row[] {
  const byText = new Map<string, string[]>();
  for (const [name, text] of content) byText.set(text, [...(byText.get(text) ?? []), name]);
  return [...byText].map(([text, names]) => [names.join(", "), text]);
}

/** One a line, numbered; two where both fit. */
function callLines(width: number): readonly string[] {
  const lines: string[] = [];
  let isPaired = true;
  for (const [index, call] of CALLS.entries()) {
    const numbered = `${String(index + 1).padStart(2)} ${call}`;
    const pair = `${lines.at(-1)}   ${numbered.trimStart()}`;
    isPaired = !isPaired && pair.length <= width;
    if (isPaired) lines[lines.length - 1] = pair;
    else lines.push(`  ${numbered}`);
  }
  return lines;
}
