/**
 * Waiting until a seat serves its model: before a job begins, when an answer says that it loads, and when it went down.
 *
 * Source: delegation run, sections 5.10 and 8.2
 */
import type { ChatOutcome, Watch } from "../core/seat/endpoint.ts";
import { LOOP_LIMITS } from "../core/seat/limits.ts";
import type { JobState } from "./job-state.ts";
import { boundBy } from "./wall.ts";

export type Readiness = {
  /** "unknown": the server does not tell; the next request will show. */
  readonly kind: "ready" | "unknown" | "not_served" | "over" | "aborted";
  readonly message: string;
  readonly waited_ms: number;
  /** The model was not there at first. */
  readonly wasCold: boolean;
  /** How long the load took that was started here; null where none was. */
  readonly load_ms: number | null;
  /** Slots of the server that others held; null where it does not tell. */
  readonly busy_slots: number | null;
};

/**
 * Looks at the seat until it is ready, every two seconds; a model that a proxy has not loaded is asked for one token.
 *
 * @param budget_ms 0 or less looks once
 * @param phase     what is said of a wait
 */
export async function waitUntilReady(
  state: JobState,
  budget_ms: number,
  phase: "admission" | "seat_down",
): Promise<Readiness> {
  const { world, endpoint, signal, progress } = state;
  const began = world.clock.ms();
  const waited = () => world.clock.ms() - began;
  let wasCold = false;
  let warmUps = 0;
  for (;;) {
    const { state: seen, message, busy_slots } = await endpoint.look(signal);
    const end = (kind: Readiness["kind"], said = message, load_ms: number | null = null): Readiness => {
      return { kind, message: said, waited_ms: wasCold ? waited() : 0, wasCold, load_ms, busy_slots };
    };
    if (signal.aborted) return end("aborted");
    if (seen === "ready" || seen === "unknown" || seen === "not_served") return end(seen);
    wasCold = true;
    const left = budget_ms - waited();
    if (left <= 0) return end("over");
    progress.say(phase, { idle_ms: waited(), allowance_ms: budget_ms });
    if (seen === "stopped" && warmUps < LOOP_LIMITS.warm_ups) {
      warmUps += 1;
      const loading = world.clock.ms();
      const outcome = await warmUp(state, left);
      if (signal.aborted) return end("aborted");
      if (outcome?.kind === "answered") return end("ready", message, world.clock.ms() - loading);
      if (outcome?.kind === "not_served") return end("not_served", outcome.message);
      if (outcome?.kind === "refused") return end("unknown", outcome.message);
    }
    await world.sleep(Math.max(0, Math.min(LOOP_LIMITS.ready_poll_ms, budget_ms - waited())), signal);
  }
}

async function warmUp({ world, endpoint, signal }: JobState, left_ms: number): Promise<ChatOutcome | null> {
  const until = world.clock.ms() + left_ms;
  const bound = boundBy(world, signal, () => until - world.clock.ms());
  const watch: Watch = {
    signal: bound.signal,
    allowance_ms: () => left_ms,
    look: async () => "wait",
    onProgress: () => {},
  };
  try {
    return await endpoint.warmUp(watch);
  } finally {
    bound.release();
  }
}
