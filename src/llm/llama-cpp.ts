/** llama.cpp's server: it publishes its window, its slots and its template, and counts tokens. */
import { isArray, type JsonObject, valueAt } from "../core/json/value.ts";
import type { Ask, Dialect, Said } from "./dialect.ts";
import {
  countAt,
  findModel,
  listedModels,
  lookOf,
  notServed,
  objectAt,
  objectOf,
  objectsIn,
  textAt,
} from "./dialect.ts";

export const llamaCpp: Dialect = {
  async look(ask, seat) {
    const [health, models, slots] = await Promise.all([ask("/health"), ask("/v1/models"), ask("/slots")]);
    if (health.isGone) return lookOf("gone", health.message);
    if (health.status === 503) return lookOf("loading", `${seat.base_url} is loading "${seat.model}"`);
    const listed = listedModels(models);
    if (health.status !== 200 && listed === null) return lookOf("unknown", health.message);
    if (listed !== null && findModel(listed, seat.model) === null) return notServed(listed, seat);
    return { state: "ready", ...countSlots(slots), message: `${seat.base_url} is ready` };
  },
  async hasFreeSlot(ask) {
    const said = await ask("/slots?fail_on_no_slot=1");
    // It also says 503 while it loads; that is for the request to find out.
    return !(said.status === 503 && !/loading/i.test(said.text));
  },
  async windowTokens(ask) {
    const props = await propsOf(ask);
    return props === null ? null : countAt(objectAt(props, "default_generation_settings"), "n_ctx");
  },
  async totalSlots(ask) {
    const props = await propsOf(ask);
    return props === null ? null : countAt(props, "total_slots");
  },
  async countTokens(ask, text) {
    const said = objectOf(await ask("/tokenize", { content: text }));
    const tokens = said === null ? undefined : valueAt(said, "tokens");
    return isArray(tokens) ? tokens.length : null;
  },
  loadedWindowTokens: async () => null,
  async takesTools(ask) {
    const props = await propsOf(ask);
    return props === null ? null : takesTools(props);
  },
  async build(ask) {
    const props = await propsOf(ask);
    return props === null ? null : { version: textAt(props, "build_info"), template: textAt(props, "chat_template") };
  },
};

/**
 * Whether the chat template knows tools: where it does not, they are dropped without a word, also from a request that
 * says they are required. Null where the server is older than its answer to that.
 */
export function takesTools(props: JsonObject): boolean | null {
  const caps = objectAt(props, "chat_template_caps");
  const said = valueAt(caps, "supports_tools");
  return typeof said === "boolean" ? said : null;
}

async function propsOf(ask: Ask) {
  return objectOf(await ask("/props"));
}

/** Slots at work and slots in all, as `/slots` lists them; null where it is switched off. */
export function countSlots(said: Said): { readonly busy_slots: number | null; readonly total_slots: number | null } {
  const slots = said.status === 200 && isArray(said.body) ? objectsIn(said.body) : [];
  if (slots.length === 0) return { busy_slots: null, total_slots: null };
  const busy = slots.filter((slot) => valueAt(slot, "is_processing") === true);
  return { busy_slots: busy.length, total_slots: slots.length };
}
