import { describe, expect, test } from "bun:test";
import type { NodeAnswer, NodeClient } from "../../src/core/node/client.ts";
import type { IntentRow, OpenIntent } from "../../src/core/node/intents.ts";
import { recoverIntents } from "../../src/delegate/recover.ts";

const INTENT: OpenIntent = {
  e: "try",
  job: "wrt-1",
  url: "http://n",
  node: "",
  sha: "s",
  goal120: "Do it",
  unix: 1000,
  pid: 1,
  pid_start: "a",
  is_owned: true,
};
const answer = (status: number, body: unknown = {}): NodeAnswer => ({
  kind: "answer",
  status,
  code: "",
  message: "",
  text: JSON.stringify(body),
  retry_after_sec: null,
});

async function recover(said: NodeAnswer, more: { alive?: boolean; now?: number; known?: boolean } = {}) {
  const rows: IntentRow[] = [];
  const saved: string[] = [];
  let asked = 0;
  const client = {
    poll: async () => {
      asked += 1;
      return said;
    },
  } as unknown as NodeClient;
  const found = await recoverIntents(
    {
      intents: { append: (row) => rows.push(row) > 0 },
      open: () => [INTENT],
      isAlive: () => more.alive ?? false,
      clientOf: () => ((more.known ?? true) ? client : null),
      save(job, text) {
        saved.push(text);
        return { place: `recovered/${job}.json` };
      },
      unix: () => more.now ?? 2000,
    },
    new AbortController().signal,
  );
  return { found, rows, saved, asked };
}

describe("recoverIntents()", () => {
  test("keeps the result of a job that ended, and closes its intent", async () => {
    const { found, rows, saved } = await recover(
      answer(200, { job_id: "wrt-1", state: "done", result: { output: "x" } }),
    );
    expect(found).toMatchObject([{ job: "wrt-1", state: "recovered", told: "its result is in recovered/wrt-1.json" }]);
    expect(saved).toEqual(['{"output":"x"}']);
    expect(rows).toEqual([{ e: "close", job: "wrt-1", note: "its result is in recovered/wrt-1.json" }]);
  });

  test.each<[string, NodeAnswer, string, boolean]>([
    ["a node that holds it no longer", answer(404), "gone", true],
    ["a job that was given up there", answer(200, { job_id: "wrt-1", state: "canceled" }), "gone", true],
    ["a job that still runs", answer(200, { job_id: "wrt-1", state: "running" }), "waiting", false],
    ["a token that is not taken", answer(401), "open", false],
    ["a node that does not answer", { kind: "none", why: "connection refused", is_sent: false }, "open", false],
    ["an answer about another job", answer(200, { job_id: "wrt-2", state: "done", result: {} }), "open", false],
    ["an answer of no use", answer(200, []), "open", false],
  ])("of %s", async (_, said, state, isClosed) => {
    const { found, rows, saved } = await recover(said);
    expect([found[0]?.state, rows.length === 1, saved]).toEqual([state as "open", isClosed, []]);
  });

  test("closes unasked what is older than two days", async () => {
    const { found, asked } = await recover(answer(200), { now: 1000 + 48 * 3600 + 1 });
    expect([found[0]?.state, asked]).toEqual(["expired", 0]);
  });

  test("leaves alone what a living process follows, and what no configured remote is known for", async () => {
    expect((await recover(answer(200), { alive: true })).found).toEqual([]);
    expect((await recover(answer(200), { known: false })).found).toMatchObject([{ state: "open" }]);
  });
});
