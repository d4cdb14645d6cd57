/**
 * A swapping proxy before an engine: it starts and stops models as they are asked for.
 *
 * What reaches an engine through `/upstream/<model>/…` starts that model. So nothing is asked there before `/running`
 * lists the model as ready, and where it does not, nothing is known.
 *
 * Source: delegation run, section 5.9 (behind llama-swap), 8.2
 */
import type { Seat } from "../core/config/seat.ts";
import { isArray, valueAt } from "../core/json/value.ts";
import type { SeatLook } from "../core/seat/endpoint.ts";
import type { Ask, Dialect, Said } from "./dialect.ts";
import { findModel, listedModels, lookOf, notServed, objectOf, objectsIn, textAt } from "./dialect.ts";
import { countSlots } from "./llama-cpp.ts";

type Running = { readonly model: string; readonly state: string };

const IN_TRANSITION = ["starting", "stopping", "shutdown"];

/** The dialect of an engine as it is reached through the proxy. */
export function behindSwap(engine: Dialect): Dialect {
  /** Asks the engine where its model is resident; null where it is not. */
  const upstream = async <T>(ask: Ask, seat: Seat, work: (ask: Ask) => Promise<T | null>): Promise<T | null> => {
    const [running, models] = await Promise.all([ask("/running"), ask("/v1/models")]);
    const ours = oursIn(runningIn(running) ?? [], models, seat);
    return ours?.state === "ready" ? work(upstreamOf(ask, ours.model)) : null;
  };
  return {
    async look(ask, seat) {
      const [running, models] = await Promise.all([ask("/running"), ask("/v1/models")]);
      if (running.isGone) return lookOf("gone", running.message);
      const listed = listedModels(models);
      if (listed !== null && findModel(listed, seat.model) === null) return notServed(listed, seat);
      const states = runningIn(running);
      if (states === null) return lookOf("unknown", running.message);
      return lookAt(states, oursIn(states, models, seat), ask, seat);
    },
    // The proxy says 429 where there is no room; it is not asked before.
    hasFreeSlot: async () => true,
    windowTokens: (ask, seat) => upstream(ask, seat, (engineAsk) => engine.windowTokens(engineAsk, seat)),
    // The proxy's own limit counts, and it does not tell it.
    totalSlots: async () => null,
    // Every count would have to look first whether the model is resident.
    countTokens: async () => null,
    loadedWindowTokens: (ask, seat) => upstream(ask, seat, (engineAsk) => engine.loadedWindowTokens(engineAsk, seat)),
    takesTools: (ask, seat) => upstream(ask, seat, (engineAsk) => engine.takesTools(engineAsk, seat)),
    build: (ask, seat) => upstream(ask, seat, (engineAsk) => engine.build(engineAsk, seat)),
  };
}

/** What a running list says of every model that is on its way; null where it is none. */
export function runningIn(said: Said): readonly Running[] | null {
  const body = objectOf(said);
  const list = body === null ? undefined : valueAt(body, "running");
  if (!isArray(list)) return null;
  return objectsIn(list).flatMap((entry) => {
    const model = textAt(entry, "model");
    const state = textAt(entry, "state");
    return model === null || state === null ? [] : [{ model, state }];
  });
}

async function lookAt(states: readonly Running[], ours: Running | null, ask: Ask, seat: Seat): Promise<SeatLook> {
  const named = `${seat.base_url}: "${seat.model}"`;
  if (ours?.state === "ready") {
    const slots = seat.engine === "llama.cpp" ? await upstreamOf(ask, ours.model)("/slots") : null;
    const counted = slots === null ? { busy_slots: null, total_slots: null } : countSlots(slots);
    return { state: "ready", ...counted, message: `${named} is ready` };
  }
  if (ours !== null && IN_TRANSITION.includes(ours.state)) return lookOf("loading", `${named} is ${ours.state}`);
  // While another model comes or goes, ours waits for it.
  const other = states.find(({ state }) => IN_TRANSITION.includes(state));
  if (other !== undefined) return lookOf("loading", `${named} waits: "${other.model}" is ${other.state}`);
  return lookOf("stopped", `${named} is not loaded`);
}

function oursIn(states: readonly Running[], models: Said, seat: Seat): Running | null {
  const id = findModel(listedModels(models) ?? [], seat.model)?.id ?? seat.model;
  return states.find(({ model }) => model === id || model === seat.model) ?? null;
}

/** A model's id may have slashes, which the proxy reads as they are. */
function upstreamOf(ask: Ask, model: string): Ask {
  const path = model.split("/").map(encodeURIComponent).join("/");
  return (rest, body) => ask(`/upstream/${path}${rest}`, body);
}
