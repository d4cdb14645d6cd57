/** Runs the cases of area "record": each operation on a case's input, in the shape of its expectation. */

import type { JsonValue } from "../../src/core/json/value.ts";
import { keepOutput } from "../../src/core/record/capture.ts";
import { type Harness, readHook, toCapture } from "../../src/core/record/hook.ts";
import { redact } from "../../src/core/record/redact.ts";
import type { Capture } from "../../src/core/record/tool-record.ts";
import { quoteWords, splitWords } from "../../src/core/record/words.ts";

/** @returns what the case should expect; undefined when the operation is not of this area */
export function run(op: string, input: unknown): unknown {
  switch (op) {
    case "redact": {
      const { text, for: kind } = input as { text: string; for: "output" | "command" };
      return { text: redact(text, kind) };
    }
    case "keep_output": {
      const { text } = input as { text: string };
      return kept(redact(text, "output"));
    }
    case "quote_argv":
      return { command: quoteWords((input as { argv: readonly string[] }).argv) };
    case "split_words":
      return { words: splitWords((input as { text: string }).text) };
    case "hook_record": {
      const { payload, harness } = input as { payload: JsonValue; harness?: Harness };
      return { record: hookRecord(payload, harness ?? "claude-code") };
    }
    default:
      return undefined;
  }
}

function kept(text: string) {
  const { output, tail, truncated } = keepOutput(text);
  return tail === null ? { output, truncated } : { output, tail, truncated };
}

function hookRecord(payload: JsonValue, harness: Harness): Partial<Capture> | null {
  const event = readHook(payload, harness);
  if (event.kind !== "captures") return null;
  const [hook] = event.captures;
  const text = hook.outputText;
  const capture = toCapture(hook, {
    redactCommand: (command) => redact(command, "command"),
    output: text === null ? null : { ...keepOutput(redact(text, "output")), output_bytes: 0, output_sha256: "" },
    readFrom: "payload",
    started_at: null,
    ended_at: null,
  });
  const named = capture.tool === "bash" ? NAMED_OF_A_RUN : NAMED_OF_A_PATH;
  const columns = COLUMNS.filter((column) => named.includes(column) || capture[column] !== DEFAULTS[column]);
  return Object.fromEntries(columns.map((column) => [column, capture[column]]));
}

// Cases always name these columns, and the others only where they differ from what is usual.
const NAMED_OF_A_RUN: readonly string[] = ["tool", "command", "cwd", "tool_use_id", "exit_code", "output", "truncated"];
const NAMED_OF_A_PATH: readonly string[] = ["tool", "path", "cwd", "tool_use_id"];

const DEFAULTS = {
  tool: null,
  tool_use_id: null,
  command: null,
  argv: null,
  path: null,
  cwd: null,
  exit_code: null,
  signal: null,
  failed: false,
  exit_note: null,
  output: null,
  tail: null,
  truncated: false,
  ordered: true,
} as const satisfies Partial<Record<keyof Capture, unknown>>;

const COLUMNS = Object.keys(DEFAULTS) as (keyof typeof DEFAULTS)[];
