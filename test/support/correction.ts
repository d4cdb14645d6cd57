/** A correction of project context whose every guard holds, in parts, so that a test can break one of them. */
import type { JsonObject, JsonValue } from "../../src/core/json/value.ts";

export const COMMAND = "kubectl get deploy api --context prod-eu -n shop -o yaml";
export const GOAL = "Say which image the api runs in context prod-eu, namespace shop";
export const OUTPUT = "spec:\n  image: api-server-v7\n";
export const PROJECT = "storefront";
export const IDENTITY: JsonObject = { storefront: { path: "/srv/storefront", workflow: "trunk" } };
/** The section before the correction, and after it. */
export const STACK: JsonObject = { api: { language: "go" }, web: "static" };
export const CORRECTED: JsonObject = { api: { language: "go", image: "api-server-v7" }, web: "static" };

export function correction(more: JsonObject = {}): JsonObject {
  const drift = {
    key_path: "api.image",
    old: null,
    new: "api-server-v7",
    command: COMMAND,
    observed_at: "2026-01-01T00:00:00Z",
  };
  return { contract: "stack", payload: { api: { image: "api-server-v7" } }, drift: { ...drift, ...more } };
}

/** A correction that says the same value of the same place, in the payload and in the drift. */
export function correctionOf(keyPath: string, value: JsonValue, section = "stack"): JsonObject {
  const payload = keyPath.split(".").reduceRight<JsonValue>((inner, key) => ({ [key]: inner }), value);
  return { ...correction({ key_path: keyPath, new: value }), contract: section, payload };
}
