/** What a turn did, from the harness's own transcript: for a turn that ended before it could say so itself. */
import { isArray, isObject, type JsonObject, type JsonValue, valueAt } from "../json/value.ts";

/** Entries kept of each list. */
export const RECOVERED_ENTRIES = 200;

/** Code units of a line; a longer one is skipped. */
const LONGEST_LINE = 16 * 1024 * 1024;

export type Transcript = {
  /** The first distinct Bash commands, as typed: not redacted. */
  readonly commands: readonly string[];
  /** The first distinct paths that Read opened. */
  readonly paths: readonly string[];
  /** Why the last assistant message ended, for example `max_tokens`; null when it does not say. */
  readonly stop_reason: string | null;
};

/**
 * Reads a transcript of JSON lines. A line that is no JSON, or not of the shape, is skipped.
 *
 * Errors: none but those of the iterable
 */
export function readTranscript(lines: Iterable<string>): Transcript {
  const commands = new Set<string>();
  const paths = new Set<string>();
  let stopReason: string | null = null;
  for (const line of lines) {
    const entry = parseLine(line);
    const message = entry === null ? undefined : valueAt(entry, "message");
    if (entry === null || !isObject(message)) continue;
    if (valueAt(entry, "type") === "assistant" || valueAt(message, "role") === "assistant") {
      stopReason = nonBlank(valueAt(message, "stop_reason"));
    }
    const content = valueAt(message, "content");
    for (const block of isArray(content) ? content : []) {
      if (!isObject(block) || valueAt(block, "type") !== "tool_use") continue;
      const input = valueAt(block, "input");
      if (!isObject(input)) continue;
      const tool = valueAt(block, "name");
      if (tool === "Bash") keep(commands, valueAt(input, "command"));
      else if (tool === "Read") keep(paths, valueAt(input, "file_path"));
    }
  }
  return { commands: [...commands], paths: [...paths], stop_reason: stopReason };
}

function parseLine(line: string): JsonObject | null {
  if (line.length > LONGEST_LINE) return null;
  try {
    const value: JsonValue = JSON.parse(line);
    return isObject(value) ? value : null;
  } catch {
    // A SyntaxError: the transcript is the harness's, and its last line may be half written.
    return null;
  }
}

function keep(entries: Set<string>, value: JsonValue | undefined): void {
  const text = nonBlank(value);
  if (text !== null && entries.size < RECOVERED_ENTRIES) entries.add(text);
}

function nonBlank(value: JsonValue | undefined): string | null {
  return typeof value === "string" && value.trim() !== "" ? value.toWellFormed() : null;
}
