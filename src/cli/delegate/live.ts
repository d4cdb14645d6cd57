/**
 * Progress on a terminal: one line a leg and one over them, painted over at most ten times a second. The cursor is hidden
 * meanwhile and shown again on every way out.
 *
 * Source: delegation run, section 1.5
 */
import { counted } from "../../core/counted.ts";
import type { DelegateEvent } from "../../delegate/world.ts";
import { clockText, cutColumns, LegBoard, type LegState, phaseOf } from "./leg-board.ts";

export type Screen = {
  write(text: string): void;
  /** Of the terminal as it is now. */
  size(): { readonly columns: number; readonly rows: number };
};

export type Display = {
  take(event: DelegateEvent): void;
  /** A line that stays. */
  say(text: string): void;
  /** Nothing is painted any more, and the cursor is there. */
  close(): void;
};

type Timers = {
  now(): number;
  /** Calls back after so many milliseconds; what it returns takes that back. */
  after(ms: number, call: () => void): () => void;
};

const REPAINT_MS = 100;
const SECOND_MS = 1000;
const WIDEST_WHERE = 28;
const HIDE = "\x1b[?25l";
const SHOW = "\x1b[?25h";
const CLEAR_BELOW = "\x1b[J";

export function openLiveDisplay(screen: Screen, timers: Timers): Display {
  return new LiveDisplay(screen, timers);
}

class LiveDisplay implements Display {
  private readonly board: LegBoard;
  private painted = 0;
  private paintedAt = Number.NEGATIVE_INFINITY;
  private cancel: (() => void) | null = null;
  private isOpen = true;

  constructor(
    private readonly screen: Screen,
    private readonly timers: Timers,
  ) {
    this.board = new LegBoard(timers.now);
    screen.write(HIDE);
  }

  take(event: DelegateEvent): void {
    this.board.take(event);
    if (event.kind === "notice") this.say(`writ: ${event.text}`);
    else this.paintSoon();
  }

  say(text: string): void {
    if (!this.isOpen) {
      this.screen.write(`${text}\n`);
      return;
    }
    this.erase();
    this.screen.write(`${text}\n`);
    this.paint();
  }

  close(): void {
    if (!this.isOpen) return;
    this.cancel?.();
    this.erase();
    this.screen.write(SHOW);
    this.isOpen = false;
  }

  private paintSoon(): void {
    if (!this.isOpen) return;
    const wait = this.paintedAt + REPAINT_MS - this.timers.now();
    if (wait <= 0) this.paint();
    else this.schedule(wait);
  }

  private schedule(ms: number): void {
    this.cancel?.();
    this.cancel = this.timers.after(ms, () => this.paint());
  }

  private paint(): void {
    if (!this.isOpen) return;
    const lines = this.lines();
    this.erase();
    this.screen.write(`${lines.join("\n")}\n`);
    this.painted = lines.length;
    this.paintedAt = this.timers.now();
    // The clocks go on also where nothing happens.
    this.schedule(SECOND_MS);
  }

  private erase(): void {
    if (this.painted > 0) this.screen.write(`\r\x1b[${this.painted}A${CLEAR_BELOW}`);
    this.painted = 0;
  }

  private lines(): readonly string[] {
    const { columns, rows } = this.screen.size();
    const { board } = this;
    const now = this.timers.now();
    const head = [
      `writ  route ${board.route}`,
      counted(board.legs.length, "leg"),
      `${board.count("done")} done`,
      ...(board.count("waiting") > 0 ? [`${board.count("waiting")} waiting`] : []),
      clockText(now - board.startedMs),
    ].join("  ");
    const shown = this.shownLegs(Math.max(1, rows - 3));
    const where = Math.min(
      WIDEST_WHERE,
      Math.floor(columns / 3),
      Math.max(0, ...shown.map(([leg]) => leg.where.length)),
    );
    const hidden = board.legs.length - shown.length;
    return [
      cutColumns(head, columns),
      ...shown.map(([leg, index]) => this.line(leg, index, where, columns, now)),
      ...(hidden > 0 ? [cutColumns(`… ${hidden} more`, columns)] : []),
    ];
  }

  private line(leg: LegState, index: number, where: number, columns: number, now: number): string {
    const time = leg.kind === "new" ? "" : clockText((leg.until_ms ?? now) - leg.since_ms);
    const place = cutColumns(leg.where, where);
    const padded = place + " ".repeat(Math.max(0, where - Bun.stringWidth(place)));
    const head = `[${index + 1}] ${padded}  `;
    const room = Math.max(1, columns - Bun.stringWidth(head) - time.length - 3);
    const phase = cutColumns(phaseOf(leg, now), room);
    const gap = " ".repeat(Math.max(1, room - Bun.stringWidth(phase) + 1));
    return cutColumns(`${head}${phase}${time === "" ? "" : gap + time}`.trimEnd(), columns - 1);
  }

  /** All of them where there is room; else those that go on, then those that wait, then those that have ended. */
  private shownLegs(most: number): readonly (readonly [LegState, number])[] {
    const all = this.board.legs.map((leg, index) => [leg, index] as const);
    if (all.length <= most) return all;
    const order: readonly LegState["kind"][] = ["running", "waiting", "new", "done"];
    const chosen = order.flatMap((kind) => all.filter(([leg]) => leg.kind === kind)).slice(0, most);
    return chosen.sort(([, left], [, right]) => left - right);
  }
}
