/**
 * What a path of a scripted seat is: the chat endpoint, a document of the engine or of its proxy, or nothing.
 *
 * Source: delegation run, section 17.4
 */

import { readSource, roundedValue } from "../json/source.ts";
import type { JsonObject, JsonValue } from "../json/value.ts";
import { isObject, valueAt } from "../json/value.ts";
import { utf8Length } from "../utf8.ts";
import { namedError } from "./named-error.ts";
import type { Script } from "./read-script.ts";
import type { State } from "./script.ts";
import { tokensOf } from "./tokens.ts";

/** What of the seat the documents tell at a time. */
export type SeatView = {
  readonly state: State;
  /** Slots that are taken, strangers counted in. */
  readonly taken: number;
  readonly has_chatted: boolean;
};

export type Target = {
  readonly method: string;
  /** Without its query. */
  readonly path: string;
  /** Without its question mark. */
  readonly query: string;
};

/** A path as the engine itself knows it. */
export type Route = Target & {
  /** It came through the proxy's `/upstream/<model>`. */
  readonly is_upstream: boolean;
};

export type Document = { readonly status: number; readonly type: "json" | "none"; readonly body: string };

const UPSTREAM = "/upstream/";

/** The engine's own path behind a proxy's; null for a model that is not served here. */
export function routeOf(script: Script, target: Target): Route | null {
  if (script.proxy === "" || !target.path.startsWith(UPSTREAM)) return { ...target, is_upstream: false };
  const rest = decoded(target.path.slice(UPSTREAM.length));
  // The published id has a slash of its own; a longer id is looked for first.
  const ids = [script.model_id, ...script.aliases].toSorted((left, right) => right.length - left.length);
  const id = ids.find((each) => rest === each || rest.startsWith(`${each}/`));
  return id === undefined ? null : { ...target, path: rest.slice(id.length) || "/", is_upstream: true };
}

/** Whether a request is one of the chat endpoint. */
export function isChat({ method, path }: Target): boolean {
  return method === "POST" && path === "/v1/chat/completions";
}

/** What the path of an engine answers; chat apart. Never null: a path that is none is 404. */
export function documentOf(script: Script, route: Route, body: string, view: SeatView): Document {
  const bare = script.endpoints[route.path];
  if (bare !== undefined) return { status: bare, type: "none", body: "" };
  const { method, path, query } = route;
  const own = method === "GET" ? getOf(script, route, query, view) : null;
  if (own !== null) return own;
  if (method === "POST" && path === "/tokenize" && script.engine === "llama.cpp") {
    return view.state === "loading" ? loading(script) : tokenize(script, body);
  }
  return json(404, { error: { code: 404, message: "scripted seat: no such path", type: "not_found_error" } });
}

function getOf(script: Script, { path, is_upstream }: Route, query: string, view: SeatView): Document | null {
  const { engine } = script;
  if (path === "/v1/models") return json(200, models(script));
  if (path === "/running" && script.proxy !== "" && !is_upstream) {
    return json(200, { running: [{ model: script.model_id, state: proxyState(view.state) }] });
  }
  switch (engine) {
    case "llama.cpp":
      if (path === "/health" || path === "/props" || path === "/slots") {
        return view.state === "loading" ? loading(script) : llamaDocument(script, path, query, view);
      }
      return null;
    case "vllm":
      if (path === "/health") return { status: 200, type: "none", body: "" };
      return path === "/version" ? json(200, { version: "0.12.0+scripted" }) : null;
    case "ollama":
      if (path === "/api/version") return json(200, { version: "0.0.0-scripted" });
      return path === "/api/ps" ? json(200, { models: loadedModels(script, view) }) : null;
    case "openai":
      return null;
    default:
      return engine satisfies never;
  }
}

function llamaDocument(
  script: Script,
  path: "/health" | "/props" | "/slots",
  query: string,
  { taken }: SeatView,
): Document {
  const { ctx_tokens, slots } = script;
  if (path === "/health") return json(200, { status: "ok" });
  if (path === "/props") {
    return json(200, {
      default_generation_settings: { n_ctx: ctx_tokens },
      total_slots: slots,
      model_path: "scripted",
      build_info: "writ-scripted",
      chat_template: "scripted",
    });
  }
  const isAsked = query.split("&").some((pair) => pair === "fail_on_no_slot=1");
  if (isAsked && taken >= slots) return errorDocument("no_slot", script);
  return json(
    200,
    Array.from({ length: slots }, (_, id) => ({ id, n_ctx: ctx_tokens, is_processing: id < taken })),
  );
}

function models(script: Script): JsonObject {
  const { model_id, aliases, engine, proxy, ctx_tokens } = script;
  const entry = (id: string): JsonObject => ({
    id,
    object: "model",
    owned_by: "writ-scripted",
    ...(engine === "vllm" ? { max_model_len: ctx_tokens } : {}),
  });
  if (proxy !== "") {
    return { object: "list", data: [{ ...entry(model_id), meta: { llamaswap: { aliases } } }] };
  }
  return { object: "list", data: [model_id, ...aliases].map(entry) };
}

function loadedModels({ model_id, ctx_tokens }: Script, { has_chatted }: SeatView): readonly JsonValue[] {
  return has_chatted ? [{ name: model_id, model: model_id, context_length: ctx_tokens }] : [];
}

/** The state as a swapping proxy tells it. */
function proxyState(state: State): string {
  return state === "loading" ? "starting" : state === "stopped" ? "stopped" : "ready";
}

/** A token is so many bytes; its number is its place. */
function tokenize({ bytes_per_token }: Script, body: string): Document {
  const read = readSource(body, { surrogates: "keep" });
  const value = read.ok ? roundedValue(read.node) : null;
  const content = isObject(value) ? valueAt(value, "content") : undefined;
  if (typeof content !== "string") {
    const message = '"content" must be provided, as a string';
    return json(400, { error: { code: 400, message, type: "invalid_request_error" } });
  }
  const count = tokensOf(utf8Length(content), bytes_per_token);
  return json(200, { tokens: Array.from({ length: count }, (_, place) => place) });
}

function loading(script: Script): Document {
  return errorDocument(script.proxy === "" ? "loading" : "not_ready", script);
}

function errorDocument(name: "loading" | "not_ready" | "no_slot", { engine, ctx_tokens }: Script): Document {
  const { status, body } = namedError(name, engine, { prompt_tokens: 0, ctx_tokens, column: 1 });
  return json(status, body);
}

function json(status: number, body: JsonValue): Document {
  return { status, type: "json", body: JSON.stringify(body) };
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // a percent sign that stands for itself
  }
}
