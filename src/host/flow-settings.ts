/** The settings of a checkout that steer its flow, from its file. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseJson } from "../core/json/parse.ts";
import { isObject, type JsonObject, valueAt } from "../core/json/value.ts";
import { DEFAULT_SETTINGS, type FlowSettings, flowSettings } from "../core/tracker/settings.ts";
import { decodeUtf8 } from "../core/utf8.ts";

const LARGEST = 1024 * 1024;

/**
 * `.writ/settings.json` of a folder; where there is none, the object `piGauntlet` of `.pi/settings.json`.
 *
 * @returns what cannot be read or makes no sense as all defaults, with a warning
 * Errors: none
 * Source: flow state, section 2.2
 */
export function readFlowSettings(toplevel: string): {
  readonly settings: FlowSettings;
  readonly warning: string | null;
} {
  for (const { path, key } of [
    { path: join(toplevel, ".writ", "settings.json"), key: null },
    { path: join(toplevel, ".pi", "settings.json"), key: "piGauntlet" },
  ]) {
    const read = readObject(path);
    if (read === "missing") continue;
    const found = read === "unreadable" || key === null ? read : (valueAt(read, key) ?? {});
    if (found === "unreadable" || !isObject(found)) {
      return { settings: DEFAULT_SETTINGS, warning: `Warning: settings unreadable, using defaults: ${path}` };
    }
    return { settings: flowSettings(found), warning: null };
  }
  return { settings: DEFAULT_SETTINGS, warning: null };
}

function readObject(path: string): JsonObject | "missing" | "unreadable" {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return "missing";
    if (!stat.isFile() || stat.size > LARGEST) return "unreadable";
    const decoded = decodeUtf8(readFileSync(path));
    const read = decoded.ok ? parseJson(decoded.text) : null;
    return read?.ok === true && isObject(read.value) ? read.value : "unreadable";
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : "";
    return code === "ENOTDIR" ? "missing" : "unreadable";
  }
}
