/**
 * Making room in a conversation: the cheapest loss first, the oldest first, and never what was asked or the newest
 * result.
 *
 * Nothing comes back: what is lost in one request stays lost in the next, so that the beginning of a conversation stays
 * the same and a server finds it in its cache.
 * Source: delegation run, section 5.8
 */
import { utf8Length } from "../utf8.ts";
import { type History, messagesOf, type ToolResult, type Turn } from "./history.ts";
import { LOOP_LIMITS } from "./limits.ts";
import { cutMiddle, messageBytes } from "./window.ts";

export type Compacted = {
  readonly history: History;
  /** Results that are no longer whole in it, and were in the one before. */
  readonly lost: readonly string[];
  readonly fits: boolean;
};

/**
 * Makes a conversation small enough.
 *
 * @param budget_bytes of all messages, as far as a model reads them
 * @param note         is sent behind the conversation and needs room
 * @returns            the same for the same; as it was where it fits already
 */
export function compact(history: History, budget_bytes: number, note: string | null = null): Compacted {
  const room = new Room(history, note, budget_bytes);
  room.replaceCopies();
  room.cut((result) => !result.isPinned, toEnds);
  room.cut((result) => !result.isPinned, toMarker);
  room.dropTurns();
  room.cut((result) => result.isPinned, toEnds);
  room.cut((result) => result.isPinned, toMarker);
  return room.done();
}

/**
 * Cuts every result, also the newest, to what one result may keep: the window turned out to be smaller than it was when
 * they were made.
 */
export function capResults(history: History, characters: number): History {
  const capped = (result: ToolResult): ToolResult => {
    if (result.text.length <= characters || result.state !== "whole") return result;
    return { ...result, text: cutMiddle(result.text, characters), state: "ends" };
  };
  return { ...history, turns: history.turns.map((turn) => ({ ...turn, results: turn.results.map(capped) })) };
}

/** The results that are whole in one conversation and no longer in the next. */
export function lostBetween(before: History, after: History): readonly string[] {
  const whole = wholeIds(after);
  return [...wholeIds(before)].filter((id) => !whole.has(id));
}

class Room {
  private readonly turns: Turn[];
  private size: number;
  private readonly newest: string | null;

  constructor(
    private readonly history: History,
    note: string | null,
    private readonly budget: number,
  ) {
    this.turns = [...history.turns];
    this.size = messageBytes(messagesOf(history, note));
    this.newest = history.turns.at(-1)?.results.at(-1)?.call_id ?? null;
  }

  /** A result that a later one repeats to the letter says so instead. */
  replaceCopies(): void {
    const results = this.turns.flatMap((turn) => turn.results);
    const last = new Map<string, ToolResult>();
    for (const result of results) if (result.state === "whole") last.set(result.text, result);
    this.change((result) => {
      const later = last.get(result.text);
      if (result.isPinned || result.state !== "whole" || later === undefined || later === result) return result;
      const text = `(the same as the later result of ${later.tool}, call ${later.call_id})`;
      return { ...result, text, state: "reference", same_as: later.call_id };
    });
  }

  cut(isMeant: (result: ToolResult) => boolean, cutting: (result: ToolResult) => ToolResult): void {
    this.change((result) => (isMeant(result) ? cutting(result) : result));
  }

  /** Whole turns from the middle: those between what was read at first and the newest. */
  dropTurns(): void {
    for (let at = 0; at < this.turns.length - 1 && this.isOver(); ) {
      const turn = this.turns[at];
      if (turn === undefined || turn.results.some((result) => result.isPinned)) {
        at += 1;
        continue;
      }
      this.size -= messageBytes(messagesOf({ system: "", user: "", turns: [turn] }, null));
      this.turns.splice(at, 1);
    }
  }

  done(): Compacted {
    const history = { ...this.history, turns: this.turns };
    return { history, lost: lostBetween(this.history, history), fits: !this.isOver() };
  }

  private isOver(): boolean {
    return this.size > this.budget;
  }

  /** Changes results one by one, the oldest first, as long as there is too much; a change that saves nothing is none. */
  private change(changed: (result: ToolResult) => ToolResult): void {
    for (const [at, turn] of this.turns.entries()) {
      for (const [index, result] of turn.results.entries()) {
        if (!this.isOver()) return;
        if (result.call_id === this.newest) continue;
        const next = changed(result);
        const saved = utf8Length(result.text) - utf8Length(next.text);
        if (saved <= 0) continue;
        this.size -= saved;
        const results = (this.turns[at] ?? turn).results.with(index, next);
        this.turns[at] = { ...turn, results };
      }
    }
  }
}

function toEnds(result: ToolResult): ToolResult {
  const { kept_ends } = LOOP_LIMITS;
  if (result.state !== "whole" || result.text.length <= 2 * kept_ends) return result;
  return { ...result, text: cutMiddle(result.text, 2 * kept_ends), state: "ends" };
}

function toMarker(result: ToolResult): ToolResult {
  if (result.state === "marker") return result;
  return { ...result, text: `(the result of ${result.tool} was removed to make room)`, state: "marker" };
}

/** Results whose text stands in a conversation, be it in another place. */
function wholeIds({ turns }: History): ReadonlySet<string> {
  const results = turns.flatMap((turn) => turn.results);
  const whole = new Set(results.filter(({ state }) => state === "whole").map(({ call_id }) => call_id));
  for (const { call_id, state, same_as } of results.toReversed()) {
    if (state === "reference" && same_as !== undefined && whole.has(same_as)) whole.add(call_id);
  }
  return whole;
}
