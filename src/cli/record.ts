/**
 * `writ record`: what a harness's hook calls. It must never break the harness: the frame turns whatever goes wrong
 * into one line on standard error and status 0.
 */
import { WritError } from "../core/error.ts";
import type { JsonObject, JsonValue } from "../core/json/value.ts";
import { HARNESSES, type Harness, type HookEvent, readHook } from "../core/record/hook.ts";
import type { ToolRecord } from "../core/record/tool-record.ts";
import { streamTextFile } from "../host/file.ts";
import { readHookPayload } from "../host/stdin.ts";
import { type Kept, keepHook } from "../record/keep.ts";
import { defineCommand, type Output } from "./command.ts";
import { JSON_SWITCH, wholeNumber } from "./contract/address.ts";
import { openRecordWorld } from "./record/world.ts";

/** The largest payload, in bytes, and the longest wait for its end, in milliseconds. */
const PAYLOAD_BYTES = 64 * 1024 * 1024;
const PAYLOAD_MS = 2_000;

export const command = defineCommand({
  meta: { name: "record", description: "Record what a harness's hook reports on standard input" },
  args: {
    "contract-id": { type: "string", alias: "draft-id", valueHint: "ID", description: "The contract it belongs to" },
    harness: { type: "enum", options: [...HARNESSES], description: "Whose payload it is (default claude-code)" },
    bind: { type: "boolean", description: "Bind the turn to its record, before anything ran" },
    stop: { type: "boolean", description: "The turn has stopped, whatever the payload says" },
    gate: {
      type: "string",
      valueHint: "N",
      description: "Send a turn that stops unfinalized back, at most N times (default 0; claude-code only)",
    },
    ...JSON_SWITCH,
  },
  examples: [
    "writ record < payload.json",
    'echo \'{"tool":"bash","command":"make","exit_code":0}\' | writ record --harness generic',
  ],
  notes: [
    "Standard output stays empty without --json, but for a turn that the gate sends back.",
    "Register it for PostToolUse and PostToolUseFailure alike, and for SubagentStart and SubagentStop: writ hooks install.",
  ],
  exits: {
    0: "always, but for a wrong command line typed at a terminal",
    2: "a wrong command line typed at a terminal",
  },
  async run({ args, json, out }) {
    const named = args["contract-id"] ?? null;
    const harness: Harness = args.harness ?? "claude-code";
    const gate = wholeNumber(args.gate, "--gate", 0) ?? 0;
    const payload = await readPayload();
    if (payload === null && !args.bind) {
      throw new WritError("usage", "Nothing came on standard input", { hint: "Pipe one JSON object into writ record" });
    }
    const event = bound(readHook(payload, harness, args.stop), args.bind);
    if (event.kind === "ignored") {
      if (json) out.document({ ok: true, status: "ignored", reason: event.reason });
      return 0;
    }
    const world = openRecordWorld();
    try {
      if (event.kind === "stop") {
        const { runStopLane } = await import("./record/stop.ts");
        runStopLane(world, event, { named, harness, gate, json, out });
      } else report(out, json, keepHook(world, { contract_id: named, event, streamFile }));
    } finally {
      world.store.leave();
    }
    return 0;
  },
});

/** `--bind` makes a start of whatever is no event of its own. */
function bound(event: HookEvent, bind: boolean): HookEvent {
  return bind && event.kind === "ignored" ? { ...event, kind: "start" } : event;
}

/** Null when nothing came. Errors: `bad_json`, `body_too_large`. */
async function readPayload(): Promise<JsonValue> {
  const read = await readHookPayload({ maxBytes: PAYLOAD_BYTES, maxMillis: PAYLOAD_MS });
  switch (read.kind) {
    case "none":
      return null;
    case "too_large":
      throw new WritError("body_too_large", "The payload has more than 64 MiB and was dropped");
    case "timeout":
      throw new WritError("bad_json", "The payload did not end within 2 seconds and was dropped");
    case "text":
      return parsePayload(read.text);
    default:
      return read satisfies never;
  }
}

/** Leniently: the payload is the harness's, not a document of the user. */
function parsePayload(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    throw new WritError("bad_json", `The payload is no JSON: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    });
  }
}

function streamFile(path: string, sink: (text: string) => void): boolean {
  return streamTextFile(path, sink);
}

function report(out: Output, json: boolean, kept: Kept): void {
  if (kept.contract_id === null) {
    out.talk(`Nothing was recorded: ${kept.why}`);
    if (json) out.document({ ok: true, status: "unbound", reason: kept.why });
  } else if (json) {
    out.document({
      ok: true,
      status: "recorded",
      contract_id: kept.contract_id,
      records: kept.records.map(recordDocument),
    });
  }
}

function recordDocument(record: ToolRecord): JsonObject {
  return { ...record, argv: record.argv === null ? null : [...record.argv] };
}
