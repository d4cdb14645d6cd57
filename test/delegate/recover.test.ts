import { describe, expect, test } from "bun:test";
import { WritError } from "../../src/core/error.ts";
import type { NodeAnswer, NodeClient } from "../../src/core/node/client.ts";
import type { IntentRow, OpenIntent } from "../../src/core/node/intents.ts";
import { recoverIntents } from "../../src/delegate/recover.ts";
import { doneResult } from "../support/wire-result.ts";

const intent = (job: string, more: Partial<OpenIntent> = {}): OpenIntent => ({
  e: "try",
  job,
  url: "http://n",
  node: "",
  sha: "s",
  goal120: "Do it",
  unix: 1000,
  pid: 1,
  pid_start: "a",
  is_owned: true,
  ...more,
});
const resultOf = (job_id: string, contract_sha256 = "s") => doneResult({ job_id, contract_sha256 });
const answer = (status: number, body: unknown = {}): NodeAnswer => ({
  kind: "answer",
  status,
  code: "",
  message: "",
  text: JSON.stringify(body),
  retry_after_sec: null,
});
const done = (job: string, result: unknown = resultOf(job)) => answer(200, { job_id: job, state: "done", result });
const SILENT: NodeAnswer = { kind: "none", why: "connection refused", is_sent: false };

type More = {
  readonly intents?: readonly OpenIntent[];
  readonly alive?: (pid: number) => boolean;
  readonly now?: number;
  readonly known?: boolean;
  readonly full?: boolean;
  readonly signal?: AbortSignal;
  readonly onAsk?: (job: string) => void;
};

async function recover(say: NodeAnswer | ((job: string) => NodeAnswer), more: More = {}) {
  const rows: IntentRow[] = [];
  const saved: [string, string][] = [];
  const asked: string[] = [];
  const told: string[] = [];
  const client = {
    async poll(job: string) {
      asked.push(job);
      more.onAsk?.(job);
      return typeof say === "function" ? say(job) : say;
    },
  } as unknown as NodeClient;
  const found = await recoverIntents(
    {
      intents: { append: (row) => rows.push(row) > 0 },
      open: () => more.intents ?? [intent("wrt-1")],
      isAlive: ({ pid }) => more.alive?.(pid) ?? false,
      clientOf: () => ((more.known ?? true) ? client : null),
      save(job, text) {
        if (more.full === true) throw new WritError("file_unwritable", "Cannot write it: the disk is full");
        saved.push([job, text]);
        return { place: `recovered/${job}.json` };
      },
      unix: () => more.now ?? 2000,
      breathe: async () => {},
    },
    more.signal ?? new AbortController().signal,
    ({ job }) => void told.push(job),
  );
  return { found, rows, saved, asked, told };
}

describe("recoverIntents()", () => {
  test("keeps the result of a job that ended, as it came, and closes its intent", async () => {
    const { found, rows, saved, told } = await recover(done("wrt-1"));
    const note = "its result is in recovered/wrt-1.json";
    const what = { job: "wrt-1", url: "http://n", goal: "Do it", run_id: "", index: null };
    expect(found).toEqual([{ ...what, state: "recovered", told: note }]);
    expect(saved).toEqual([["wrt-1", JSON.stringify(resultOf("wrt-1"))]]);
    expect(rows).toEqual([{ e: "close", job: "wrt-1", note }]);
    expect(told).toEqual(["wrt-1"]);
  });

  test.each<[string, NodeAnswer, string, RegExp, boolean]>([
    ["a node that holds it no longer", answer(404), "gone", /^node no longer holds it$/, true],
    [
      "a job that was given up there",
      answer(200, { job_id: "wrt-1", state: "canceled" }),
      "gone",
      /^it ended there as canceled, without a result$/,
      true,
    ],
    ["a result for another contract", done("wrt-1", resultOf("wrt-1", "t")), "gone", /for another contract$/, true],
    ["a result of another job", done("wrt-1", resultOf("wrt-2")), "gone", /for another contract$/, true],
    ["a result of no use", done("wrt-1", {}), "gone", /^its result cannot be used: /, true],
    [
      "a result that is too large",
      { kind: "unusable", why: "its answer has more than 9 bytes", status: 200 },
      "gone",
      /^its result cannot be used: /,
      true,
    ],
    [
      "a job that still runs",
      answer(200, { job_id: "wrt-1", state: "running" }),
      "waiting",
      /^the node says that it is running$/,
      false,
    ],
    ["a token that is not taken", answer(401), "open", /^the node does not take the token \(HTTP 401\)$/, false],
    ["a node that does not answer", SILENT, "open", /^the node does not answer: connection refused$/, false],
    ["a node that stumbles", answer(500), "open", /^the node answers with HTTP 500$/, false],
    ["an answer about another job", answer(200, { job_id: "wrt-2", state: "done" }), "open", /cannot be used$/, false],
    ["an answer of no use", answer(200, []), "open", /cannot be used$/, false],
  ])("of %s", async (_, said, state, why, isClosed) => {
    const { found, rows, saved } = await recover(said);
    expect([found[0]?.state, rows.length === 1, saved]).toEqual([state as "open", isClosed, []]);
    expect(found[0]?.told).toMatch(why);
  });

  test("closes unasked what is older than two days", async () => {
    const { found, asked, rows } = await recover(done("wrt-1"), { now: 1000 + 48 * 3600 + 1 });
    expect([found[0]?.state, asked]).toEqual(["expired", []]);
    expect(rows).toEqual([{ e: "close", job: "wrt-1", note: "expired" }]);
    expect((await recover(done("wrt-1"), { now: 1000 + 48 * 3600 })).found[0]?.state).toBe("recovered");
  });

  test("leaves alone what a living process follows, and what no configured remote is known for", async () => {
    const intents = [intent("wrt-1", { pid: 7 }), intent("wrt-2")];
    const { found } = await recover((job) => done(job), { intents, alive: (pid) => pid === 7 });
    expect(found.map(({ job }) => job)).toEqual(["wrt-2"]);
    expect((await recover(answer(200), { known: false })).found).toMatchObject([
      { state: "open", told: "no such remote is configured" },
    ]);
  });

  test("leaves open what could not be kept", async () => {
    const { found, rows } = await recover(done("wrt-1"), { full: true });
    expect(found).toMatchObject([
      { state: "open", told: "its result cannot be kept: Cannot write it: the disk is full" },
    ]);
    expect(rows).toEqual([]);
  });

  test("asks a node that does not answer once, and the others all the same", async () => {
    const intents = [
      intent("wrt-1", { url: "http://dead" }),
      intent("wrt-2"),
      intent("wrt-3", { url: "http://dead" }),
      intent("wrt-4"),
    ];
    const { found, asked } = await recover((job) => (job === "wrt-1" ? SILENT : done(job)), { intents });
    expect(found.map(({ job, state }) => [job, state])).toEqual([
      ["wrt-1", "open"],
      ["wrt-2", "recovered"],
      ["wrt-3", "open"],
      ["wrt-4", "recovered"],
    ]);
    expect(asked.toSorted()).toEqual(["wrt-1", "wrt-2", "wrt-4"]);
  });

  test("leaves open what it had no time for", async () => {
    const stop = new AbortController();
    const intents = [intent("wrt-1"), intent("wrt-2"), intent("wrt-3")];
    const onAsk = (job: string) => {
      if (job === "wrt-2") stop.abort();
    };
    const say = (job: string): NodeAnswer => (job === "wrt-2" ? SILENT : done(job));
    const { found, asked } = await recover(say, { intents, signal: stop.signal, onAsk });
    expect(found.map(({ state }) => state)).toEqual(["recovered", "open", "open"]);
    expect([asked, found[1]?.told]).toEqual([["wrt-1", "wrt-2"], "the time was over before it answered"]);
  });
});
