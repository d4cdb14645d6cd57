/**
 * What the servers of an engine can be asked besides chat: one dialect an engine, and a proxy that wraps one.
 *
 * A dialect asks through `Ask` and nothing else. What a server does not tell is null: never a guess.
 */

import type { Seat } from "../core/config/seat.ts";
import { isArray, isObject, type JsonObject, type JsonValue, valueAt } from "../core/json/value.ts";
import type { SeatLook } from "../core/seat/endpoint.ts";
import { readBody, textOf } from "./body.ts";
import { exchange } from "./dial.ts";
import type { Server } from "./world.ts";

/** What a question was answered: `status` null where there was no whole answer; `body` null where it is no JSON. */
export type Said = {
  readonly status: number | null;
  readonly body: JsonValue;
  readonly text: string;
  /** Nothing listens. */
  readonly isGone: boolean;
  readonly message: string;
};

/** Sends a GET, or a POST where there is a body. Bounded in time and size; never throws. */
export type Ask = (path: string, body?: JsonObject) => Promise<Said>;

export type Dialect = {
  look(ask: Ask, seat: Seat): Promise<SeatLook>;
  hasFreeSlot(ask: Ask): Promise<boolean>;
  windowTokens(ask: Ask, seat: Seat): Promise<number | null>;
  totalSlots(ask: Ask): Promise<number | null>;
  countTokens(ask: Ask, text: string): Promise<number | null>;
  loadedWindowTokens(ask: Ask, seat: Seat): Promise<number | null>;
  takesTools(ask: Ask, seat: Seat): Promise<boolean | null>;
  /** The version of the program, and its chat template; null where nothing answers. */
  build(ask: Ask, seat: Seat): Promise<Build | null>;
};

export type Build = { readonly version: string | null; readonly template: string | null };

/** Lists of models, templates, tokens. */
const BODY_BYTES = 4 * 1024 * 1024;

/** Questions to one server until the signal ends them; a path that is asked for twice is asked once. */
export function askOf(server: Server, signal: AbortSignal): Ask {
  const asked = new Map<string, Promise<Said>>();
  const send = sendTo(server, signal);
  return (path, body) => {
    if (body !== undefined) return send(path, body);
    const known = asked.get(path) ?? send(path);
    asked.set(path, known);
    return known;
  };
}

function sendTo(server: Server, signal: AbortSignal): Ask {
  return async (path, body) => {
    const call = body === undefined ? { path } : { path, body: JSON.stringify(body) };
    const exchanged = await exchange(server, call, signal, async (response) => ({
      status: response.status,
      read: await readBody(response, BODY_BYTES, server.limits.probe_ms),
    }));
    if (!exchanged.ok) {
      const message = exchanged.kind === "aborted" ? `${server.seat.base_url}: no answer in time` : exchanged.message;
      return { status: null, body: null, text: "", isGone: exchanged.kind === "unreachable", message };
    }
    const { status, read } = exchanged.value;
    if (!read.isWhole) {
      const message = `${server.seat.base_url}${path}: the answer did not come whole`;
      return { status: null, body: null, text: "", isGone: false, message };
    }
    const text = textOf(read.bytes);
    return {
      status,
      body: parse(text),
      text,
      isGone: false,
      message: `${server.seat.base_url}${path}: HTTP ${status}`,
    };
  };
}

/** The object that a question was answered with 200; null for every other answer. */
export function objectOf(said: Said): JsonObject | null {
  return said.status === 200 && isObject(said.body) ? said.body : null;
}

export function textAt(object: JsonObject, key: string): string | null {
  const value = valueAt(object, key);
  return typeof value === "string" && value !== "" ? value : null;
}

/** A count above 0. */
export function countAt(object: JsonObject, key: string): number | null {
  const value = valueAt(object, key);
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : null;
}

export function objectAt(object: JsonObject, key: string): JsonObject {
  const value = valueAt(object, key);
  return isObject(value) ? value : {};
}

export function objectsIn(value: JsonValue | undefined): readonly JsonObject[] {
  return isArray(value) ? value.filter(isObject) : [];
}

export type ListedModel = {
  readonly id: string;
  readonly aliases: readonly string[];
  readonly max_model_len: number | null;
};

/** The models that `GET /v1/models` lists; null where it answers something else. */
export function listedModels(said: Said): readonly ListedModel[] | null {
  const list = objectOf(said);
  const data = list === null ? undefined : valueAt(list, "data");
  if (!isArray(data)) return null;
  return objectsIn(data).flatMap((model) => {
    const id = textAt(model, "id");
    if (id === null) return [];
    const aliases = [valueAt(model, "aliases"), valueAt(objectAt(objectAt(model, "meta"), "llamaswap"), "aliases")];
    return [{ id, aliases: aliases.flatMap(textsIn), max_model_len: countAt(model, "max_model_len") }];
  });
}

/** The listed model that a name means, by its id or an alias. */
export function findModel(models: readonly ListedModel[], name: string): ListedModel | null {
  return models.find(({ id, aliases }) => id === name || aliases.includes(name)) ?? null;
}

export function notServed(models: readonly ListedModel[], seat: Seat): SeatLook {
  const some = models.slice(0, 5).map(({ id }) => `"${id.slice(0, 100)}"`);
  const list = models.length === 0 ? "none" : some.join(", ") + (models.length > some.length ? ", …" : "");
  return lookOf("not_served", `${seat.base_url} does not serve "${seat.model}"; it lists ${list}`);
}

export function lookOf(state: SeatLook["state"], message: string): SeatLook {
  return { state, busy_slots: null, total_slots: null, message };
}

/** How a server that tells nothing but its models looks. */
export function lookByModels(said: Said, seat: Seat, isSame: (models: readonly ListedModel[]) => boolean): SeatLook {
  if (said.isGone) return lookOf("gone", said.message);
  const models = listedModels(said);
  if (models === null) return lookOf("unknown", said.message);
  return isSame(models) ? lookOf("ready", `${seat.base_url} serves "${seat.model}"`) : notServed(models, seat);
}

function textsIn(value: JsonValue | undefined): readonly string[] {
  return isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

/** JSON.parse and not the strict reader: what is read of these bodies is a few names and counts. */
function parse(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return null; // a page, or nothing
  }
}
