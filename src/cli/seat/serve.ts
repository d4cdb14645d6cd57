/** `writ seat serve`: a model server without a model, that plays a script. */
import { isLoopbackAddress } from "../../core/config/address.ts";
import { readListen } from "../../core/config/url.ts";
import { counted } from "../../core/counted.ts";
import { WritError } from "../../core/error.ts";
import { issueLines } from "../../core/issue-text.ts";
import { compactJson, type JsonObject } from "../../core/json/value.ts";
import type { PlayReport } from "../../core/scripted/play.ts";
import type { Script } from "../../core/scripted/read-script.ts";
import { openLineFile } from "../../host/line-file.ts";
import { readScriptFile } from "../../host/script-file.ts";
import { type ScriptedSeat, serveScriptedSeat } from "../../wire/scripted-seat.ts";
import { defineCommand, type Output } from "../command.ts";
import { JSON_SWITCH } from "../contract/address.ts";
import { stopSignal, untilStopped } from "../stop-signal.ts";

const LOG_BYTES = 256 * 1024 * 1024;

/** A whole script, for whoever has the executable alone. */
export const SMALLEST_SCRIPT = '{"schema_version":1,"name":"hello","turns":[{"id":"a","reply":{"content":"Hello"}}]}';

export const command = defineCommand({
  meta: { name: "seat serve", description: "Serve a seat that plays a script instead of a model" },
  args: {
    script: { type: "string", required: true, valueHint: "FILE", description: "The script; - is standard input" },
    listen: {
      type: "string",
      valueHint: "HOST:PORT",
      default: "127.0.0.1:0",
      description: "A loopback address; port 0 is any that is free",
    },
    log: { type: "string", valueHint: "FILE", description: "Write a line of JSON to this file for each request" },
    strict: { type: "boolean", description: "End in 1 when a turn was never used, or a request met none" },
    check: { type: "boolean", description: "Judge the script, and serve nothing" },
    ...JSON_SWITCH,
  },
  examples: ["writ seat serve --script clamp.json --log clamp.log", "writ seat serve --script clamp.json --check"],
  notes: [
    "It speaks as llama.cpp, vllm, ollama or a hosted engine does, and never passes for a model: its id begins with scripted/, every answer has the header writ-scripted, and results say (scripted).",
    "The log is at /scripted/log as well, with ?bodies=1 beside the requests; a POST to /scripted/reset forgets counts, log and times. Ctrl-C ends the seat.",
    `The smallest script is ${SMALLEST_SCRIPT}.`,
    "writ docs scripted-seat says how to write one; writ docs schema script prints its JSON Schema.",
  ],
  exits: {
    0: "it was ended with SIGINT or SIGTERM; with --check, the script makes sense",
    1: "with --strict, a turn was never used or a request met none",
    2: "the script makes no sense or does not open, or the address is none of this machine alone",
    4: "the port cannot be opened, or the log cannot be written",
  },
  async run({ args, json, out }) {
    const listen = listenOf(args.listen);
    const script = scriptOf(args.script);
    if (args.check) {
      const turns = script.turns.length;
      if (json) out.document({ ok: true, status: "ok", name: script.name, turns });
      else out.line(`${script.name}  ok  ${counted(turns, "turn")}`);
      return 0;
    }
    const token = tokenOf(script);
    const log = args.log === undefined ? null : logTo(args.log, out);
    // Listened to before the address is printed: whoever reads it may stop the seat at once.
    const stopped = stopSignal();
    const seat = await serveScriptedSeat({
      script,
      ...listen,
      token,
      clock: {
        now: () => performance.now(),
        after(ms, call) {
          const timer = setTimeout(call, ms);
          return () => clearTimeout(timer);
        },
      },
      created: Math.floor(Date.now() / 1000),
      onEntry: (entry) => log?.write(compactJson(entry)),
      onDefect: (error) => out.talk(`writ seat serve: ${error instanceof Error ? error.message : error}`),
    });
    try {
      if (json) out.document({ ok: true, status: "ok", url: seat.url, seat: seatObject(script, seat), scripted: true });
      else out.line(readyLine(script, seat));
      await untilStopped(stopped);
    } finally {
      // Also where the address could not be printed: nobody can find it then.
      await seat.close();
      log?.close();
    }
    const report = seat.report();
    tell(out, report);
    return args.strict && (report.unused_turns.length > 0 || report.unmet_count > 0) ? 1 : 0;
  },
});

function readyLine({ name, engine, proxy, model_id }: Script, { url }: ScriptedSeat): string {
  const behind = proxy === "" ? "" : ` behind ${proxy}`;
  return `scripted seat "${name}" at ${url} (${engine}${behind}, ${model_id})`;
}

/** The seat as `seats` of the config takes it. */
function seatObject(script: Script, { url }: ScriptedSeat): JsonObject {
  const { name, model_id, engine, proxy, token_env, ctx_tokens, slots } = script;
  return { name, base_url: url, model: model_id, engine, proxy, api_key_env: token_env ?? "", ctx_tokens, slots };
}

function tell(out: Output, { unused_turns, unmet, unmet_count }: PlayReport): void {
  for (const id of unused_turns) out.talk(`writ seat serve: turn ${id} was never used`);
  for (const line of unmet) out.talk(`writ seat serve: ${line} met no turn`);
  if (unmet_count > unmet.length) {
    out.talk(`writ seat serve: ${counted(unmet_count - unmet.length, "more request")} met no turn`);
  }
}

/** Errors: `bad_script` with every issue; `file_unreadable` */
function scriptOf(file: string): Script {
  const read = readScriptFile(file);
  if (read.ok) return read.script;
  const { issues } = read;
  throw new WritError("bad_script", `The script "${file}" is not valid: ${counted(issues.length, "issue")}`, {
    lines: issues.flatMap((issue) => issueLines(issue)),
    hint: "writ docs scripted-seat says what each key is for",
    details: { issues: issues.map((issue) => ({ ...issue })) },
  });
}

/** Errors: `usage` */
function listenOf(text: string): { readonly host: string; readonly port: number } {
  const listen = readListen(text);
  const host = listen?.host === "localhost" ? "127.0.0.1" : listen?.host;
  if (listen !== null && host !== undefined && isLoopbackAddress(host)) return { host, port: listen.port };
  throw new WritError("usage", `--listen takes a loopback address and a port, not "${text}"`, {
    hint: "A scripted seat has no lock: 127.0.0.1:0 is any free port of this machine alone",
  });
}

/** Errors: `usage` */
function tokenOf({ token_env }: Script): string | null {
  if (token_env === null) return null;
  const token = process.env[token_env] ?? "";
  if (token !== "") return token;
  throw new WritError("usage", `The script asks for a token, and ${token_env} is not set`, {
    hint: `Set ${token_env} to what requests must bring, or take token_env out of the script`,
  });
}

/** A log that is told of once where it takes no more; the seat goes on. Errors: `file_unwritable` */
function logTo(path: string, out: Output): { write(line: string): void; close(): void } {
  const file = openLineFile(path, LOG_BYTES);
  let isOpen = true;
  const stop = (why: string) => {
    isOpen = false;
    out.talk(`writ seat serve: the log ends here: ${why}`);
  };
  return {
    write(line) {
      if (!isOpen) return;
      try {
        if (!file.write(line)) stop(`it has ${LOG_BYTES / 1024 / 1024} MiB`);
      } catch (error) {
        stop(error instanceof Error ? error.message : String(error));
      }
    },
    close: () => file.close(),
  };
}
