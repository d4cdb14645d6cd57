/**
 * The structured form of an answer that came from elsewhere without one, made on a seat of this machine.
 *
 * Source: delegation run, section 5.11 point 5
 */
import type { Job, Repack } from "../core/delegation/wire-result.ts";
import { WritError } from "../core/error.ts";
import type { Slot } from "../core/seat/slot-line.ts";
import { freeSlot } from "./admission.ts";
import { type JobOptions, keepRates, openState } from "./job-state.ts";
import { waitUntilReady } from "./readiness.ts";
import { Sender } from "./sender.ts";
import { structureAnswer } from "./structured-step.ts";
import type { JobWorld } from "./world.ts";

const NOTE = "structured by the delegator";

/**
 * Makes the structured form of an answer, where a seat is ready and has a slot free at this moment: nothing is waited for.
 *
 * @param output  the answer in words, not blank
 * @param wall_ms what is left for it
 * @returns       the text to publish and how it was made; null where there is none
 * Errors:        none but defects
 */
export async function structureHere(
  world: JobWorld,
  job: Job,
  output: string,
  { wall_ms, ...options }: JobOptions & { readonly wall_ms: number },
): Promise<{ readonly structured: string; readonly repack: Repack } | null> {
  const state = openState(world, job, options, wall_ms);
  const { seat } = world;
  let slot: Slot | null = null;
  try {
    slot = await freeSlot(state);
    if (slot === null) return null;
    const { kind } = await waitUntilReady(state, 0, "admission");
    if (kind !== "ready" && kind !== "unknown") return null;
    const ctx = seat.ctx_tokens > 0 ? seat.ctx_tokens : await state.endpoint.windowTokens(state.signal);
    state.wall.start();
    const { structured, repack } = await structureAnswer(state, new Sender(state), output, ctx);
    keepRates(state);
    if (structured === null) return null;
    const note = repack.note === undefined ? NOTE : `${NOTE}; ${repack.note}`;
    return { structured, repack: { ...repack, note } };
  } catch (error) {
    if (error instanceof WritError) return null;
    throw error;
  } finally {
    slot?.release();
  }
}
