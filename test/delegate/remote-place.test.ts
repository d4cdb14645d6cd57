import { describe, expect, test } from "bun:test";
import type { DelegationContract } from "../../src/core/delegation/contract.ts";
import type { WireResult } from "../../src/core/delegation/wire-result.ts";
import type { NodeAnswer, NodeClient } from "../../src/core/node/client.ts";
import type { IntentRow } from "../../src/core/node/intents.ts";
import { readView } from "../../src/core/node/read-view.ts";
import type { PlaceProgress } from "../../src/core/placement/port.ts";
import { HeldJobs } from "../../src/delegate/held-jobs.ts";
import { queueBudgetMs, remotePlace } from "../../src/delegate/remote-place.ts";
import { manualClock } from "../support/manual-clock.ts";
import { doneResult } from "../support/wire-result.ts";

const JOB = {
  job_id: `wrt-${"1".repeat(24)}`,
  contract_sha256: "sha",
  contract: {
    goal: "Do it",
    context: [],
    timeout_sec: 100,
    acceptance: [],
    output_schema: null,
  } as unknown as DelegationContract,
};

const answer = (status: number, body: object = {}, more: object = {}): NodeAnswer => ({
  kind: "answer",
  status,
  code: "",
  message: "",
  text: JSON.stringify(body),
  retry_after_sec: null,
  ...more,
});
const none = (is_sent = true): NodeAnswer => ({ kind: "none", why: "connection reset", is_sent });
const view = (state: string, more: object = {}) => answer(200, { job_id: JOB.job_id, state, rev: 1, ...more });
const ACK = answer(202, { job_id: JOB.job_id, state: "accepted", rev: 1, new_job_wait_sec: 0 });
const result = (more: Partial<WireResult> = {}) => doneResult(JOB, more);
const DONE = view("done", { result: result() });

type Script = {
  readonly submit?: readonly NodeAnswer[];
  readonly poll?: readonly NodeAnswer[];
  readonly cancel?: readonly NodeAnswer[];
  /** Texts of views, and whether the stream came to its end; null: there is no stream. */
  readonly events?: readonly [readonly string[], boolean] | null;
  /** The stream stays open behind its events, and says nothing more. */
  readonly lingers?: boolean;
  /** For how long nothing had come when the stream was given up. */
  readonly streamSilent_ms?: number;
};

/** The last answer of a list is given again and again. */
function placeOf(
  script: Script,
  more: {
    policy?: "replace" | "wait";
    ledger?: boolean;
    hasToken?: boolean;
    health?: NodeAnswer;
    holds?: boolean;
    held?: HeldJobs;
  } = {},
) {
  const clock = manualClock();
  const asked: string[] = [];
  const rows: IntentRow[] = [];
  const counts = new Map<string, number>();
  const next = (what: "submit" | "poll" | "cancel"): NodeAnswer => {
    const at = counts.get(what) ?? 0;
    counts.set(what, at + 1);
    const list = script[what] ?? [];
    return list[Math.min(at, list.length - 1)] ?? none();
  };
  const client: NodeClient = {
    url: "http://n",
    health: async () => more.health ?? none(),
    async submit(body) {
      asked.push(`submit ${JSON.parse(body).job_id.slice(-4)}`);
      return next("submit");
    },
    async poll(_job, since, wait_sec) {
      asked.push(`poll ${since ?? "now"}`);
      const said = next("poll");
      // A node holds a poll of which there is nothing new.
      if (said.kind === "answer" && since !== null && more.holds !== false)
        await clock.sleep(wait_sec * 1000, new AbortController().signal);
      return said;
    },
    async follow(_job, signal, onView) {
      if (script.events === undefined || script.events === null) return { isWhole: false, silent_ms: 0 };
      for (const text of script.events[0]) {
        const read = readView(text);
        if (read.ok) onView(read.view);
      }
      if (script.lingers) await clock.sleep(1e9, signal);
      const silent_ms = script.streamSilent_ms ?? 0;
      await clock.sleep(silent_ms, signal);
      return { isWhole: script.events[1], silent_ms };
    },
    async cancel(_job, isForced) {
      asked.push(`cancel${isForced ? " by force" : ""}`);
      return next("cancel");
    },
  };
  const made = remotePlace({
    client,
    token: "T",
    hasToken: () => more.hasToken ?? true,
    clock: { ms: clock.ms, unix: () => 1000 },
    sleep: clock.sleep,
    intents: {
      append(row) {
        rows.push(row);
        return more.ledger ?? true;
      },
    },
    held: more.held ?? new HeldJobs(),
    process: { pid: 7, pid_start: "x", origin: "here/7", label: "" },
    orphan: { grace_sec: 60, policy: more.policy ?? "replace" },
    most_wait_sec: 2190,
  });
  const told: PlaceProgress[] = [];
  const stop = new AbortController();
  const run = () =>
    made.run(JOB, "s", { signal: stop.signal, onProgress: (progress) => told.push(progress), deadline_sec: 0 });
  return {
    place: made,
    probe: () => made.probe(stop.signal),
    clock,
    asked,
    rows,
    told,
    stop,
    run,
    drive: () => clock.drive(run()),
    ledger: () => rows.map(({ e }) => e).join(" "),
  };
}

describe("a job at a node", () => {
  test("is written down before it is sent, owned before it is asked for, and closed at its end", async () => {
    const { drive, rows, asked } = placeOf({ submit: [ACK], poll: [DONE] });
    expect(await drive()).toMatchObject({ kind: "ran", result: { output: "done" } });
    expect(rows).toMatchObject([{ e: "try", job: JOB.job_id, sha: "sha", goal120: "Do it", pid: 7 }, { e: "open" }]);
    expect(asked).toEqual(["submit 1111", "poll now"]);
  });

  test("that ran stays written down until its result is kept", async () => {
    const { drive, ledger, rows, place } = placeOf({ submit: [ACK], poll: [DONE] });
    await drive();
    expect(ledger()).toBe("try open");
    expect(place.forget(JOB.job_id)).toBe(true);
    expect(rows.at(-1)).toEqual({ e: "close", job: JOB.job_id, note: "kept" });
  });

  test("is followed by its events where the node has them", async () => {
    const texts = [
      { state: "accepted", rev: 1, queue_position: 2 },
      { state: "running", rev: 2, progress: { phase: "tool", step: 1, max_steps: 3, tool: "read_file" } },
      { state: "done", rev: 3, queued_ms: 1500, result: result() },
    ].map((each) => JSON.stringify({ job_id: JOB.job_id, ...each }));
    const { drive, told, asked } = placeOf({ submit: [ACK], events: [texts, true] });
    expect(await drive()).toMatchObject({ kind: "ran", queued_sec: 1.5 });
    expect(told).toMatchObject([
      { kind: "queued", position: 3 },
      { kind: "running", progress: { tool: "read_file" } },
    ]);
    expect(asked).toEqual(["submit 1111"]);
  });

  test("is polled when its events break off", async () => {
    const running = JSON.stringify({ job_id: JOB.job_id, state: "running", rev: 2 });
    const { drive, asked } = placeOf({ submit: [ACK], events: [[running], false], poll: [DONE] });
    expect(await drive()).toMatchObject({ kind: "ran" });
    expect(asked).toEqual(["submit 1111", "poll 2"]);
  });

  test("is sent twice under one id where no answer came, and is refused when none comes", async () => {
    const twice = placeOf({ submit: [none(), ACK], poll: [DONE] });
    expect(await twice.drive()).toMatchObject({ kind: "ran" });
    expect(twice.asked.slice(0, 2)).toEqual(["submit 1111", "submit 1111"]);
    const never = placeOf({ submit: [none()] });
    expect(await never.drive()).toMatchObject({ kind: "refused", http: null, message: "connection reset" });
    // The node may have it, and only the ledger says so.
    expect([never.asked.length, never.ledger()]).toEqual([2, "try"]);
    const unsent = placeOf({ submit: [none(false)] });
    expect([(await unsent.drive()).kind, unsent.ledger()]).toEqual(["refused", "try close"]);
  });

  test.each<[number, string, number | null]>([
    [503, "queue_full", 20],
    [400, "write_door_closed", null],
    [409, "previously_failed", null],
    [401, "unauthorized", null],
  ])("of an answer %p %s is refused with all that was said", async (status, code, retry_after_sec) => {
    const { drive, ledger } = placeOf({ submit: [answer(status, {}, { code, message: "why", retry_after_sec })] });
    expect(await drive()).toEqual({ kind: "refused", http: status, code, message: "why", retry_after_sec });
    expect(ledger()).toBe("try close");
  });

  test("that the node loses is handed over again twice, and then is lost", async () => {
    const again = placeOf({ submit: [ACK], poll: [answer(404), answer(404), DONE] });
    expect(await again.drive()).toMatchObject({ kind: "ran" });
    const lost = placeOf({ submit: [ACK], poll: [answer(404)] });
    expect(await lost.drive()).toEqual({ kind: "lost", reason: "remote job error: the node lost the job 3 times" });
    expect(lost.asked.filter((each) => each.startsWith("submit"))).toHaveLength(3);
  });

  test("that the node loses and has no room for any more is refused, as it would have been at first", async () => {
    const full = answer(503, {}, { code: "queue_full", message: "full", retry_after_sec: 2 });
    const { drive, ledger } = placeOf({ submit: [ACK, full], poll: [answer(404)] });
    expect(await drive()).toEqual({
      kind: "refused",
      http: 503,
      code: "queue_full",
      message: "it lost the job: full",
      retry_after_sec: 2,
    });
    expect(ledger()).toBe("try open close");
  });

  test("whose token is not taken any more has failed, and its intent stays open", async () => {
    const { drive, ledger } = placeOf({ submit: [ACK], poll: [answer(401)] });
    expect(await drive()).toMatchObject({ kind: "failed", reason: expect.stringMatching(/^auth rejected: /) });
    expect(ledger()).toBe("try open");
  });

  test("that was given up there is offered elsewhere; one that failed there is lost", async () => {
    expect(await placeOf({ submit: [ACK], poll: [view("canceled")] }).drive()).toMatchObject({ kind: "withdrawn" });
    const failed = placeOf({ submit: [ACK], poll: [view("error", { error: { message: "boom" } })] });
    expect(await failed.drive()).toEqual({ kind: "lost", reason: "remote job error: boom" });
  });

  test.each<[string, object]>([
    ["no result", {}],
    ["a result of no use", { result: { schema_version: 1 } }],
  ])("that ended with %s has failed", async (_, more) => {
    expect(await placeOf({ submit: [ACK], poll: [view("done", more)] }).drive()).toMatchObject({
      kind: "failed",
      reason: expect.stringContaining("its result cannot be used"),
    });
  });

  test("that is never begun is taken back at the end of its queue budget", async () => {
    const taken = placeOf({ submit: [ACK], poll: [view("accepted")], cancel: [view("canceled")] });
    expect(await taken.drive()).toMatchObject({
      kind: "withdrawn",
      message: expect.stringMatching(/^not begun within \d+s$/),
    });
    expect(taken.clock.ms()).toBeGreaterThanOrEqual(60_000);
    const begun = placeOf({
      submit: [ACK],
      poll: [...Array.from({ length: 8 }, () => view("accepted")), DONE],
      cancel: [answer(409, {}, { code: "running" })],
    });
    expect(await begun.drive()).toMatchObject({ kind: "ran" });
    const unsure = placeOf({ submit: [ACK], poll: [view("accepted")], cancel: [none()] });
    expect(await unsure.drive()).toMatchObject({
      kind: "failed",
      reason: expect.stringMatching(
        /^queue deadline after \d+s: the node accepted the job but never started it; withdraw not confirmed: connection reset$/,
      ),
    });
    expect([taken.ledger(), unsure.ledger()]).toEqual(["try open close", "try open"]);
  });

  test("that goes back into the line of a node that was restarted gets the time in it anew", async () => {
    const { drive, asked } = placeOf({
      submit: [ACK],
      poll: [...Array.from({ length: 8 }, () => view("running")), view("accepted"), view("running"), DONE],
      cancel: [view("canceled")],
    });
    expect(await drive()).toMatchObject({ kind: "ran" });
    expect(asked.filter((each) => each.startsWith("cancel"))).toEqual([]);
    // The restart may show in nothing but its count.
    const unseen = placeOf({
      submit: [ACK],
      poll: [
        ...Array.from({ length: 12 }, () => view("running")),
        ...Array.from({ length: 12 }, () => view("running", { restarts: 1 })),
        DONE,
      ],
    });
    expect(await unseen.drive()).toMatchObject({ kind: "ran" });
    let restarts = 0;
    const endless = placeOf({
      submit: [ACK],
      poll: Array.from({ length: 400 }, () => {
        restarts += 1;
        return view("running", { restarts });
      }),
    });
    expect(await endless.drive()).toMatchObject({ kind: "gave_up", defer_class: "budget" });
  });

  test("that runs for longer than its wall and a minute is given up, moved by the waits that the node tells", async () => {
    const endless = placeOf({ submit: [ACK], poll: [view("running")] });
    expect(await endless.drive()).toMatchObject({
      kind: "gave_up",
      defer_class: "budget",
      reason: expect.stringMatching(/^poll deadline after \d+s: it says that it still runs$/),
    });
    expect(endless.clock.ms()).toBeGreaterThanOrEqual(160_000);
    const waiting = placeOf({
      submit: [ACK],
      poll: [view("running", { waits: { admission_sec: 100, contention_sec: 50 } })],
    });
    await waiting.drive();
    expect(waiting.clock.ms()).toBeGreaterThanOrEqual(310_000);
    // What a node claims to wait is believed up to what a wait may take.
    let rev = 1;
    const boasting = placeOf({
      submit: [ACK],
      poll: Array.from({ length: 400 }, () => {
        rev += 1;
        return view("running", { rev, waits: { admission_sec: 1000 * rev, contention_sec: 0 } });
      }),
    });
    expect(await boasting.drive()).toMatchObject({ kind: "gave_up", defer_class: "budget" });
    expect(boasting.clock.ms()).toBeLessThan((100 + 60 + 2190 + 30) * 1000);
  });

  test("that is seen running by a stream that says nothing more is given up in time", async () => {
    const running = JSON.stringify({ job_id: JOB.job_id, state: "running", rev: 2 });
    // Without an estimate it may lie there for longer than it may run.
    const { drive, clock } = placeOf({
      submit: [answer(202, { job_id: JOB.job_id, state: "accepted", rev: 1 })],
      poll: [view("running")],
      events: [[running], false],
      lingers: true,
    });
    expect(await drive()).toMatchObject({ kind: "gave_up", defer_class: "budget" });
    expect(clock.ms()).toBeWithin(160_000, 200_000);
  });

  test("whose stream fell silent has been silent since then", async () => {
    const { run, clock } = placeOf({ submit: [ACK], poll: [none()], events: [[], false], streamSilent_ms: 20_000 });
    const outcome = await clock.drive(run());
    if (outcome.kind !== "silent") throw new Error("it is not silent");
    expect(clock.ms()).toBeWithin(60_000, 63_000);
  });

  test.each<[string, readonly NodeAnswer[], string]>([
    ["nobody but a gateway answers", [answer(502)], "try"],
    ["the node says that it does not know", [answer(500, {}, { code: "internal" })], "try"],
    ["nothing comes", [none()], "try"],
    [
      "a gateway answers, and then the node refuses it",
      [answer(502), answer(503, {}, { code: "queue_full" })],
      "try close",
    ],
    ["the node refuses it", [answer(503, {}, { code: "queue_full" })], "try close"],
    ["nothing was sent", [none(false)], "try close"],
  ])("of which %s when it is handed over may be there, or is not", async (_, submit, left) => {
    const { drive, ledger, asked } = placeOf({ submit });
    expect(await drive()).toMatchObject({ kind: "refused" });
    expect([ledger(), asked.length]).toEqual([left, submit[0]?.kind === "answer" && submit[0].status === 503 ? 1 : 2]);
  });

  test.each<[string, NodeAnswer]>([
    ["a gateway in its place", answer(502)],
    ["an error of its own", answer(500, {}, { code: "internal" })],
    ["something that is no view", answer(200, [])],
    ["a view of another job", view("running", { job_id: `wrt-${"2".repeat(24)}` })],
  ])("whose node answers with %s is as silent", async (_, useless) => {
    const { run, clock, told } = placeOf({ submit: [ACK], poll: [view("running"), useless] });
    const outcome = await clock.drive(run());
    if (outcome.kind !== "silent") throw new Error("it is not silent");
    expect(clock.ms()).toBeWithin(60_000, 65_000);
    expect(told.some(({ kind }) => kind === "silent")).toBe(true);
    expect(await clock.drive(outcome.outwait())).toMatchObject({
      kind: "gave_up",
      defer_class: "infrastructure",
      reason: expect.stringMatching(/^poll deadline after \d+s: its last answers cannot be used \(/),
    });
  });

  test("whose node is silent for a minute goes elsewhere, and still counts when it answers", async () => {
    const { run, clock, stop } = placeOf({
      submit: [ACK],
      poll: [view("running"), ...Array.from({ length: 40 }, () => none()), DONE],
    });
    const outcome = await clock.drive(run());
    expect(outcome).toMatchObject({ kind: "silent" });
    expect(clock.ms()).toBeGreaterThanOrEqual(60_000);
    if (outcome.kind !== "silent") throw new Error("it is not silent");
    expect(await clock.drive(outcome.late())).toMatchObject({ kind: "ran" });
    stop.abort();
  });

  test("tells of a silence once it is one, how long it is and what comes next, and of each silence anew", async () => {
    const silences = (told: readonly PlaceProgress[]) =>
      told.filter((each): each is Extract<PlaceProgress, { kind: "silent" }> => each.kind === "silent");
    const faults = (count: number) => Array.from({ length: count }, () => none());
    const stumble = placeOf({ submit: [ACK], poll: [view("running"), none(), none(), view("running"), DONE] });
    await stumble.drive();
    expect(silences(stumble.told)).toEqual([]);
    const twice = [view("running"), ...faults(8), view("running"), ...faults(8), DONE];
    const { drive, told } = placeOf({ submit: [ACK], poll: twice });
    await drive();
    const first = {
      kind: "silent",
      why: "connection reset",
      elsewhere_ms: 60_000,
      given_up_ms: expect.any(Number),
    } as const;
    expect(silences(told)).toEqual([
      { ...first, silent_ms: expect.any(Number) },
      { ...first, silent_ms: expect.any(Number) },
    ]);
    for (const { silent_ms } of silences(told)) expect(silent_ms).toBeWithin(1000, 3000);
  });

  test("tells once more of a silence when nobody else takes the leg and it is waited for", async () => {
    const { run, clock, told } = placeOf({ submit: [ACK], poll: [view("running"), none()] });
    const outcome = await clock.drive(run());
    if (outcome.kind !== "silent") throw new Error("it is not silent");
    await clock.drive(outcome.outwait());
    const silences = told.flatMap((each) => (each.kind === "silent" ? [each] : []));
    expect(silences.map(({ elsewhere_ms }) => elsewhere_ms)).toEqual([60_000, null]);
    // It was seen running at once: its wall of 100 s and a minute.
    for (const { given_up_ms } of silences) expect(given_up_ms).toBeWithin(158_000, 160_001);
  });

  test("says of a job that could not be taken back for how long its node has been silent", async () => {
    const { run, clock, stop } = placeOf({ submit: [ACK], poll: [view("running"), none()], cancel: [none()] });
    const running = run();
    void clock.sleep(12_000, new AbortController().signal).then(() => stop.abort());
    const outcome = await clock.drive(running);
    expect(outcome).toMatchObject({ kind: "stopped", state: "running" });
    expect(outcome).toMatchObject({ why: expect.stringMatching(/^it has not answered for 1\ds: connection reset$/) });
  });

  test("whose node is silent and whom nobody else takes is waited for, and not taken back", async () => {
    const back = placeOf({
      submit: [ACK],
      poll: [view("accepted"), ...Array.from({ length: 60 }, () => none()), view("accepted"), view("running"), DONE],
    });
    const outcome = await back.clock.drive(back.run());
    if (outcome.kind !== "silent") throw new Error("it is not silent");
    expect(await back.clock.drive(outcome.outwait())).toMatchObject({ kind: "ran" });
    expect(back.asked.filter((each) => each.startsWith("cancel"))).toEqual([]);
  });

  test("whose node stays silent for good is given up at the deadline of the job, and stays written down", async () => {
    const { run, clock, ledger } = placeOf({ submit: [ACK], poll: [view("running"), none()] });
    const outcome = await clock.drive(run());
    if (outcome.kind !== "silent") throw new Error("it is not silent");
    expect(await clock.drive(outcome.outwait())).toMatchObject({
      kind: "gave_up",
      defer_class: "infrastructure",
      reason: expect.stringMatching(/^poll deadline after \d+s: it answers no more$/),
    });
    expect([clock.ms() < 200_000, ledger()]).toEqual([true, "try open"]);
  });

  test("whose result is too large has failed at once", async () => {
    const large: NodeAnswer = { kind: "unusable", why: "its answer has more than 4194304 bytes", status: 200 };
    const { drive, clock } = placeOf({ submit: [ACK], poll: [large] });
    expect(await drive()).toEqual({
      kind: "failed",
      reason: "remote job error: its answer has more than 4194304 bytes",
    });
    expect(clock.ms()).toBe(0);
  });

  test("whose result the node cannot store yet is taken as it is", async () => {
    const held = placeOf({ submit: [ACK], poll: [view("running", { result: result() })] });
    expect(await held.drive()).toMatchObject({ kind: "ran", result: { output: "done" } });
    const texts = [JSON.stringify({ job_id: JOB.job_id, state: "running", rev: 2, result: result() })];
    expect(await placeOf({ submit: [ACK], events: [texts, false] }).drive()).toMatchObject({ kind: "ran" });
  });

  test("is asked for every two seconds where the node holds no polls", async () => {
    const { drive, asked, clock } = placeOf(
      { submit: [ACK], poll: [...Array.from({ length: 5 }, () => view("running")), DONE] },
      { holds: false },
    );
    expect(await drive()).toMatchObject({ kind: "ran" });
    expect([asked.length, clock.ms()]).toEqual([7, 8_000]);
  });

  test("events about another job say nothing of this one", async () => {
    const texts = [JSON.stringify({ job_id: "wrt-2", state: "done", rev: 2, result: result() })];
    const { drive, asked } = placeOf({ submit: [ACK], events: [texts, true], poll: [DONE] });
    expect(await drive()).toMatchObject({ kind: "ran" });
    expect(asked).toEqual(["submit 1111", "poll now"]);
  });

  test("of a silent node is taken back when the node answers and has not begun it", async () => {
    const { run, clock, asked } = placeOf({
      submit: [ACK],
      poll: [view("accepted"), ...Array.from({ length: 40 }, () => none()), view("accepted")],
      cancel: [view("canceled")],
    });
    const outcome = await clock.drive(run());
    expect(outcome.kind).toBe("silent");
    if (outcome.kind !== "silent") return;
    expect(await clock.drive(outcome.late())).toMatchObject({ kind: "withdrawn" });
    expect(asked.filter((each) => each.startsWith("cancel"))).toEqual(["cancel"]);
  });

  test("of a node that answers again within the minute goes on", async () => {
    const { drive } = placeOf({
      submit: [ACK],
      poll: [view("running"), none(), none(), view("accepted"), view("running"), DONE],
    });
    expect(await drive()).toMatchObject({ kind: "ran" });
  });

  test("waits for a silent node where that is the policy", async () => {
    const { drive } = placeOf(
      { submit: [ACK], poll: [view("running"), ...Array.from({ length: 60 }, () => none()), DONE] },
      { policy: "wait" },
    );
    expect(await drive()).toMatchObject({ kind: "ran" });
  });

  test.each<[NodeAnswer, string]>([
    [view("canceled"), "withdrawn"],
    [view("running"), "stopped"],
    [answer(404), "withdrawn"],
    [none(), "running"],
  ])("is taken back by force when the call stops (%#)", async (said, state) => {
    const { run, clock, stop, asked } = placeOf({ submit: [ACK], poll: [view("running")], cancel: [said] });
    const running = run();
    void clock.sleep(5_000, new AbortController().signal).then(() => stop.abort());
    expect(await clock.drive(running)).toMatchObject({ kind: "stopped", state });
    expect(asked.at(-1)).toBe("cancel by force");
  });

  test("a ledger that cannot be written does not stop it", async () => {
    expect(await placeOf({ submit: [ACK], poll: [DONE] }, { ledger: false }).drive()).toMatchObject({ kind: "ran" });
  });
});

test.each([
  [null, 300, 300_000],
  [0, 300, 60_000],
  [100, 300, 180_000],
  [1000, 300, 360_000],
])("queueBudgetMs(%p, %p) is %p", (wait, wall, ms) => {
  expect(queueBudgetMs(wait, wall)).toBe(ms);
});

describe("a process at a node", () => {
  const health = answer(200, { node_id: "n", protocol: 1, schema_versions: [1], seats: [], max_queue: 1 });

  test("does not hand over more jobs, over all its calls, than the node takes, and asks nobody for that", async () => {
    const held = new HeldJobs();
    const first = placeOf({ submit: [ACK], poll: [DONE] }, { health, held });
    const second = placeOf({ submit: [ACK], poll: [DONE] }, { health, held });
    await Promise.all([first.probe(), second.probe()]);
    const running = first.run();
    expect(await second.run()).toEqual({
      kind: "refused",
      http: 503,
      code: "queue_full",
      message: "this process holds 1 of the 1 jobs that it takes",
      retry_after_sec: 0,
    });
    expect([second.asked, second.rows]).toEqual([[], []]);
    await first.clock.drive(running);
    expect(await second.drive()).toMatchObject({ kind: "ran" });
    expect(held.at("http://n")).toBe(0);
  });

  test("still holds a job there while the node is silent", async () => {
    const held = new HeldJobs();
    const polls = [view("running"), ...Array.from({ length: 40 }, () => none()), DONE];
    const silent = placeOf({ submit: [ACK], poll: polls }, { health, held });
    const outcome = await silent.drive();
    if (outcome.kind !== "silent") throw new Error("it is not silent");
    expect(held.at("http://n")).toBe(1);
    await silent.clock.drive(outcome.late());
    expect(held.at("http://n")).toBe(0);
  });

  test("holds what it likes where the node names no bound", () => {
    const held = new HeldJobs();
    expect([held.enter("u", 0), held.enter("u", -1), held.enter("u", 2), held.enter("v", 1)]).toEqual([
      true,
      true,
      false,
      true,
    ]);
  });
});

describe("a node that is asked how it is", () => {
  const RECORD = { node_id: "node-b", protocol: 1, schema_versions: [1], seats: [] };
  test.each<[NodeAnswer, boolean, object]>([
    [answer(200, RECORD), true, { ok: true, record: { node_id: "node-b" } }],
    [answer(200, { ok: true, protocol: 1 }), true, { ok: false, why: "token not accepted", blames: "config" }],
    [
      answer(200, { ok: true, protocol: 1 }),
      false,
      { ok: false, why: "it wants a token, and T is unset", blames: "config" },
    ],
    [answer(401), true, { ok: false, why: "token not accepted", blames: "config" }],
    [answer(502), true, { ok: false, why: "HTTP 502", blames: "infrastructure" }],
    [answer(200, []), true, { ok: false, why: "no node answers there: no health record", blames: "infrastructure" }],
    [none(), true, { ok: false, why: "connection reset", blames: "infrastructure" }],
  ])("(%#)", async (health, hasToken, probe) => {
    expect(await placeOf({}, { health, hasToken }).probe()).toMatchObject(probe);
  });
});
