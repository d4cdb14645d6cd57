/** Where the config is, and its bytes. What is in them is judged by `core/config/read.ts`. */
import { join, resolve } from "node:path";
import { CONFIG_BYTES, type ReadConfig, readConfigBytes, stopped } from "../core/config/read.ts";
import { WritError } from "../core/error.ts";
import { readFault } from "../core/file-fault.ts";
import { readNamedFile } from "./named-file.ts";

export type FoundConfig = {
  /** Absolute. */
  readonly file: string;
  /** Null where the file is the default one and is not there: then the built-in config is in effect. */
  readonly read: ReadConfig | null;
};

/**
 * The config file that is meant. The present folder is never looked into: a cloned repository must not be able to
 * point writ at its own servers.
 *
 * @param named `--config`; undefined: not given
 * @param data  the data folder
 */
export function configPath(
  named: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
  data: string,
): { readonly file: string; readonly isNamed: boolean } {
  const variable = environment.WRIT_CONFIG ?? "";
  const name = named ?? (variable.trim() === "" ? null : variable);
  return name === null ? { file: join(data, "config.json"), isNamed: false } : { file: resolve(name), isNamed: true };
}

/**
 * Reads the config file that is meant, up to its limit.
 *
 * Errors: none; a named file that is missing, and any file that cannot be read, are issues
 */
export function readConfigFile(
  named: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
  data: string,
): FoundConfig {
  const { file, isNamed } = configPath(named, environment, data);
  try {
    return { file, read: readConfigBytes(readNamedFile(file, CONFIG_BYTES, "the config")) };
  } catch (error) {
    // One byte more than is read says that it is too large.
    if (error instanceof WritError && error.code === "body_too_large") {
      return { file, read: readConfigBytes(new Uint8Array(CONFIG_BYTES + 1)) };
    }
    const code = error instanceof Error && "code" in error ? error.code : null;
    if (code !== "ENOENT" && code !== "ENOTDIR") {
      return unreadable(file, upperFirst(readFault(error)));
    }
    if (!isNamed) return { file, read: null };
    const hint = named === undefined ? "WRIT_CONFIG names it" : "writ config init writes one";
    return { file, read: stopped({ code: "file_missing", message: "There is no such file", hint }) };
  }
}

function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function unreadable(file: string, message: string): FoundConfig {
  return { file, read: stopped({ code: "file_unreadable", message }) };
}
