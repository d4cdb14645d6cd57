/** Where the value or the patch of a write comes from: the command line, a file, standard input. */

import { MAX_WRITE_DEPTH } from "../../core/contract/mutate.ts";
import { parseValue } from "../../core/contract/value.ts";
import { WritError } from "../../core/error.ts";
import type { JsonFault } from "../../core/json/parse.ts";
import { bodyFaultMessage, parseJson } from "../../core/json/parse.ts";
import type { JsonValue } from "../../core/json/value.ts";
import { readBodyFile } from "../../host/named-file.ts";
import { readStdinText } from "../../host/stdin.ts";

/** The largest body, in bytes. */
export const BODY_LIMIT = 8 * 1024 * 1024;

/**
 * The VALUE of `set` and `add`: an operand, `-` for standard input, or a file of strict JSON.
 *
 * Errors: `usage`, `bad_json`, `inexact_number`, `too_deep`, `body_too_large`, `file_unreadable`.
 */
export async function readValue(operand: string | undefined, file: string | undefined): Promise<JsonValue> {
  if ((operand === undefined) === (file === undefined)) {
    throw new WritError(
      "usage",
      operand === undefined ? "A value is missing" : "A value was given twice: as VALUE and as --json-file",
      {
        hint: "Give VALUE, or - to read it from standard input, or --json-file PATH",
      },
    );
  }
  if (file !== undefined) return strict(await bodyOf(file), file === "-" ? "standard input" : `"${file}"`);
  const isStdin = operand === "-";
  const text = isStdin ? withoutFinalNewline(await readStdinText(BODY_LIMIT)) : checked(operand ?? "");
  const parsed = parseValue(text);
  if (parsed.ok) return parsed.value;
  throw faultError(parsed.fault, isStdin ? "standard input" : "the value");
}

/** The patch of `fill`. Errors: as `readValue`. */
export async function readPatch(given: {
  readonly json: string | undefined;
  readonly file: string | undefined;
  readonly operand: string | undefined;
}): Promise<JsonValue> {
  if (given.operand !== undefined && given.operand !== "-") {
    throw new WritError("usage", `fill takes no operand but -, not "${given.operand}"`, {
      hint: "Give the patch as --json JSON, as --json-file PATH, or as - for standard input",
    });
  }
  const sources = [given.json, given.file, given.operand].filter((source) => source !== undefined);
  if (sources.length !== 1) {
    throw new WritError("usage", sources.length === 0 ? "A patch is missing" : "A patch was given more than once", {
      hint: "Give exactly one of --json JSON, --json-file PATH, and - for standard input",
    });
  }
  if (given.json !== undefined) return strict(checked(given.json), "--json");
  if (given.file !== undefined)
    return strict(await bodyOf(given.file), given.file === "-" ? "standard input" : `"${given.file}"`);
  return strict(await readStdinText(BODY_LIMIT), "standard input");
}

async function bodyOf(path: string): Promise<string> {
  return path === "-" ? await readStdinText(BODY_LIMIT) : await readBodyFile(path, BODY_LIMIT);
}

function strict(text: string, what: string): JsonValue {
  const parsed = parseJson(text, { maxDepth: MAX_WRITE_DEPTH });
  if (parsed.ok) return parsed.value;
  throw faultError(parsed.fault, what);
}

function checked(text: string): string {
  if (Buffer.byteLength(text) <= BODY_LIMIT) return text;
  throw new WritError("body_too_large", "The body has more than 8 MiB", {
    hint: "Keep long outputs in files and name them",
  });
}

function withoutFinalNewline(text: string): string {
  return text.replace(/\r?\n$/, "");
}

function faultError(fault: JsonFault, what: string): WritError {
  return new WritError(fault.code, bodyFaultMessage(fault, what), {
    hint: fault.code === "bad_json" ? "Check it with a JSON tool, or build it with jq -n" : null,
    details: fault.looksLike === null ? {} : { looks_like: fault.looksLike },
  });
}
