/**
 * Progress where there is no terminal: a line for each change of state, and for each leg that goes on one every 15 s.
 *
 * Source: delegation run, section 1.5
 */
import type { JobPhase, JobProgress } from "../../core/delegation/wire-result.ts";
import type { Silence } from "../../core/placement/port.ts";
import type { DelegateEvent } from "../../delegate/world.ts";
import { oneLine } from "../table.ts";
import { secondsText } from "./leg-board.ts";
import type { Display } from "./live.ts";

const HEARTBEAT_MS = 15_000;

type Timers = {
  now(): number;
  /** Calls back every so many milliseconds until what it returns is called. */
  every(ms: number, call: () => void): () => void;
};

/** Waits of which a person wants to know that they began. */
const TOLD: Readonly<Partial<Record<JobPhase, string>>> = {
  admission: "loading model",
  contention: "seat busy",
  seat_down: "seat down",
};

type Running = {
  readonly since_ms: number;
  told_ms: number;
  phase: JobPhase | null;
  progress: JobProgress | null;
  queued: string;
  silence: Silent | null;
};

/** A place that does not answer. */
type Silent = Omit<Silence, "silent_ms"> & { readonly node: string; readonly since_ms: number };

/** @param say gets whole lines, without their end */
export function openPlainDisplay(say: (line: string) => void, timers: Timers): Display {
  const running = new Map<number, Running>();
  const leg = (index: number, text: string) => say(`writ: leg ${index + 1} ${text}`);
  const beat = () => {
    const now = timers.now();
    for (const [index, state] of running) {
      if (now - state.told_ms < HEARTBEAT_MS) continue;
      state.told_ms = now;
      const doing = state.silence === null ? stepText(state.progress) : silenceText(state.silence, now);
      leg(index, `${doing} elapsed=${secondsText(now - state.since_ms)}`);
    }
  };
  /** A word of a place that was silent. */
  const heard = (index: number) => {
    const state = running.get(index);
    if (state === undefined || state.silence === null) return;
    leg(index, `${state.silence.node} answers again, after ${secondsText(timers.now() - state.silence.since_ms)}`);
    state.silence = null;
  };
  const stop = timers.every(1000, beat);
  const take = (event: DelegateEvent) => {
    switch (event.kind) {
      case "started":
        return;
      case "notice":
        return say(`writ: ${event.text}`);
      case "waiting":
        return leg(event.index, `waiting for room: ${oneLine(event.why)}`);
      case "placed": {
        const now = timers.now();
        running.set(event.index, {
          since_ms: now,
          told_ms: now,
          phase: null,
          progress: null,
          queued: "",
          silence: null,
        });
        const kind = event.attempt === "first" ? "" : ` attempt=${event.attempt}`;
        const where = `node=${oneLine(event.node)} seat=${oneLine(event.seat)}`;
        return leg(event.index, `placed ${where}${kind} reason="${oneLine(event.reason)}"`);
      }
      case "silent": {
        const state = running.get(event.index);
        if (state === undefined) return;
        const now = timers.now();
        const { silent_ms, why, elsewhere_ms, given_up_ms } = event;
        const silence = {
          node: oneLine(event.node),
          why: oneLine(why).slice(0, 200),
          since_ms: now - silent_ms,
          elsewhere_ms,
          given_up_ms,
        };
        state.silence = silence;
        state.told_ms = now;
        return leg(event.index, silenceText(silence, now));
      }
      case "queued": {
        heard(event.index);
        const position = event.position === null ? "" : ` position=${event.position}`;
        const about = event.about_sec === null ? "" : ` about=${Math.round(event.about_sec)}s`;
        const state = running.get(event.index);
        // A place that is asked again and again says the same.
        if (state === undefined || state.queued === `q${position}`) return;
        state.queued = `q${position}`;
        return leg(event.index, `queued${position}${about}`);
      }
      case "refused":
        running.delete(event.index);
        return leg(event.index, `refused node=${oneLine(event.node)} said="${oneLine(event.said)}"`);
      case "progress": {
        heard(event.index);
        const state = running.get(event.index);
        if (state === undefined) return;
        const before = state.phase;
        state.phase = event.progress.phase;
        state.progress = event.progress;
        const told = before === state.phase ? undefined : TOLD[state.phase];
        if (told !== undefined) leg(event.index, told);
        return;
      }
      case "done": {
        running.delete(event.index);
        const { status, defer_class, steps, wall_ms, reason, scripted, capacity_wait_sec = 0 } = event.result;
        const parts = [
          `done status=${status}`,
          ...(defer_class === undefined ? [] : [`class=${oneLine(defer_class)}`]),
          ...(steps === undefined ? [] : [`steps=${steps}`]),
          `wall=${secondsText(wall_ms)}`,
          // Before it was placed no wall runs.
          ...(capacity_wait_sec >= 1 ? [`waited=${secondsText(capacity_wait_sec * 1000)}`] : []),
          ...(scripted === true ? ["(scripted)"] : []),
          // What a check wanted and found is the contract's and the answer's: it stands in the result.
          ...(reason === undefined || status === "failed_verification"
            ? []
            : [`reason="${oneLine(reason).slice(0, 200)}"`]),
        ];
        return leg(event.index, parts.join(" "));
      }
      default:
        return event satisfies never;
    }
  };
  return { take, say, close: stop };
}

function stepText(progress: JobProgress | null): string {
  if (progress === null) return "running";
  const { phase, step, max_steps, tool } = progress;
  if (TOLD[phase] !== undefined) return TOLD[phase] ?? "";
  if (phase === "repack") return "structuring";
  return `step ${step}/${max_steps}${tool === "" ? "" : ` tool=${oneLine(tool).slice(0, 64)}`}`;
}

/** `no answer from gpu-a for 12s (connection refused); another place is looked for at 60s` */
function silenceText({ node, why, since_ms, elsewhere_ms, given_up_ms }: Silent, now_ms: number): string {
  const next =
    elsewhere_ms === null
      ? `no other place takes the leg, and it is waited for until ${secondsText(given_up_ms)}`
      : `another place is looked for at ${secondsText(elsewhere_ms)}`;
  return `no answer from ${node} for ${secondsText(now_ms - since_ms)} (${why}); ${next}`;
}
