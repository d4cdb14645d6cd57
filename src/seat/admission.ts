/**
 * What stands between a job and its seat before the wall starts: a slot, a model that is loaded, and, after a load, a
 * sign that it is sound.
 *
 * Source: delegation run, sections 5.10 (coherence probe), 8.2 and 8.3
 */
import { prefillAllowanceMs } from "../core/seat/allowance.ts";
import { degenerateRun } from "../core/seat/degenerate.ts";
import { LOOP_LIMITS } from "../core/seat/limits.ts";
import { canceled, type Defer, incoherent, modelNotServed, seatBusy, seatLoading } from "../core/seat/reasons.ts";
import type { Slot, SlotTaken } from "../core/seat/slot-line.ts";
import { PRESUMED_SLOTS } from "../core/seat/slots.ts";
import type { JobState } from "./job-state.ts";
import { waitUntilReady } from "./readiness.ts";
import { boundBy } from "./wall.ts";

type Taken = { readonly ok: true; readonly slot: Slot } | { readonly ok: false; readonly defer: Defer };

/** Waits in the line for a slot of the seat. Errors: `state_failed` */
export async function takeSlot(state: JobState): Promise<Taken> {
  const { world, signal, waits, progress } = state;
  const bound_ms = world.limits.slot_wait_sec * 1000;
  let hasWaited = false;
  const taken = await take(state, bound_ms, (waited_ms) => {
    hasWaited = true;
    progress.say("contention", { idle_ms: waited_ms, allowance_ms: bound_ms });
  });
  // What it takes to find a free slot is no wait for others.
  waits.line_ms = hasWaited ? taken.waited_ms : 0;
  if (taken.kind === "taken" && !signal.aborted) return { ok: true, slot: taken.slot };
  if (taken.kind === "taken") taken.slot.release();
  return { ok: false, defer: signal.aborted ? canceled() : seatBusy(taken.waited_ms) };
}

/** A slot that is free at this moment; null where there is none. Errors: `state_failed` */
export async function freeSlot(state: JobState): Promise<Slot | null> {
  const taken = await take(state, 0, () => {});
  return taken.kind === "taken" ? taken.slot : null;
}

async function take(state: JobState, bound_ms: number, onWait: (waited_ms: number) => void): Promise<SlotTaken> {
  const { world, endpoint, signal, seat_key } = state;
  const { seat } = world;
  const slots = seat.slots > 0 ? seat.slots : ((await endpoint.totalSlots(signal)) ?? PRESUMED_SLOTS[seat.engine]);
  return world.slotLine.take(seat_key, slots, { signal, bound_ms, onWait: ({ waited_ms }) => onWait(waited_ms) });
}

/** Waits until the seat serves its model; a model that was just loaded is tried. Null: the job may begin. */
export async function admit(state: JobState): Promise<Defer | null> {
  const { world, waits, meter, seat_key } = state;
  const ready = await waitUntilReady(state, world.limits.admission_wait_sec * 1000, "admission");
  waits.admission_ms += ready.waited_ms;
  meter.hadCompany = ready.busy_slots !== null && ready.busy_slots > 0;
  switch (ready.kind) {
    case "aborted":
      return canceled();
    case "not_served":
      return modelNotServed(ready.message);
    case "over":
      return seatLoading(ready.waited_ms, ready.message);
    case "unknown":
      // The run will show the real fault.
      waits.admission_note = ready.message;
      return null;
    case "ready":
      if (ready.load_ms !== null) world.rates.add(seat_key, { cold_load_sec: ready.load_ms / 1000 });
      return ready.wasCold ? probe(state) : null;
    default:
      return ready.kind satisfies never;
  }
}

const PROBE = "Say in one short sentence what a file is.";

/** A few tokens of a model that was just loaded: a broken one shows at once. Any other fault shows in the run. */
async function probe(state: JobState): Promise<Defer | null> {
  const { world, endpoint, signal, waits } = state;
  const began = world.clock.ms();
  const prefill_ms = prefillAllowanceMs(1, null);
  const longest_ms = prefill_ms + LOOP_LIMITS.decoding_allowance_ms;
  const bound = boundBy(world, signal, () => began + longest_ms - world.clock.ms());
  try {
    const outcome = await endpoint.chat(
      {
        messages: [{ role: "user", content: PROBE }],
        tools: [],
        max_tokens: LOOP_LIMITS.probe_tokens,
        thinking: "off",
        constraint: null,
      },
      {
        signal: bound.signal,
        allowance_ms: (phase) => (phase === "prefill" ? prefill_ms : LOOP_LIMITS.decoding_allowance_ms),
        look: async () => "abort",
        onProgress: () => {},
      },
    );
    if (signal.aborted) return canceled();
    if (outcome.kind !== "answered") return null;
    const { content, reasoning } = outcome.completion;
    const broken = degenerateRun(content.trim() === "" ? reasoning : content);
    return broken === null ? null : incoherent(broken);
  } finally {
    bound.release();
    waits.admission_ms += world.clock.ms() - began;
  }
}
