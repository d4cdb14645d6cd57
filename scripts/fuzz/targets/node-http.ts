/** A whole node behind a real socket: bytes that are nearly requests, in pieces, on one connection. */

import { parseJson } from "../../../src/core/json/parse.ts";
import { canonicalJson, isObject, type JsonValue, valueAt } from "../../../src/core/json/value.ts";
import {
  BEARER,
  type LiveNode,
  liveNode,
  type RawClient,
  request,
  TOKEN,
  until,
} from "../../../test/support/live-node.ts";
import { type Play, submitOf } from "../../../test/support/node-world.ts";
import { doneResult } from "../../../test/support/wire-result.ts";
import { hold, reading } from "../target.ts";

const BASE = "/writ/v1";
const JOB = "wrt-000000000000000000000001";
/** Short, so that what is never ended is ended soon. */
const LIMITS = { header_ms: 400, keep_alive_ms: 400, body_ms: 400, answer_ms: 2_000, stop_ms: 200 } as const;
/** A connection that is still open then is closed from this side. */
const MOST_MS = 700;
const SERVER_FAULTS = new Set([503, 507]);
/** What a request without the token may be answered. */
const WITHOUT_TOKEN = new Set([400, 401, 431]);

const play: Play = async (job) => doneResult(job);

let opened: Promise<LiveNode> | null = null;

function post(body: string, headers: readonly string[] = []): string {
  const length = `Content-Length: ${Buffer.byteLength(body)}`;
  return request("POST", `${BASE}/jobs`, [BEARER, "Content-Type: application/json", length, ...headers], body);
}

function chunked(body: string): string {
  const pieces = [body.slice(0, 40), body.slice(40)].map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`);
  const headers = [BEARER, "Content-Type: application/json", "Transfer-Encoding: chunked"];
  return request("POST", `${BASE}/jobs`, headers, `${pieces.join("")}0\r\n\r\n`);
}

export const nodeHttp = reading({
  name: "node-http",
  parts: ["bytes"],
  corpus: () => [
    request("GET", `${BASE}/health`, [BEARER]),
    request("GET", `${BASE}/health`),
    request("GET", `${BASE}/jobs?limit=5`, [BEARER]) + request("GET", `${BASE}/jobs/${JOB}`, [BEARER]),
    request("GET", `${BASE}/jobs/${JOB}?wait=1&since=3`, [BEARER]),
    request("GET", `${BASE}/jobs/${JOB}/events`, [BEARER, "Accept: text/event-stream"]),
    request("DELETE", `${BASE}/jobs/${JOB}?force=1`, [BEARER]),
    post(submitOf(1).body),
    post(submitOf(2).body, ["Expect: 100-continue"]) + request("GET", `${BASE}/capabilities`, [BEARER]),
    chunked(submitOf(3).body),
    request("GET", `${BASE}/health`, ["Connection: Upgrade", "Upgrade: h2c"]),
    request("CONNECT", "example:443"),
  ],
  words: [
    ...["GET ", "POST ", "HEAD ", "HTTP/1.1", "HTTP/1.0", "HTTP/2.0", "\r\n", "\r\n\r\n", "\n", "\r", "\0", " ", "\t"],
    ...["Content-Length: 5\r\n", "Content-Length: -1\r\n", "Content-Length: 99999999999999999999\r\n"],
    ...["Transfer-Encoding: chunked\r\n", "Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n", "ffffffffffffffff\r\n"],
    ...["Content-Encoding: gzip\r\n", "Content-Type: application/json; charset=utf-16\r\n", `${BEARER}\r\n`],
    ...["Authorization: Bearer x\r\n", "Host: evil\r\n", "Origin: null\r\n", "Expect: 100-continue\r\n", "X: "],
    ...[`${BASE}/jobs`, `/${JOB}`, "/events", "/result", "?wait=25", "&since=0", "%2e%2e/", "http://other/", "*"],
  ],
  max_bytes: 64 * 1024,
  grown_bytes: 0,
  read: async ({ bytes, text }) => {
    opened ??= liveNode({ play, limits: LIMITS });
    const node = await opened;
    const heard = await said(await node.raw(), bytes);
    const hasHead = text.includes("HEAD");
    const answers = answersOf(heard, hasHead);
    for (const { status, body } of answers) {
      hold("what is answered has a status that a node gives", status < 500 || SERVER_FAULTS.has(status), status, body);
      if (body !== null) hold("what is answered is an object", isObject(body), status, body);
      if (text.includes(TOKEN)) continue;
      // Of HEAD there is no body.
      const isReduced = body === null ? hasHead : canonicalJson(body) === '{"ok":true,"protocol":1}';
      hold("who has no token learns nothing", isReduced || WITHOUT_TOKEN.has(status), status, body);
    }
    hold("the token is told to nobody", !heard.includes(TOKEN), heard.slice(0, 2_000));
    for (const { status, body } of answers) {
      const job_id = status === 202 && body !== null && isObject(body) ? valueAt(body, "job_id") : null;
      if (typeof job_id === "string") hold("what is acknowledged is there", node.node.view(job_id) !== null, job_id);
    }
    hold("nothing of it is a defect", node.defects.length === 0, node.defects);
    await until(() => node.server.connections === 0 && node.server.held === 0);
    hold("the node answers the next one", (await node.ask("GET", "/health")).status === 200);
  },
});

/** Everything that is heard when this was said, in up to three pieces. */
async function said(client: RawClient, bytes: Uint8Array): Promise<string> {
  const third = Math.ceil(bytes.length / 3);
  for (const from of [0, third, 2 * third]) {
    client.say(bytes.subarray(from, from + third));
    await new Promise((resolve) => setImmediate(resolve));
  }
  client.socket.end();
  const timer = setTimeout(() => client.socket.destroy(), MOST_MS);
  const heard = await client.closed;
  clearTimeout(timer);
  return heard;
}

type Heard = { readonly status: number; readonly body: JsonValue | null };

/** The answers of a connection, one behind the other; the last may be cut. */
function answersOf(heard: string, hasHead: boolean): readonly Heard[] {
  const answers: Heard[] = [];
  for (let rest = heard; rest !== ""; ) {
    const head = /^HTTP\/1\.1 (\d{3})[^\r\n]*\r\n(?:[^\r\n]+\r\n)*\r\n/.exec(rest);
    hold("what is answered is HTTP", head !== null, rest.slice(0, 500));
    if (head === null) break;
    const status = Number(head[1]);
    const length = /\r\ncontent-length: (\d+)\r\n/i.exec(head[0])?.[1];
    const from = head[0].length;
    if (status === 100) rest = rest.slice(from);
    else if (length === undefined || hasHead) return [...answers, { status, body: null }];
    else {
      const body = rest.slice(from, from + Number(length));
      rest = rest.slice(from + Number(length));
      const read = parseJson(Buffer.from(body, "latin1").toString("utf8"));
      const isCut = body.length < Number(length);
      hold("what is answered is JSON", read.ok || isCut, body);
      answers.push({ status, body: read.ok ? read.value : null });
    }
  }
  return answers;
}
