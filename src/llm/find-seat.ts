/**
 * What answers at a base URL: which engine, behind which proxy, with which models.
 *
 * Nothing is asked that could load a model: before a proxy is known to be none, only the proxy is asked.
 *
 * Source: delegation run, sections 1.7 (config init), 2.1 (`WRIT_SEAT_URL`)
 */
import type { FoundSeat } from "../core/config/seat.ts";
import { seatWith } from "../core/config/seat-with.ts";
import { valueAt } from "../core/json/value.ts";
import { type Ask, askOf, countAt, listedModels, objectAt, objectOf, objectsIn, type Said, textAt } from "./dialect.ts";
import { takesTools } from "./llama-cpp.ts";
import { runningIn } from "./llama-swap.ts";
import { type EndpointWorld, serverOf } from "./world.ts";

/** For everything that is asked of one server, in milliseconds. */
const FIND_MS = 2000;

/**
 * Looks at what may be a model server.
 *
 * @param base_url without a trailing `/` or `/v1`
 * @returns        null when `/v1/models` does not answer with a list, or not in time
 * Errors: none
 */
export async function findSeat(base_url: string, world: EndpointWorld): Promise<FoundSeat | null> {
  const seat = seatWith({ name: "found", base_url, model: "", engine: "openai" });
  const ask = askOf(serverOf(seat, world), AbortSignal.timeout(world.limits?.probe_ms ?? FIND_MS));
  const [list, running] = await Promise.all([ask("/v1/models"), ask("/running")]);
  const models = listedModels(list);
  if (models === null) return null;
  const ids = models.map(({ id }) => id);
  if (runningIn(running) !== null) return { engine: "llama.cpp", proxy: "llama-swap", models: ids, ctx_tokens: null };
  const [props, ollama, vllm] = await Promise.all([ask("/props"), ask("/api/version"), ask("/version")]);
  const settings = objectOf(props);
  if (settings !== null && Object.hasOwn(settings, "default_generation_settings")) {
    const ctx_tokens = countAt(objectAt(settings, "default_generation_settings"), "n_ctx");
    const found = { engine: "llama.cpp", proxy: "", models: ids, ctx_tokens } as const;
    return takesTools(settings) === false ? { ...found, takes_tools: false } : found;
  }
  if (isVersion(ollama)) return { engine: "ollama", proxy: "", models: ids, ctx_tokens: await loaded(ask, ids[0]) };
  if (isVersion(vllm)) return { engine: "vllm", proxy: "", models: ids, ctx_tokens: models[0]?.max_model_len ?? null };
  return { engine: "openai", proxy: "", models: ids, ctx_tokens: null };
}

function isVersion(said: Said): boolean {
  const body = objectOf(said);
  return body !== null && textAt(body, "version") !== null;
}

/** The window of the model that is listed first, else the smallest of those that are loaded; null when none is. */
async function loaded(ask: Ask, first: string | undefined): Promise<number | null> {
  const body = objectOf(await ask("/api/ps"));
  const models = body === null ? [] : objectsIn(valueAt(body, "models"));
  const ours = models.find((model) => [textAt(model, "name"), textAt(model, "model")].includes(first ?? null));
  const windows = (ours === undefined ? models : [ours]).map((model) => countAt(model, "context_length"));
  const known = windows.filter((window) => window !== null);
  return known.length === 0 ? null : Math.min(...known);
}
