/**
 * Where each leg of a call is, kept up to date from its events: what both forms of progress are made from. Nothing is
 * decided by it.
 *
 * Source: delegation run, section 1.5
 */
import type { JobProgress } from "../../core/delegation/wire-result.ts";
import type { Silence } from "../../core/placement/port.ts";
import type { DelegateEvent } from "../../delegate/world.ts";
import { oneLine } from "../table.ts";

export type LegState = {
  /** `node/seat`; "—" before it is placed. */
  where: string;
  /** Waiting for room, queued, a step; cut to nothing. What was last heard of it, where its place is silent. */
  phase: string;
  /** Its place does not answer; null while it does. */
  silence: (Omit<Silence, "silent_ms"> & { readonly since_ms: number }) | null;
  /** When it was placed, or began to wait; monotonic milliseconds. */
  since_ms: number;
  /** When it ended; null while it goes on. */
  until_ms: number | null;
  kind: "new" | "waiting" | "running" | "done";
};

const ARGUMENT_COLUMNS = 32;
const WHY_COLUMNS = 120;
export const NOWHERE = "—";

export class LegBoard {
  route = "auto";
  readonly legs: LegState[] = [];
  readonly startedMs: number;

  constructor(private readonly now: () => number) {
    this.startedMs = now();
  }

  count(kind: LegState["kind"]): number {
    return this.legs.filter((leg) => leg.kind === kind).length;
  }

  take(event: DelegateEvent): void {
    if (event.kind === "started") {
      this.route = event.route;
      for (let index = 0; index < event.legs; index += 1) {
        this.legs.push({ where: NOWHERE, phase: "", silence: null, since_ms: this.now(), until_ms: null, kind: "new" });
      }
      return;
    }
    if (event.kind === "notice") return;
    const leg = this.legs[event.index];
    if (leg !== undefined) this.change(leg, event);
  }

  private change(leg: LegState, event: Exclude<DelegateEvent, { kind: "started" | "notice" }>): void {
    leg.silence = null;
    switch (event.kind) {
      case "silent": {
        const { silent_ms, why, elsewhere_ms, given_up_ms } = event;
        leg.silence = { since_ms: this.now() - silent_ms, why: oneLine(why), elsewhere_ms, given_up_ms };
        break;
      }
      case "waiting":
        // It may be told again why: the wait is the same.
        if (leg.kind !== "waiting") leg.since_ms = this.now();
        Object.assign(leg, { where: NOWHERE, kind: "waiting" });
        leg.phase = `waiting for room: ${oneLine(event.why)}`;
        break;
      case "placed": {
        const where = `${oneLine(event.node)}/${oneLine(event.seat)}`;
        if (leg.kind === "new" || leg.kind === "waiting") leg.since_ms = this.now();
        leg.phase = event.attempt === "retry" ? `retry on ${where}` : "starting";
        Object.assign(leg, { where, kind: "running" });
        break;
      }
      case "queued": {
        const about = event.about_sec === null ? "" : ` (about ${Math.round(event.about_sec)}s)`;
        leg.phase = `queued${event.position === null ? "" : ` ${ordinal(event.position)}`}${about}`;
        break;
      }
      case "progress":
        leg.phase = phaseText(event.progress);
        break;
      case "refused":
        leg.phase = `refused: ${oneLine(event.said)}`;
        break;
      case "done": {
        const { node, seat, status, scripted } = event.result;
        if (node !== "") leg.where = `${oneLine(node)}/${oneLine(seat)}`;
        leg.phase = `done  ${status}${scripted === true ? " (scripted)" : ""}`;
        if (leg.kind === "new") leg.since_ms = this.now();
        leg.until_ms = this.now();
        leg.kind = "done";
        break;
      }
      default:
        event satisfies never;
    }
  }
}

/** What a leg is doing now: of a silent place, for how long, and what comes next. */
export function phaseOf({ phase, silence }: LegState, now_ms: number): string {
  if (silence === null) return phase;
  const { elsewhere_ms, given_up_ms } = silence;
  const next =
    elsewhere_ms === null
      ? `waited for until ${secondsText(given_up_ms)}`
      : `another place at ${secondsText(elsewhere_ms)}`;
  return `no answer for ${secondsText(now_ms - silence.since_ms)}, ${next} (${cutColumns(silence.why, WHY_COLUMNS)})`;
}

/** `12s` */
export function secondsText(ms: number): string {
  return `${Math.round(ms / 1000)}s`;
}

/** `step 3/12  read_file release-a.md`. What a node says is a stranger's: bounded and stripped. */
export function phaseText(progress: JobProgress): string {
  const { phase, step, max_steps, tokens } = progress;
  switch (phase) {
    case "admission":
      return "loading model";
    case "contention":
      return "seat busy";
    case "seat_down":
      return "seat down, waiting";
    case "repack":
      return "structuring";
    case "tool": {
      const argument = cutColumns(oneLine(progress.arg), ARGUMENT_COLUMNS);
      return `step ${step}/${max_steps}  ${cutColumns(oneLine(progress.tool), 64)} ${argument}`.trimEnd();
    }
    case "prefill":
      return `step ${step}/${max_steps}  reading`;
    case "decoding":
      return `step ${step}/${max_steps}  thinking${tokens === 0 ? "" : `  ${tokens} tok`}`;
    default:
      return phase satisfies never;
  }
}

/** `00:41`, or `1:02:03`. */
export function clockText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const two = (value: number) => String(value).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  const rest = `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return hours === 0 ? rest : `${hours}:${rest}`;
}

/** The text in no more than so many columns, with an ellipsis where it was cut. */
export function cutColumns(text: string, columns: number): string {
  if (Bun.stringWidth(text) <= columns) return text;
  let kept = "";
  let width = 0;
  for (const character of text) {
    width += Bun.stringWidth(character);
    if (width > columns - 1) break;
    kept += character;
  }
  return `${kept}…`;
}

function ordinal(position: number): string {
  const tens = Math.floor(position / 10) % 10;
  const suffix = tens === 1 ? "th" : (["th", "st", "nd", "rd"][position % 10] ?? "th");
  return `${position}${suffix}`;
}
