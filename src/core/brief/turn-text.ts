/**
 * What a brief says of an open turn: its state, its gaps and how its last commands went, from its row and its record.
 *
 * It stands among the human sections: lines behind the intent, bullets of the open questions. Each is one line, begins
 * with a word of ours and is bounded, so that nothing a turn holds can open a section or a fence.
 */
import { NEVER_FINALIZED } from "../board/groups.ts";
import type { HandoffRow } from "../contract/repository.ts";
import { counted } from "../counted.ts";
import { isObject, type JsonObject, type JsonValue, valueAt } from "../json/value.ts";
import type { ToolRecord } from "../record/tool-record.ts";

export type OpenTurn = {
  readonly row: Pick<
    HandoffRow,
    "id" | "contract_id" | "agent_id" | "agent_name" | "agent_state" | "cut_reason" | "goal"
  >;
  /** Null where nothing was declared yet. */
  readonly envelope: JsonObject | null;
  /** Oldest first; its chain was recomputed. */
  readonly record: readonly ToolRecord[];
};

export type TurnText = {
  /** Stands for an intent that nobody gave; null where the turn was born without a goal. */
  readonly goal: string | null;
  /** The first line of that goal: stands for a title that neither was given nor comes from an intent. */
  readonly title: string | null;
  /** Behind the intent, never none. */
  readonly lines: readonly string[];
  /** Bullets behind the open questions. */
  readonly questions: readonly string[];
};

/** How the line that names the turn begins. */
const OPEN_TURN = "Open turn: ";

/** The contract id of the turn that an intent tells of; null where it tells of none. */
export function turnOf(intent: string): string | null {
  const line = intent.split("\n").find((one) => one.startsWith(OPEN_TURN)) ?? "";
  const [id = ""] = line.slice(OPEN_TURN.length).split(" ", 1);
  return id === "" ? null : id;
}

/** How many commands of each kind, pending steps and gaps are quoted; more are counted. */
const MOST_QUOTED = { commands: 5, steps: 10, gaps: 20 } as const;
const LONGEST_QUOTE = 300;

/**
 * A command counts by its newest run: one that ended with 0 is verified, one that ended otherwise is an open question,
 * one of which nobody said how it ended is neither.
 */
export function turnText({ row, envelope, record }: OpenTurn): TurnText {
  const gaps = listAt(envelope, "evidence_report", "open_gaps");
  const steps = listAt(envelope, "agent_status", "pending_steps") ?? [];
  const next = textAt(envelope, "agent_status", "next_action");
  const runs = newestRuns(record);
  const passed = runs.filter(({ outcome }) => outcome === "exit 0");
  const failed = runs.filter(({ outcome }) => outcome !== "exit 0" && outcome !== null);
  const cut = row.cut_reason === null || row.cut_reason === NEVER_FINALIZED ? "" : `, cut: ${row.cut_reason}`;
  const goal = (row.goal ?? "").trim();
  return {
    goal: goal === "" ? null : `Goal of the turn: ${shown(goal)}`,
    title: goal === "" ? null : shown(goal.split("\n", 1)[0] ?? ""),
    lines: [
      `${OPEN_TURN}${shown(row.contract_id)} of ${shown(row.agent_name ?? row.agent_id)} (row ${row.id}), ${shown(row.agent_state)}${cut}`,
      `Record: ${counted(record.length, "entry", "entries")}, ${counted(runs.length, "command")}; open gaps: ${gaps === null ? "none declared yet" : gaps.length}`,
      ...(next === null ? [] : [`Next action: ${shown(next)}`]),
      ...bounded(steps, MOST_QUOTED.steps, "Pending", (step) => `Pending: ${shown(step)}`),
      ...bounded(passed, MOST_QUOTED.commands, "Verified", (run) => `Verified: ${runText(run)}`),
    ],
    questions: [
      ...bounded(gaps ?? [], MOST_QUOTED.gaps, "gap", (gap) => `gap: ${shown(gap)}`),
      ...bounded(failed, MOST_QUOTED.commands, "failing", (run) => `failing: ${runText(run)}`),
    ],
  };
}

type Run = { readonly entry: ToolRecord; readonly command: string; readonly outcome: string | null };

/** The newest run of each command of the record, newest first. */
function newestRuns(record: readonly ToolRecord[]): readonly Run[] {
  const runs = new Map<string, Run>();
  for (const entry of record.toReversed()) {
    const { tool, command } = entry;
    if (tool === "bash" && command !== null && !runs.has(command)) {
      runs.set(command, { entry, command, outcome: outcomeOf(entry) });
    }
  }
  return [...runs.values()];
}

function outcomeOf({ signal, exit_code, failed }: ToolRecord): string | null {
  if (signal !== null) return signal;
  if (exit_code !== null) return `exit ${exit_code}`;
  return failed ? "failed" : null;
}

function runText({ entry, command, outcome }: Run): string {
  return `${quoted(command)} - ${outcome}${entry.ended_at === null ? "" : ` at ${entry.ended_at}`}, entry ${entry.seq} of the record`;
}

function bounded<T>(all: readonly T[], most: number, word: string, line: (one: T) => string): readonly string[] {
  const further = all.length - most;
  return [...all.slice(0, most).map(line), ...(further > 0 ? [`${word}: ${further} more`] : [])];
}

/** A command to the letter: in backticks where that is plain, else as a JSON string. */
function quoted(command: string): string {
  return /[\p{C}`]/u.test(command) ? cut(escaped(command)) : `\`${cut(command)}\``;
}

/** A value on one line. */
function shown(value: JsonValue): string {
  const text = typeof value === "string" ? value.trim() : JSON.stringify(value);
  return cut(text === "" || /\p{C}/u.test(text) ? escaped(text) : text);
}

/** A JSON string in which nothing hides: format characters would reorder what a terminal shows. */
function escaped(text: string): string {
  return JSON.stringify(text).replace(/[\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g, (char) => {
    return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

function cut(text: string): string {
  const points = [...text.slice(0, 2 * LONGEST_QUOTE + 2)];
  return points.length <= LONGEST_QUOTE ? text : `${points.slice(0, LONGEST_QUOTE).join("")}…`;
}

function memberAt(envelope: JsonObject | null, level: string, key: string): JsonValue | undefined {
  const holder = envelope === null ? undefined : valueAt(envelope, level);
  return isObject(holder) ? valueAt(holder, key) : undefined;
}

/** Null where there is no such list. */
function listAt(envelope: JsonObject | null, level: string, key: string): readonly JsonValue[] | null {
  const value = memberAt(envelope, level, key);
  return Array.isArray(value) ? value : null;
}

function textAt(envelope: JsonObject | null, level: string, key: string): string | null {
  const value = memberAt(envelope, level, key);
  return typeof value === "string" && value.trim() !== "" ? value : null;
}
