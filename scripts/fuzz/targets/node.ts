/** What nodes are sent and what they answer. */
import { canonicalContract, readContracts } from "../../../src/core/delegation/contract.ts";
import { fitResult } from "../../../src/core/delegation/fit-result.ts";
import { JUDGES } from "../../../src/core/delegation/judges.ts";
import { readWireResult } from "../../../src/core/delegation/read-wire-result.ts";
import { EventStream, type StreamEvent } from "../../../src/core/event-stream.ts";
import { parseJson } from "../../../src/core/json/parse.ts";
import { canonicalJson, isObject, valueAt } from "../../../src/core/json/value.ts";
import { renderView } from "../../../src/core/node/job.ts";
import { readView } from "../../../src/core/node/read-view.ts";
import { routeOf } from "../../../src/core/node/route.ts";
import { judgeSubmit, type NodeState } from "../../../src/core/node/submit.ts";
import { readHealth } from "../../../src/core/placement/health.ts";
import { captureNames, captureOf } from "../../../test/support/llama-capture.ts";
import { sha256, submitAs, submitOf } from "../../../test/support/node-world.ts";
import { doneResult } from "../../../test/support/wire-result.ts";
import { hold, reading, same } from "../target.ts";

const NODE: NodeState = {
  isDraining: false, acceptsWrite: true, profiles: ["research"], seats: [{ name: "a", ctx_tokens: 32_768 }],
  backlog: 0, maxQueue: 4, newJobWaitSec: 1, freeBytes: 1e12,
}; // biome-ignore format: a record

const WORDS = ["job_id", "contract", "contract_sha256", "seat", "deadline_sec", "label", "origin", "goal", "wrt-000000000000000000000001", "acceptance", "depth", "schema_version"]; // biome-ignore format: a list

export const submit = reading({
  name: "submit",
  parts: ["body"],
  corpus: () => [submitOf(1).body, submitOf(2, {}, { seat: "a", label: "x", deadline_sec: 30 }).body, submitAs(3, { goal: "find it", acceptance: ["contains:a"], context: [{ name: "a.md", text: "a" }], write_root: "src" }).body], // biome-ignore format: a list
  words: WORDS,
  read: ({ text }) => {
    judged(text);
    // With the digest that it should have, a changed contract comes further.
    const body = parseJson(text);
    const contract = body.ok && isObject(body.value) ? valueAt(body.value, "contract") : undefined;
    if (isObject(contract)) judged(submitAs(4, contract).body);
  },
});

function judged(text: string): void {
  const verdict = judgeSubmit(text, NODE, { find: () => null, sha256 });
  if (verdict.kind === "refused") {
    hold(
      "a refusal has a code and a sentence",
      verdict.code.length > 0 && verdict.message.length > 0 && !/[\r\n]/.test(verdict.message),
      verdict,
    );
    return;
  }
  if (verdict.kind !== "taken") return;
  const { job_id, contract_sha256, contract_text } = verdict.submission;
  const kept = readContracts(contract_text, JUDGES);
  same("what is kept has no issue", kept.issues, []);
  same(
    "what is kept reads as itself",
    kept.subtasks.map(({ contract }) => canonicalJson(canonicalContract(contract))),
    [contract_text],
  );
  const again = judgeSubmit(
    text,
    { ...NODE, isDraining: true, backlog: 9 },
    { find: () => ({ contract_sha256, state: "running" }), sha256 },
  );
  same("the same job is known, however full the node is", again, { kind: "known", job_id });
}

function views(): readonly string[] {
  const job = { job_id: "wrt-000000000000000000000001", contract_sha256: "0".repeat(64) };
  const view = { job_id: job.job_id, state: "running", rev: 3, queue_position: 0, age_ms: 5, queued_ms: 1, running_ms: 4, wall_sec: 60, waits: { admission_sec: 0, contention_sec: 1 }, restarts: 0 } as const; // biome-ignore format: a record
  const progress = { phase: "tool", step: 1, max_steps: 9, tool: "read_file", arg: "a.md", tokens: 5, tok_s: 1.5, idle_ms: 1, allowance_ms: 9 } as const; // biome-ignore format: a record
  return [
    renderView({ ...view, progress }),
    renderView({ ...view, state: "done", result: JSON.stringify(doneResult(job)) }),
    renderView({ ...view, state: "error", error: { code: "internal", path: null, message: "no", hint: null } }),
    JSON.stringify(
      doneResult(job, {
        structured: '{"a":1.50}',
        diff: "--- a/x\n+++ b/x\n",
        diff_files: ["x"],
        trace: [{ step: 1, tool: "read_file", status: "ok", obs_chars: 5 }],
        seat_pin: null,
      }),
    ),
  ];
}

export const jobView = reading({
  name: "job-view",
  parts: ["view or result"],
  corpus: views,
  words: ["state", "done", "running", "progress", "result", "structured", "diff_files", "defer_class", "stop_reason", "canceled", "waits", "trace", "tokens", "error", "message", "seat_pin"], // biome-ignore format: a list
  read: ({ text }) => {
    const read = readView(text);
    const result = readWireResult(read.ok && read.view.result !== null ? read.view.result : text);
    if (read.ok) {
      const { rev, queue_position, queued_ms, running_ms, waits_sec, restarts, progress } = read.view;
      const numbers = [
        rev,
        queue_position,
        queued_ms,
        running_ms,
        waits_sec,
        restarts,
        progress?.tokens ?? 0,
        progress?.tok_s ?? 0,
      ];
      hold(
        "numbers are finite and not negative",
        numbers.every((each) => Number.isFinite(each) && each >= 0),
        numbers,
      );
    } else hold("why is one line", !/[\r\n]/.test(read.why), read.why);
    if (!result.ok) hold("why is one line", !/[\r\n]/.test(result.why), result.why);
    else {
      const again = readWireResult(JSON.stringify(result.result));
      same("a result that was read reads as itself", again.ok ? again.result : again.why, result.result);
    }
    const fitted = fitResult(text, "run-1", 400);
    hold("what is made to fit grows no larger", fitted.length <= text.length, fitted);
    if (parseJson(text).ok) hold("what is made to fit is JSON", parseJson(fitted).ok, fitted);
  },
});

const HEALTH = JSON.stringify({
  ok: true, node_id: "box", protocol: 1, schema_versions: [1], draining: false, accepts_write: true, max_running: -1, running: 0, queued: 0, max_queue: 8,
  new_job_wait_sec: null, recent_wall_sec: 12.5, profiles: ["research"],
  seats: [{ name: "a", model: "m", engine: "llama.cpp", served: true, loaded: true, slots: 2, free: 1, ctx_tokens: 32768, decode_tok_s: 12.5, write: true, tools: true }],
}); // biome-ignore format: a record

export const health = reading({
  name: "health",
  parts: ["record"],
  corpus: () => [HEALTH, '{"ok":true,"protocol":1}'],
  words: ["node_id", "seats", "slots", "protocol", "local", "max_running", "ctx_tokens"],
  read: ({ text }) => {
    const read = readHealth(text);
    if (read.kind === "unreadable") hold("why is one line", !/[\r\n]/.test(read.why), read.why);
    if (read.kind !== "record") return;
    hold(
      "a node has a name of its own",
      read.record.node_id !== "" && read.record.node_id !== "local",
      read.record.node_id,
    );
  },
});

export const route = reading({
  name: "node-route",
  parts: ["target"],
  corpus: () => [
    "/writ/v1/health",
    "/writ/v1/jobs?limit=5",
    "/writ/v1/jobs/wrt-000000000000000000000001?wait=25&since=3",
    "/writ/v1/jobs/wrt-000000000000000000000001/events",
    "/writ/v2/jobs",
    "/",
  ],
  words: ["/writ/v1/", "jobs", "?wait=", "&since=", "%00", "%2f", "//", "force=1", "wait=1&wait=2", "events", "result"],
  read: ({ text }) => {
    for (const method of ["GET", "POST", "DELETE", "PUT"]) {
      const found = routeOf(method, text);
      if (found.kind === "view")
        hold("a poll is held for a while and no longer", found.wait_ms >= 0 && found.wait_ms <= 25_000, found);
      if (found.kind === "recent") hold("a list has an end", found.limit >= 0 && found.limit <= 200, found);
    }
  },
});

/** Bodies of streams that a real server sent, and such as nodes send. */
export const streams = () => [
  ...captureNames().flatMap((name) => (name.startsWith("stream") ? [captureOf(name).response.text] : [])),
  ...views().map((view, at) => `id: ${at}\nevent: ${at === 1 ? "done" : "progress"}\ndata: ${view}\n\n`),
  ": ping\n\ndata: a\ndata: b\n\nretry: 5\r\n\r\ndata\n\n",
];

export const eventStream = reading({
  name: "event-stream",
  parts: ["bytes"],
  corpus: streams,
  words: ["data: ", "data:", "event: ", "id: ", "id: \0", "retry: ", ":", "\n\n", "\r\n\r\n", "\r", "\ufeff", "[DONE]"],
  read: ({ bytes }) => {
    const whole = new EventStream();
    const events = [...whole.push(bytes), ...ended(whole)];
    const pieces = new EventStream();
    const cut: StreamEvent[] = [];
    for (let at = 0; at < bytes.length; at += 7) cut.push(...pieces.push(bytes.subarray(at, at + 7)));
    cut.push(...ended(pieces));
    same("bytes in pieces are the same events", cut, events);
    const small = new EventStream({ line_bytes: 64, event_bytes: 64 });
    hold(
      "no event is beyond its bound",
      small.push(bytes).every(({ data }) => data.length <= 64),
    );
  },
});

function ended(stream: EventStream): readonly StreamEvent[] {
  const last = stream.end();
  return last === null ? [] : [last];
}
