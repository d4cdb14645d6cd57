/** `writ node status`: how a node is, as it says itself. */

import { WritError } from "../../core/error.ts";
import { parseJson } from "../../core/json/parse.ts";
import { isObject, valueAt } from "../../core/json/value.ts";
import { silenceHint } from "../../core/node/silence-hint.ts";
import { readHealth } from "../../core/placement/health.ts";
import type { PlaceRecord, SeatRecord } from "../../core/placement/place.ts";
import type { PassedOver } from "../../doctor/world.ts";
import { defineCommand } from "../command.ts";
import { CONFIG_OPTION, loadConfig } from "../config-world.ts";
import { JSON_SWITCH } from "../contract/address.ts";
import { passedOver } from "../passed-over.ts";
import { nodeClient } from "../remote-places.ts";
import { factLines, tableLines } from "../table.ts";

export const command = defineCommand({
  meta: { name: "node status", description: "Show how a node is, as it says itself" },
  args: {
    url: { type: "positional", required: true, valueHint: "URL", description: "The node, in the config or not" },
    ...CONFIG_OPTION,
    ...JSON_SWITCH,
  },
  examples: ["writ node status http://127.0.0.1:18811", "writ node status https://gpu-b.example.net --json"],
  notes: [
    "The token and the certificates are those that the config names for this node, else the token in WRIT_NODE_TOKEN. writ doctor --remote URL says more.",
  ],
  exits: { 0: "it answers", 3: "it does not take the token", 4: "it does not answer, or not as a node does" },
  async run({ args, json, out }) {
    const options = { remotes: [args.url], remotesAs: "URL" };
    // What the seats of this machine serve is not asked for.
    const { config } = await loadConfig({ config: args.config, options, find: null });
    const [remote] = config.remotes;
    if (remote === undefined) throw new WritError("usage", "A node is named by its URL");
    const answer = await nodeClient(remote, (name) => process.env[name]).health(new AbortController().signal);
    const silent = (why: string) =>
      new WritError("node_silent", `The node at ${remote.url} cannot be asked: ${why}`, {
        hint: silenceHint(remote.url, answer),
      });
    if (answer.kind !== "answer") throw silent(answer.why);
    const hasToken = remote.token_env !== "" && (process.env[remote.token_env] ?? "") !== "";
    if (answer.status === 401 || answer.status === 403) throw refused(remote.url, remote.token_env, hasToken);
    if (answer.status !== 200) throw silent(`it answers with HTTP ${answer.status}`);
    const read = readHealth(answer.text);
    if (read.kind === "reduced") throw refused(remote.url, remote.token_env, hasToken);
    if (read.kind === "unreadable") throw silent(`what it answers is no health record: ${read.why}`);
    const store_reset = isReset(answer.text);
    const { url } = remote;
    const passed = passedOver(read.record.node_id, url);
    const passed_over_until = passed?.until_at ?? null;
    if (json) out.document({ ok: true, status: "ok", url, ...read.record, store_reset, passed_over_until });
    else for (const line of recordLines(url, read.record, { store_reset, passed }, out.columns())) out.line(line);
    return 0;
  },
});

function refused(url: string, token_env: string, hasToken: boolean): WritError {
  const variable = token_env === "" ? "WRIT_NODE_TOKEN" : token_env;
  const why = hasToken ? `does not take the token in ${variable}` : `wants a token, and ${variable} is not set`;
  return new WritError("node_refused", `The node at ${url} ${why}`, {
    hint: `Set ${variable} to the token that the node was started with`,
  });
}

function isReset(text: string): boolean {
  const parsed = parseJson(text);
  return parsed.ok && isObject(parsed.value) && valueAt(parsed.value, "store_reset") === true;
}

type Beside = { readonly store_reset: boolean; readonly passed: PassedOver | null };

function recordLines(
  url: string,
  record: PlaceRecord,
  { store_reset, passed }: Beside,
  columns: number | null,
): readonly string[] {
  const { running, max_running, queued, max_queue, new_job_wait_sec, recent_wall_sec } = record;
  const most = (limit: number) => (limit > 0 ? String(limit) : "no limit");
  const facts = factLines({
    node: record.node_id,
    at: url,
    state: record.draining ? "draining: it takes nothing new" : "serving",
    protocol: record.protocol,
    "write door": record.accepts_write ? "open" : "closed",
    running: `${running} of ${most(max_running)}`,
    queued: `${queued}; with those that run ${queued + running} of ${most(max_queue)}`,
    "a new job waits": new_job_wait_sec === null ? null : seconds(new_job_wait_sec),
    "a job takes": recent_wall_sec === null ? null : seconds(recent_wall_sec),
    store: store_reset ? "was found damaged at the last start: what it held is lost" : null,
    "from here":
      passed === null
        ? null
        : `passed over until ${passed.until_at}: it answered about other documents; ${passed.ends} ends that`,
  });
  if (record.seats.length === 0) return [...facts, "", "No seat is configured there"];
  const header = ["SEAT", "MODEL", "ENGINE", "STATE", "WINDOW", "BUSY", "TOK/S"];
  return [...facts, "", ...tableLines(header, record.seats.map(seatRow), columns)];
}

function seatRow(seat: SeatRecord): readonly (string | number | null)[] {
  const window = seat.ctx_tokens > 0 ? seat.ctx_tokens : null;
  const rate = seat.tok_s === null ? null : seat.tok_s.toFixed(1);
  return [seat.name, seat.model, seat.engine, stateOf(seat), window, `${seat.busy}/${seat.slots}`, rate];
}

function stateOf({ served, loaded }: SeatRecord): string {
  if (served === null) return "not looked at yet";
  if (!served) return "away";
  return loaded === false ? "not loaded" : "served";
}

function seconds(sec: number): string {
  return `about ${Math.round(sec)} s`;
}
