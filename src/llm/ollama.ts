/** Ollama: `/v1` says nothing of windows; `/api/ps` tells the one of a model that is loaded. */
import { valueAt } from "../core/json/value.ts";
import type { Dialect, ListedModel } from "./dialect.ts";
import { countAt, lookByModels, lookOf, objectOf, objectsIn, textAt } from "./dialect.ts";

export const ollama: Dialect = {
  async look(ask, seat) {
    const [version, models] = await Promise.all([ask("/api/version"), ask("/v1/models")]);
    if (version.isGone) return lookOf("gone", version.message);
    if (version.status !== 200) return lookOf("unknown", version.message);
    const isSame = (listed: readonly ListedModel[]) =>
      listed.some(({ id, aliases }) => [id, ...aliases].some((name) => isSameModel(name, seat.model)));
    return lookByModels(models, seat, isSame);
  },
  hasFreeSlot: async () => true,
  // The window that it publishes is that of the model, and not the one that it will be loaded with.
  windowTokens: async () => null,
  totalSlots: async () => null,
  countTokens: async () => null,
  async loadedWindowTokens(ask, seat) {
    const said = objectOf(await ask("/api/ps"));
    const loaded = said === null ? [] : objectsIn(valueAt(said, "models"));
    const ours = loaded.find((model) =>
      [textAt(model, "name"), textAt(model, "model")].some((name) => name !== null && isSameModel(name, seat.model)),
    );
    return ours === undefined ? null : countAt(ours, "context_length");
  },
  takesTools: async () => null,
  async build(ask) {
    const said = objectOf(await ask("/api/version"));
    return said === null ? null : { version: textAt(said, "version"), template: null };
  },
};

/** A name without a tag means its tag "latest". */
function isSameModel(left: string, right: string): boolean {
  return tagged(left) === tagged(right);
}

function tagged(name: string): string {
  return name.slice(name.lastIndexOf("/") + 1).includes(":") ? name : `${name}:latest`;
}
