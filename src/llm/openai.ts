/** A hosted engine: it lists its models, and tells nothing else. */
import type { Dialect } from "./dialect.ts";
import { findModel, lookByModels, lookOf } from "./dialect.ts";

export const openai: Dialect = {
  async look(ask, seat) {
    const look = lookByModels(await ask("/v1/models"), seat, (models) => findModel(models, seat.model) !== null);
    // Such lists leave out what is served under other names; a request says for certain, and costs nothing there.
    return look.state === "not_served" ? lookOf("unknown", look.message) : look;
  },
  hasFreeSlot: async () => true,
  windowTokens: async () => null,
  totalSlots: async () => null,
  countTokens: async () => null,
  loadedWindowTokens: async () => null,
  takesTools: async () => null,
  async build(ask) {
    const said = await ask("/v1/models");
    return said.status === 200 ? { version: null, template: null } : null;
  },
};
