/** vLLM: its models list holds the window; while it loads nothing listens. */
import type { Dialect } from "./dialect.ts";
import { findModel, listedModels, lookByModels, lookOf, objectOf, textAt } from "./dialect.ts";

export const vllm: Dialect = {
  async look(ask, seat) {
    const [health, models] = await Promise.all([ask("/health"), ask("/v1/models")]);
    if (health.isGone) return lookOf("gone", `${health.message} (a vllm server that loads does not listen yet)`);
    if (health.status !== 200) return lookOf("unknown", health.message);
    return lookByModels(models, seat, (listed) => findModel(listed, seat.model) !== null);
  },
  hasFreeSlot: async () => true,
  async windowTokens(ask, seat) {
    const models = listedModels(await ask("/v1/models"));
    return models === null ? null : (findModel(models, seat.model)?.max_model_len ?? null);
  },
  totalSlots: async () => null,
  countTokens: async () => null,
  loadedWindowTokens: async () => null,
  takesTools: async () => null,
  async build(ask) {
    const said = objectOf(await ask("/version"));
    return said === null ? null : { version: textAt(said, "version"), template: null };
  },
};
