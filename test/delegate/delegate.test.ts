import { describe, expect, test } from "bun:test";
import { LEG_STATUSES, type LegResult } from "../../src/core/delegation/result.ts";
import { deferOf, wireResultOf } from "../support/legs.ts";
import { seatRecord } from "../support/places.ts";
import { play, scriptedLocal, scriptedRemote } from "../support/scripted-place.ts";

const SCHEMA = { output_schema: { properties: { n: {} } } };
const ANSWER = { structured: '{"n":1}' };
const times = <T>(count: number, value: T): readonly T[] => Array.from({ length: count }, () => value);
const only = (results: readonly LegResult[]): LegResult => {
  const [leg, ...more] = results;
  if (leg === undefined || more.length > 0) throw new Error(`${results.length} legs`);
  return leg;
};
const seats = (...slots: number[]) => ({
  seats: slots.map((each, at) => seatRecord({ name: `seat-${at}`, slots: each })),
});

describe("a call", () => {
  test("gives a document with a result for each leg, in the order of the call", async () => {
    const { document, events } = await play({
      contracts: times(3, {}),
      local: (clock) => scriptedLocal(clock, [{ takes_ms: 3000 }, { takes_ms: 1000 }, { takes_ms: 2000 }], seats(4)),
    });
    expect(Object.keys(document)).toEqual([
      "schema_version",
      "run_id",
      "summary",
      "results",
      "writ_version",
      "started_at",
      "wall_ms",
    ]);
    expect(document).toMatchObject({
      run_id: "run-000000000000000000000001",
      writ_version: "1.2.3",
      started_at: "2026-01-05T10:00:00Z",
      wall_ms: 3000,
      summary: { succeeded: 3, deferred: 0, failed_verification: 0, failed: 0, infrastructure: 0 },
    });
    expect(document.results.map(({ index, wall_ms }) => [index, wall_ms])).toEqual([
      [0, 3000],
      [1, 1000],
      [2, 2000],
    ]);
    expect(events.flatMap((event) => (event.kind === "done" ? [event.index] : []))).toEqual([1, 2, 0]);
  });

  test("publishes where the leg ran, and its one attempt", async () => {
    const leg = only((await play({})).results);
    expect(leg).toMatchObject({
      status: "succeeded",
      node: "local",
      seat: "pool",
      placement: "local: chosen (wait 0 s, no rate known)",
      route: "auto",
      job_id: "wrt-000000000000000000000001",
      output: "there are 412",
      attempts: [
        { n: 1, kind: "first", node: "local", seat: "pool", status: "succeeded", wall_ms: 1000, steps: 2, tokens: 20 },
      ],
    });
    expect(leg).not.toHaveProperty("retry_note");
  });

  test("sends the contract with its digest, and the digest is the leg's", async () => {
    const { local, results } = await play({ contracts: [{ acceptance: ["contains:412"] }] });
    const job = local?.stage.handed[0]?.job;
    expect(job?.contract_sha256).toBe(only(results).contract_sha256);
    expect(job?.contract.acceptance).toEqual(["contains:412"]);
  });

  test("hands an unexpected end of a place on as a leg that failed, beside its sisters", async () => {
    const { results, summary } = await play({
      contracts: times(2, {}),
      local: (clock) => scriptedLocal(clock, [{ throws: "disk on fire" }, {}], seats(2)),
    });
    expect(results.map(({ status }) => status)).toEqual(["failed", "succeeded"]);
    expect(results[0]).toMatchObject({ reason: "internal: local/seat-0: disk on fire", failed: true });
    expect(summary).toMatchObject({ succeeded: 1, failed: 1 });
  });
});

describe("the width", () => {
  test("is never passed by legs that are executed", async () => {
    const { local, document } = await play({
      contracts: times(9, {}),
      call: { width: 3 },
      local: (clock) => scriptedLocal(clock, [{}], seats(8)),
    });
    expect(local?.stage.most).toBe(3);
    expect(document.wall_ms).toBe(3000);
  });

  test("is a sliding window: the next leg starts when one ends", async () => {
    const { local } = await play({
      contracts: times(4, {}),
      call: { width: 2 },
      local: (clock) =>
        scriptedLocal(
          clock,
          [{ takes_ms: 5000 }, { takes_ms: 1000 }, { takes_ms: 1000 }, { takes_ms: 1000 }],
          seats(8),
        ),
    });
    expect(local?.stage.handed.map(({ at_ms }) => at_ms)).toEqual([0, 0, 1000, 2000]);
  });

  test("is not taken by a leg that waits at its place: one for another place goes on", async () => {
    const { local, remotes } = await play({
      contracts: times(2, SCHEMA),
      call: { width: 1, routing: { kind: "spread" }, route: "spread" },
      local: (clock) => scriptedLocal(clock, [{ waits_ms: 10_000, result: ANSWER }], seats(1)),
      remotes: (clock) => [scriptedRemote(clock, "http://a:1", [{ result: ANSWER }])],
    });
    expect(remotes[0]?.stage.handed[0]?.at_ms).toBe(0);
    expect(local?.stage.handed[0]?.ended_ms).toBe(11_000);
  });

  test("lets no more than itself wait at one place", async () => {
    const { local } = await play({
      contracts: times(3, {}),
      call: { width: 1 },
      local: (clock) => scriptedLocal(clock, [{ waits_ms: 5000 }], seats(8)),
    });
    expect(local?.stage.most).toBe(1);
    expect(local?.stage.handed.map(({ at_ms }) => at_ms)).toEqual([0, 6000, 12_000]);
  });
});

describe("the wait for room", () => {
  const oneSlot = { max_running: 1, seats: [seatRecord()] };

  test("eight legs against one remote slot all finish, one after the other, and none is given up", async () => {
    const { results, document, remotes } = await play({
      contracts: times(8, SCHEMA),
      local: () => null,
      remotes: (clock) => [scriptedRemote(clock, "http://a:1", [{ takes_ms: 60_000, result: ANSWER }], [oneSlot])],
    });
    expect(results.map(({ status }) => status)).toEqual(Array(8).fill("succeeded"));
    expect(remotes[0]?.stage.most).toBe(1);
    expect(document.wall_ms).toBe(8 * 60_000);
    expect(results.at(-1)?.capacity_wait_sec).toBe(7 * 60);
    expect(document.summary.waited).toBe(7);
  });

  test("ends after its budget where nobody makes room", async () => {
    const full = { ...oneSlot, running: 1, recent_wall_sec: 41 };
    const { results, document } = await play({
      contracts: [SCHEMA],
      local: () => null,
      remotes: (clock) => [scriptedRemote(clock, "http://a:1", [{}], [full])],
    });
    expect(only(results)).toMatchObject({
      status: "deferred",
      defer_class: "capacity",
      node: "",
      reason: "no eligible place had room for 120s: a: cap (1/1 jobs)",
      capacity_wait_sec: 120,
      retry_after_sec: 41,
      wall_ms: 0,
      attempts: [],
    });
    expect(document.summary).toMatchObject({ deferred: 1, infrastructure: 0, waited: 1 });
  });

  test("looks every three seconds, and at once when a sister ends", async () => {
    const { remotes, results } = await play({
      contracts: times(2, SCHEMA),
      local: () => null,
      remotes: (clock) => [scriptedRemote(clock, "http://a:1", [{ takes_ms: 7000, result: ANSWER }], [oneSlot])],
    });
    expect(remotes[0]?.probes).toEqual([0, 3000, 6000, 7000]);
    expect(results[1]?.capacity_wait_sec).toBe(7);
  });

  test("takes a local slot that comes free before a remote", async () => {
    const { local, remotes } = await play({
      contracts: times(2, SCHEMA),
      local: (clock) => scriptedLocal(clock, [{ takes_ms: 2000, result: ANSWER }], seats(1)),
      remotes: (clock) => [
        scriptedRemote(clock, "http://a:1", [{ result: ANSWER }], [{ ...oneSlot, running: 1 }, oneSlot]),
      ],
    });
    expect(local?.stage.handed.map(({ at_ms }) => at_ms)).toEqual([0, 2000]);
    expect(remotes[0]?.stage.handed).toEqual([]);
  });

  test("is off with -1, and over at once with 0", async () => {
    const full = { ...oneSlot, running: 1 };
    for (const capacity_wait_sec of [-1, 0]) {
      const { results, document } = await play({
        contracts: [SCHEMA],
        local: () => null,
        limits: { capacity_wait_sec },
        remotes: (clock) => [scriptedRemote(clock, "http://a:1", [{}], [full])],
      });
      expect(only(results)).toMatchObject({
        defer_class: "capacity",
        reason: "no eligible place had room for 0s: a: cap (1/1 jobs)",
      });
      expect(document.wall_ms).toBe(0);
    }
  });

  test("of a call with a deadline ends 20 s before it, however long the budget is", async () => {
    const full = { ...oneSlot, running: 1 };
    const { results, document } = await play({
      contracts: [SCHEMA],
      local: () => null,
      call: { timeout_sec: 600 },
      remotes: (clock) => [scriptedRemote(clock, "http://a:1", [{}], [full])],
    });
    expect(only(results)).toMatchObject({ defer_class: "capacity", capacity_wait_sec: 580 });
    expect(document.wall_ms).toBe(580_000);
  });

  test.each([
    [null, 0],
    [600, 600],
    [1e12, 31_536_000],
  ])("of %p s is told to the place as %p s at most: a year is what a node takes", async (timeout_sec, deadline_sec) => {
    const { remotes } = await play({
      contracts: [SCHEMA],
      local: () => null,
      call: { timeout_sec },
      remotes: (clock) => [scriptedRemote(clock, "http://a:1", [{}], [oneSlot])],
    });
    expect(remotes[0]?.stage.handed.map((each) => each.deadline_sec)).toEqual([deadline_sec]);
  });

  test("of a place that went away meanwhile ends as what it is then", async () => {
    const { results } = await play({
      contracts: [SCHEMA],
      local: () => null,
      remotes: (clock) => [
        scriptedRemote(
          clock,
          "http://a:1",
          [{}],
          [
            { ...oneSlot, running: 1 },
            { ok: false, why: "connection refused", blames: "infrastructure" },
          ],
        ),
      ],
    });
    expect(only(results)).toMatchObject({ defer_class: "infrastructure", capacity_wait_sec: 120 });
    expect(only(results).reason).toStartWith("no eligible place: a: probe (connection refused");
  });
});

describe("places that cannot be asked", () => {
  test("a leg that no place can run ends at once, and its attempts are none", async () => {
    const { results, summary } = await play({
      contracts: [SCHEMA],
      local: () => null,
      remotes: (clock) => [
        scriptedRemote(clock, "http://a:1", [{}], [{ ok: false, why: "connection refused", blames: "infrastructure" }]),
      ],
    });
    expect(only(results)).toMatchObject({
      status: "deferred",
      defer_class: "infrastructure",
      reason: "no eligible place: http://a:1: probe (connection refused)",
      placement: "http://a:1: probe (connection refused)",
      attempts: [],
    });
    expect(summary).toMatchObject({ deferred: 1, infrastructure: 1 });
  });

  test("a probe that never answers is given up after 5 s", async () => {
    const { results, document } = await play({
      contracts: [SCHEMA],
      local: () => null,
      remotes: (clock) => [{ ...scriptedRemote(clock, "http://a:1", []), probe: () => new Promise(() => {}) }],
    });
    expect(only(results).reason).toBe("no eligible place: http://a:1: probe (no answer within 5 s)");
    expect(document.wall_ms).toBe(5000);
  });

  test("legs that run here because the whole fleet is away are counted and told", async () => {
    const { summary, events } = await play({
      contracts: times(2, SCHEMA),
      local: (clock) => scriptedLocal(clock, [{ result: ANSWER }]),
      remotes: (clock) => [
        scriptedRemote(clock, "http://a:1", [{}], [{ ok: false, why: "connection refused", blames: "infrastructure" }]),
      ],
    });
    expect(summary).toMatchObject({ succeeded: 2, infrastructure: 0, fleet_unreachable: 2 });
    expect(events.at(-1)).toEqual({ kind: "notice", text: "no remote answered; 2 legs ran here" });
  });

  test("legs that want to know at one moment ask once", async () => {
    const refused = {
      outcome: { kind: "refused", http: 507, code: "storage", message: "", retry_after_sec: null },
    } as const;
    const { remotes } = await play({
      contracts: times(4, SCHEMA),
      local: () => null,
      remotes: (clock) => {
        const remote = scriptedRemote(clock, "http://a:1", [refused], [{ max_running: 4 }]);
        // An answer that takes its time.
        const probe: typeof remote.probe = async (signal) => {
          const answer = await remote.probe(signal);
          await clock.sleep(500, signal);
          return answer;
        };
        return [{ ...remote, probe }];
      },
    });
    expect(remotes[0]?.probes).toEqual([0, 1500]);
  });

  test("a node chooses its seat itself, unless one was asked for", async () => {
    const asked = async (seat: string) => {
      const { remotes } = await play({
        contracts: [SCHEMA],
        local: () => null,
        call: { seat },
        remotes: (clock) => [scriptedRemote(clock, "http://a:1", [{ result: ANSWER }])],
      });
      return remotes[0]?.stage.handed[0]?.seat;
    };
    expect([await asked(""), await asked("pool")]).toEqual(["", "pool"]);
  });

  test("a pinned-local call asks no remote at all", async () => {
    const { remotes, results, summary } = await play({
      contracts: [SCHEMA],
      call: { route: "local", routing: { kind: "pinned", to: "local", reason: "privacy" } },
      local: (clock) => scriptedLocal(clock, [{ result: ANSWER }]),
      remotes: (clock) => [scriptedRemote(clock, "http://a:1", [{}])],
    });
    expect(remotes[0]?.probes).toEqual([]);
    expect(only(results)).toMatchObject({
      route: "local",
      pin_reason: "privacy",
      placement:
        "pinned local (privacy); local: chosen (wait 0 s, no rate known); http://a:1: outranked (pinned local)",
    });
    expect(summary).not.toHaveProperty("fleet_unreachable");
  });

  test("two remotes of one id are told apart", async () => {
    const twin = { node_id: "twin", max_running: 1 };
    const { results } = await play({
      contracts: times(2, SCHEMA),
      local: () => null,
      remotes: (clock) =>
        ["http://a:1", "http://b:2"].map((url) => scriptedRemote(clock, url, [{ result: ANSWER }], [twin])),
    });
    expect(results.map(({ node }) => node).toSorted()).toEqual(["twin@a:1", "twin@b:2"]);
  });
});

describe("being turned away", () => {
  const refusal = (http: number | null, code = "", retry_after_sec: number | null = null) =>
    ({ outcome: { kind: "refused", http, code, message: "", retry_after_sec } }) as const;
  const fleet = (...plays: readonly (readonly object[])[]) => ({
    contracts: [SCHEMA],
    local: () => null,
    remotes: (clock: Parameters<typeof scriptedRemote>[0]) =>
      plays.map((each, at) => scriptedRemote(clock, `http://n${at}:1`, each as never)),
  });

  test("a refused leg goes to another place under a new id", async () => {
    const { results, summary, remotes } = await play(fleet([refusal(503, "queue_full", 20)], [{ result: ANSWER }]));
    const leg = only(results);
    const [first, second] = leg.attempts;
    expect(leg).toMatchObject({
      status: "succeeded",
      replacements: 1,
      replacement_note: `${first?.node}: 503 queue_full`,
    });
    expect(first).toMatchObject({
      n: 1,
      kind: "first",
      status: "refused",
      http: 503,
      code: "queue_full",
      reason: "503 queue_full",
    });
    expect(second).toMatchObject({ n: 2, kind: "replacement", status: "succeeded" });
    expect(second?.job_id).not.toBe(first?.job_id);
    expect(summary).toMatchObject({ replaced: 1, replacement_recovered: 1 });
    expect(remotes.reduce((sum, { stage }) => sum + stage.handed.length, 0)).toBe(2);
  });

  test("when all refuse for other reasons than room the leg failed, and says what each said", async () => {
    const { results } = await play(fleet([refusal(507, "storage")], [refusal(507, "storage")], [refusal(null)]));
    const leg = only(results);
    expect(leg).toMatchObject({ status: "failed", node: "", replacements: 2 });
    expect(leg.reason).toStartWith("placement refused: 3 place(s) refused and none ran it (");
    expect(leg.reason).toContain("n2: no answer");
    expect(leg.attempts).toHaveLength(3);
  });

  test("at most two further remotes are asked, and then the local place", async () => {
    const { results } = await play({
      ...fleet(...times(5, [refusal(507)])),
      call: { route: "remote", routing: { kind: "auto", hint: "remote" } },
      local: (clock) => scriptedLocal(clock, [{ result: ANSWER }]),
    });
    const leg = only(results);
    expect(leg.attempts.map(({ kind }) => kind)).toEqual(["first", "replacement", "replacement", "replacement"]);
    expect(leg).toMatchObject({ status: "succeeded", node: "local", route: "auto", route_asked: "remote" });
    expect(leg.placement).toStartWith("route=remote was a hint (no pin_reason), overridden: placed on local");
  });

  test("closed doors everywhere are a write defer", async () => {
    const contracts = [{ ...SCHEMA, write_root: "." }];
    const { results } = await play({
      ...fleet([refusal(400, "write_door_closed")], [refusal(400, "write_door_closed")]),
      contracts,
    });
    expect(only(results)).toMatchObject({ status: "deferred", defer_class: "write" });
    expect(only(results).reason).toMatch(/^write door closed: n\d: 400 write_door_closed; n\d: 400 write_door_closed$/);
  });

  test("a refusal for want of room leads into the wait, and from there back to the same place", async () => {
    const { results } = await play(fleet([refusal(503, "queue_full", 5), { result: ANSWER }]));
    const leg = only(results);
    expect(leg.status).toBe("succeeded");
    expect(leg.attempts.map(({ kind, status }) => `${kind} ${status}`)).toEqual([
      "first refused",
      "replacement succeeded",
    ]);
    expect(leg.capacity_wait_sec ?? 0).toBeGreaterThan(0);
  });

  test("a request that is wrong fails at once: the next place would get the same bytes", async () => {
    const { results, remotes } = await play(fleet([refusal(400, "bad_contract")], [{ result: ANSWER }]));
    expect(only(results).status).toBe("failed");
    expect(only(results).reason).toMatch(/^placement refused: n\d: 400 bad_contract$/);
    expect(remotes.reduce((sum, { stage }) => sum + stage.handed.length, 0)).toBe(1);
  });

  test("an id that is taken is our own fault", async () => {
    const { results } = await play(fleet([refusal(409, "id_conflict")]));
    expect(only(results).reason).toBe("internal: n0: 409 id_conflict");
  });

  test("a rejected token fails the leg, unless a remote takes another one", async () => {
    const { results } = await play(fleet([refusal(401, "unauthorized")], [refusal(401, "unauthorized")]));
    expect(only(results).status).toBe("failed");
    expect(only(results).reason).toMatch(/^auth rejected: n\d: 401 unauthorized$/);
    expect(only(results).attempts).toHaveLength(1);
    const other = await play({
      ...fleet(),
      remotes: (clock) => [
        scriptedRemote(clock, "http://n0:1", [refusal(401)], [{ seats: [seatRecord({ tok_s: 100 })] }], "ONE"),
        scriptedRemote(clock, "http://n1:1", [{ result: ANSWER }], [{ seats: [seatRecord({ tok_s: 10 })] }], "OTHER"),
      ],
    });
    expect(only(other.results)).toMatchObject({ status: "succeeded", node: "n1" });
  });

  test("time spent on refusals is charged to the wall, and the digest of what is sent is its own", async () => {
    const slow = { ...refusal(507), takes_ms: 30_000 };
    const { results, remotes } = await play(fleet([slow, { result: ANSWER }], [slow, { result: ANSWER }]));
    expect(only(results).status).toBe("failed");
    const walls = remotes.flatMap(({ stage }) => stage.handed.map(({ job }) => job.contract.timeout_sec)).toSorted();
    expect(walls).toEqual([270, 300]);
  });

  test("with less than 10 s left there is no further place", async () => {
    const slow = { ...refusal(507), takes_ms: 291_000 };
    const { results } = await play(fleet([slow], [slow]));
    expect(only(results).attempts).toHaveLength(1);
    expect(only(results).status).toBe("failed");
  });
});

describe("being turned away by a place that shows room", () => {
  const refused = (http: number, code: string, retry_after_sec: number | null = null) => ({
    outcome: { kind: "refused", http, code, message: "no", retry_after_sec } as const,
    takes_ms: 0,
  });
  const withdrawn = { outcome: { kind: "withdrawn", queued_sec: 1, message: "given up" } as const, takes_ms: 1000 };

  test.each([
    ["full", refused(503, "queue_full", 10)],
    ["full for long", refused(429, "queue_full", 9e9)],
    ["full for no time", refused(429, "queue_full", 0)],
    ["canceled", withdrawn],
  ])("again and again (%s) is a wait for room, and has its bound", async (_, again) => {
    const { results } = await play({
      contracts: [SCHEMA],
      local: () => null,
      remotes: (clock) => [scriptedRemote(clock, "http://a:1", times(40, again))],
    });
    const { attempts, ...leg } = only(results);
    expect(leg).toMatchObject({ status: "deferred", defer_class: "capacity" });
    expect(leg.capacity_wait_sec).toBeWithin(119, 135);
    expect(attempts.length).toBeWithin(2, 30);
  });

  test("that never ends a job is given up, and the leg is deferred", async () => {
    const { results } = await play({
      contracts: [{ ...SCHEMA, timeout_sec: 10 }],
      local: () => null,
      remotes: (clock) => {
        const place = scriptedRemote(clock, "http://a:1", [{}]);
        return [{ ...place, run: () => new Promise(() => {}) }];
      },
    });
    expect(only(results)).toMatchObject({
      status: "deferred",
      defer_class: "infrastructure",
      reason: expect.stringContaining("was abandoned"),
    });
    // Longer than a node may let it lie and work on it.
    expect(only(results).wall_ms).toBeGreaterThan((300 + 2 * 10) * 1000);
  });

  test("for want of storage leaves the leg to wait for one that is only busy", async () => {
    const full = { running: 1, max_running: 1 };
    const { results } = await play({
      contracts: [SCHEMA],
      local: () => null,
      remotes: (clock) => [
        scriptedRemote(clock, "http://a:1", [refused(507, "storage")]),
        scriptedRemote(clock, "http://b:1", [{ result: ANSWER }], [full, full, {}]),
      ],
    });
    expect(only(results)).toMatchObject({
      status: "succeeded",
      node: "b",
      attempts: [{ node: "a", status: "refused", http: 507 }, { node: "b" }],
    });
  });
});

describe("trying once more", () => {
  const CHECKED = { ...SCHEMA, acceptance: ["contains:412"] };
  const wrong = { result: { ...ANSWER, output: "many" } };
  const right = { result: { ...ANSWER, output: "412" } };

  test("the second seat fixes it: its result is published, and the note tells of the first", async () => {
    const { results, summary, events } = await play({
      contracts: [CHECKED],
      local: (clock) => scriptedLocal(clock, [wrong, right], seats(1, 1)),
    });
    expect(only(results)).toMatchObject({
      status: "succeeded",
      seat: "seat-1",
      retried_on: "local",
      retry_note: 'first attempt on local/seat-0: failed_verification: contains:412: "412" is not in the output',
      attempts: [
        { kind: "first", seat: "seat-0", status: "failed_verification" },
        { kind: "retry", seat: "seat-1", status: "succeeded" },
      ],
    });
    expect(summary).toMatchObject({ succeeded: 1, failed_verification: 0, retried: 1, retry_recovered: 1 });
    expect(events.filter(({ kind }) => kind === "placed")).toHaveLength(2);
  });

  test("both seats miss: the first result stands, and the note tells of the second", async () => {
    const { results, summary } = await play({
      contracts: [CHECKED],
      local: (clock) => scriptedLocal(clock, [wrong], seats(1, 1)),
    });
    expect(only(results)).toMatchObject({ status: "failed_verification", seat: "seat-0", retried_on: "local" });
    expect(only(results).retry_note).toStartWith("second attempt on local/seat-1: failed_verification");
    expect(summary).toMatchObject({ failed_verification: 1, retried: 1 });
    expect(summary).not.toHaveProperty("retry_recovered");
  });

  test("its contract differs in nothing but the wall, which is what the first left of it", async () => {
    const { local } = await play({
      contracts: [CHECKED],
      local: (clock) => scriptedLocal(clock, [{ ...wrong, takes_ms: 60_000 }, right], seats(1, 1)),
    });
    const [first, second] = local?.stage.handed ?? [];
    expect(second?.job.contract).toEqual({ ...(first?.job.contract as never as object), timeout_sec: 240 } as never);
    expect(second?.job.job_id).not.toBe(first?.job.job_id);
    expect(second?.job.contract_sha256).not.toBe(first?.job.contract_sha256);
  });

  test("a place is not believed to have spent nothing", async () => {
    const { local } = await play({
      contracts: [CHECKED],
      local: (clock) =>
        scriptedLocal(clock, [{ takes_ms: 60_000, result: { ...wrong.result, wall_ms: 9e12 } }, right], seats(1, 1)),
    });
    expect(local?.stage.handed[1]?.job.contract.timeout_sec).toBe(240);
  });

  test.each<[string, object, string]>([
    ["too little of the wall is left", { takes_ms: 291_000 }, "retry skipped: 9s of 300s left"],
  ])("it is skipped where %s", async (_, more, note) => {
    const { results } = await play({
      contracts: [CHECKED],
      local: (clock) => scriptedLocal(clock, [{ ...wrong, ...more }], seats(1, 1)),
    });
    expect(only(results)).toMatchObject({ status: "failed_verification", retry_note: note });
    expect(only(results).attempts).toHaveLength(1);
  });

  test("without another seat the first attempt stands", async () => {
    const { results } = await play({ contracts: [CHECKED], local: (clock) => scriptedLocal(clock, [wrong], seats(1)) });
    expect(only(results)).toMatchObject({ status: "failed_verification", retry_note: "no other eligible seat" });
    expect(only(results)).not.toHaveProperty("retried_on");
  });

  test("says of a seat that would do and has no room in this moment that it is full", async () => {
    const { results } = await play({
      contracts: [CHECKED],
      local: (clock) => scriptedLocal(clock, [wrong], seats(1)),
      remotes: (clock) => [scriptedRemote(clock, "http://a:1", [right], [{ running: 2, max_running: 2 }])],
    });
    expect(only(results)).toMatchObject({
      status: "failed_verification",
      retry_note: "no other eligible seat: a: cap (2/2 jobs)",
    });
  });

  test("a fault of the seat needs another place, and is not counted once that one did it", async () => {
    const down = {
      result: (job: Parameters<typeof deferOf>[0]) => deferOf(job, "infrastructure", "seat down: refused"),
    };
    const { results, summary, remotes } = await play({
      contracts: [SCHEMA],
      local: (clock) => scriptedLocal(clock, [{ ...down, takes_ms: 200_000 }], seats(1, 1)),
      remotes: (clock) => [scriptedRemote(clock, "http://a:1", [right])],
    });
    expect(only(results)).toMatchObject({ status: "succeeded", node: "a", retried_on: "a" });
    expect(summary).toMatchObject({ succeeded: 1, infrastructure: 0, retried: 1, retry_recovered: 1 });
    expect(remotes[0]?.stage.handed[0]?.job.contract.timeout_sec).toBe(300);
    const alone = await play({ contracts: [SCHEMA], local: (clock) => scriptedLocal(clock, [down], seats(1, 1)) });
    expect(only(alone.results)).toMatchObject({ defer_class: "infrastructure", retry_note: "no other eligible seat" });
  });

  test("a seat that was contended past its budget is not tried elsewhere: a gate must see it", async () => {
    const busy = {
      result: (job: Parameters<typeof deferOf>[0]) => deferOf(job, "infrastructure", "seat contended: 90s spent"),
    };
    const { results } = await play({
      contracts: [SCHEMA],
      local: (clock) => scriptedLocal(clock, [busy], seats(1, 1)),
    });
    expect(only(results).attempts).toHaveLength(1);
    expect(only(results)).not.toHaveProperty("retry_note");
  });

  test("a call that measures one seat tries none", async () => {
    const { results } = await play({
      contracts: [CHECKED],
      call: { retries: false },
      local: (clock) => scriptedLocal(clock, [wrong], seats(1, 1)),
    });
    expect(only(results).attempts).toHaveLength(1);
  });

  test("a pin limits it to its side", async () => {
    const { results } = await play({
      contracts: [CHECKED],
      call: { route: "local", routing: { kind: "pinned", to: "local", reason: "operator" } },
      local: (clock) => scriptedLocal(clock, [wrong], seats(1)),
      remotes: (clock) => [scriptedRemote(clock, "http://a:1", [right])],
    });
    expect(only(results)).toMatchObject({ status: "failed_verification", retry_note: "no other eligible seat" });
  });

  test("a second attempt that is refused leaves the first as it was", async () => {
    const refused = {
      outcome: { kind: "refused", http: 503, code: "queue_full", message: "", retry_after_sec: null },
    } as const;
    const { results } = await play({
      contracts: [CHECKED],
      local: (clock) => scriptedLocal(clock, [wrong], seats(1)),
      remotes: (clock) => [scriptedRemote(clock, "http://a:1", [refused])],
    });
    expect(only(results)).toMatchObject({
      status: "failed_verification",
      node: "local",
      retry_note: "second attempt on a/pool: 503 queue_full",
      attempts: [{ kind: "first" }, { kind: "retry", status: "refused", http: 503 }],
    });
  });
});

describe("an answer that came from a node without its form", () => {
  const MISSED = {
    schema_miss: true,
    deferred: true,
    defer_class: "abstention",
    reason: "output failed schema: x",
    output: "412",
  } as const;
  const form = {
    structured: '{"n":412}',
    repack: { mode: "grammar", attempts: 1, ms: 5, note: "structured by the delegator" },
  } as const;
  const script = (more: object, call: object = {}, made: typeof form | null = form) => ({
    contracts: [{ ...SCHEMA, acceptance: ["contains:412"] }],
    call: {
      route: "remote" as const,
      routing: { kind: "auto" as const, hint: "remote" as const },
      retries: false,
      ...call,
    },
    local: (clock: Parameters<typeof scriptedLocal>[0]) => scriptedLocal(clock, [{}], seats(1), made),
    remotes: (clock: Parameters<typeof scriptedRemote>[0]) => [
      scriptedRemote(clock, "http://a:1", [{ result: MISSED, ...more }]),
    ],
  });

  test("gets it here, and its checks decide then", async () => {
    const { results } = await play(script({}));
    expect(only(results)).toMatchObject({
      status: "succeeded",
      node: "a",
      structured: '{"n":412}',
      repack: form.repack,
    });
    expect(only(results)).not.toHaveProperty("reason");
  });

  test.each<[string, object, object, typeof form | null]>([
    ["no slot is free here", {}, {}, null],
    ["it is pinned to its remote", {}, { routing: { kind: "pinned", to: "remote", reason: "operator" } }, form],
    ["too little of the wall is left", { takes_ms: 291_000 }, {}, form],
    ["there is no answer", { result: { ...MISSED, output: " " } }, {}, form],
    ["the result is for another job", { result: { ...MISSED, job_id: "wrt-other" } }, {}, form],
  ])("stays without it where %s", async (_, more, call, made) => {
    expect(only((await play(script(more, call, made))).results).status).not.toBe("succeeded");
  });
});

describe("a place that answers about other documents", () => {
  const FINGERPRINTED = { ...SCHEMA, acceptance: ["regex:(?P<docanchor>pallets)"] };
  const remote = (clock: Parameters<typeof scriptedRemote>[0], output: string) => [
    scriptedRemote(clock, "http://a:1", [{ result: { ...ANSWER, output } }]),
  ];

  test("is struck once a leg, and a right answer clears it", async () => {
    const wrong = await play({
      contracts: [FINGERPRINTED],
      local: () => null,
      remotes: (clock) => remote(clock, "zebras"),
    });
    expect(wrong.marks).toEqual(["strike a"]);
    const right = await play({
      contracts: [FINGERPRINTED],
      local: () => null,
      remotes: (clock) => remote(clock, "412 pallets"),
    });
    expect(right.marks).toEqual(["pass a"]);
  });

  test("is never this one, and says nothing where it did not complete", async () => {
    const here = await play({
      contracts: [FINGERPRINTED],
      local: (clock) => scriptedLocal(clock, [{ result: { ...ANSWER, output: "zebras" } }]),
    });
    expect(here.marks).toEqual([]);
    const deferred = await play({
      contracts: [FINGERPRINTED],
      local: () => null,
      remotes: (clock) => [
        scriptedRemote(clock, "http://a:1", [{ result: (job) => deferOf(job, "budget", "wall timeout after 5s") }]),
      ],
    });
    expect(deferred.marks).toEqual([]);
  });

  test("is passed over in quarantine, and counted", async () => {
    const { results, summary } = await play({
      contracts: [SCHEMA],
      local: (clock) => scriptedLocal(clock, [{ result: ANSWER }]),
      remotes: (clock) => [scriptedRemote(clock, "http://a:1", [{}])],
      world: { marks: { quarantined: async () => new Set(["a"]), settle: async () => {} } },
    });
    expect(only(results).placement).toContain("a: quarantine");
    expect(summary.quarantined).toBe(1);
  });
});

describe("a place that falls silent with the job", () => {
  const SILENT = (late: Promise<unknown>) => ({
    takes_ms: 60_000,
    outcome: { kind: "silent", silent_sec: 60, late: () => late, outwait: () => late } as never,
  });
  const pair = (silent: object, other: readonly object[]) => ({
    contracts: [SCHEMA],
    local: () => null,
    remotes: (clock: Parameters<typeof scriptedRemote>[0]) => [
      scriptedRemote(clock, "http://a:1", [silent as never], [{ seats: [seatRecord({ tok_s: 100 })] }]),
      scriptedRemote(clock, "http://b:1", other as never, [{ seats: [seatRecord({ tok_s: 10 })] }]),
    ],
  });

  test("loses the leg to another place, under a new id", async () => {
    const { results, summary } = await play(pair(SILENT(new Promise(() => {})), [{ result: ANSWER }]));
    expect(only(results)).toMatchObject({
      status: "succeeded",
      node: "b",
      attempts: [
        { kind: "first", node: "a", status: "abandoned", reason: "silent for 60s" },
        { kind: "orphan", node: "b", status: "succeeded" },
      ],
    });
    expect(summary.orphaned).toBe(1);
  });

  test("is published where it comes back first with a result that passes; the other is taken back", async () => {
    let answer: (outcome: unknown) => void = () => {};
    const late = new Promise((resolve) => {
      answer = resolve;
    });
    const script = pair(SILENT(late), [{ takes_ms: 100_000, result: ANSWER }]);
    const { results } = await play({
      ...script,
      remotes: (clock) => {
        const remotes = script.remotes(clock);
        void clock.sleep(90_000, new AbortController().signal).then(() => {
          const job = remotes[0]?.stage.handed[0]?.job;
          if (job !== undefined) answer({ kind: "ran", queued_sec: 0, result: wireResultOf(job, ANSWER) });
        });
        return remotes;
      },
    });
    expect(results).toHaveLength(1);
    expect(only(results)).toMatchObject({
      status: "succeeded",
      node: "a",
      attempts: [
        { kind: "first", node: "a", status: "succeeded", steps: 2 },
        { kind: "orphan", node: "b", status: "abandoned", reason: "a answered first" },
      ],
    });
    expect(only(results).attempts[0]).not.toHaveProperty("reason");
    expect(only(results).wall_ms).toBe(90_000);
  });

  test("does not win with a result that fails: the other place decides", async () => {
    const script = pair({}, [{ takes_ms: 100_000, result: ANSWER }]);
    const { results } = await play({
      ...script,
      remotes: (clock) => {
        const [a, b] = script.remotes(clock);
        if (a === undefined || b === undefined) throw new Error("two remotes");
        const silent: typeof a = {
          ...a,
          run: async (job) => ({
            kind: "silent",
            silent_sec: 60,
            late: async () => ({ kind: "ran", queued_sec: 0, result: wireResultOf(job, { output: "" }) }),
            outwait: () => Promise.reject(new Error("somebody else has it")),
          }),
        };
        return [silent, b];
      },
    });
    expect(only(results)).toMatchObject({ status: "succeeded", node: "b" });
  });

  /** One that is waited for: it may take it that it still says nothing, and tells of its job all the time. */
  const waitedFor = (clock: Parameters<typeof scriptedRemote>[0], isStill: boolean, takes_ms: number) => {
    const a = scriptedRemote(clock, "http://a:1", [{}], [{ seats: [seatRecord({ tok_s: 100 })] }]);
    const run: typeof a.run = async (job, _, { signal, onProgress }) => ({
      kind: "silent",
      silent_sec: 60,
      isStill: () => isStill,
      late: () => Promise.reject(new Error("it is waited for")),
      outwait: async () => {
        await clock.sleep(takes_ms, signal);
        onProgress({ kind: "queued", position: 7, about_sec: null });
        return signal.aborted
          ? { kind: "stopped" as const, state: "running" as const }
          : { kind: "ran" as const, queued_sec: 0, result: wireResultOf(job, ANSWER) };
      },
    });
    return { ...a, run };
  };
  const full = { running: 1, max_running: 1 };

  test.each<[string, boolean, number, object]>([
    ["goes elsewhere as soon as there is room", true, 900_000, { node: "b", wall_ms: 31_000 }],
    ["and its answer counts where it comes before the other's", true, 30_500, { node: "a", wall_ms: 30_500 }],
    ["is left with its leg where it answers again", false, 50_000, { node: "a", wall_ms: 50_000 }],
  ])("while it is waited for: %s", async (_, isStill, takes_ms, result) => {
    const { results, events } = await play({
      contracts: [SCHEMA],
      local: () => null,
      // b has room at the second look behind the silence.
      remotes: (clock) => [
        waitedFor(clock, isStill, takes_ms),
        scriptedRemote(clock, "http://b:1", [{ result: ANSWER }], [full, full, {}]),
      ],
    });
    expect(only(results)).toMatchObject({ status: "succeeded", ...result });
    const kinds = only(results).attempts.map(({ kind }) => kind);
    expect(kinds).toEqual(isStill ? ["first", "orphan"] : ["first"]);
    // What it says of its job when the leg is elsewhere is told to nobody.
    expect(events.some(({ kind }) => kind === "queued")).toBe(!isStill);
  });

  test.each([
    ["first", 130_000],
    ["second", 140_000],
  ] as const)("and so does the other place: whichever speaks first counts, the %s", async (who, at_ms) => {
    const speaking = (clock: Parameters<typeof scriptedRemote>[0], name: string, says_ms: number) => {
      const place = scriptedRemote(clock, `http://${name}:1`, [{}], [{ seats: [seatRecord({ tok_s: 100 })] }]);
      const run: typeof place.run = async (job, _, { signal }) => {
        await clock.sleep(60_000, signal);
        const speak = async () => {
          await clock.sleep(says_ms - clock.ms(), signal);
          return signal.aborted
            ? { kind: "stopped" as const, state: "running" as const, why: "it is silent" }
            : { kind: "ran" as const, queued_sec: 0, result: wireResultOf(job, ANSWER) };
        };
        return { kind: "silent", silent_sec: 60, isStill: () => true, late: speak, outwait: speak };
      };
      return { ...place, run };
    };
    const { results, summary } = await play({
      contracts: [SCHEMA],
      local: () => null,
      remotes: (clock) => [
        speaking(clock, "a", who === "first" ? at_ms : 900_000),
        speaking(clock, "b", who === "second" ? at_ms : 900_000),
      ],
    });
    const [first, second] = only(results).attempts;
    expect(only(results)).toMatchObject({ status: "succeeded", wall_ms: at_ms });
    expect([first?.kind, second?.kind, only(results).attempts.length]).toEqual(["first", "orphan", 2]);
    expect([first?.status, second?.status]).toEqual(
      who === "first" ? ["succeeded", "abandoned"] : ["abandoned", "succeeded"],
    );
    expect(summary).toMatchObject({ succeeded: 1, orphaned: 1 });
  });

  test("counts where it speaks while its leg, turned away elsewhere, waits for room", async () => {
    const late = Promise.withResolvers<unknown>();
    const full503 = {
      outcome: { kind: "refused", http: 503, code: "queue_full", message: "full", retry_after_sec: 30 },
    };
    const { results } = await play({
      contracts: [SCHEMA],
      local: () => null,
      remotes: (clock) => {
        const full = { running: 1, max_running: 1 };
        const remotes = [
          scriptedRemote(clock, "http://a:1", [SILENT(late.promise) as never], [{}, full]),
          scriptedRemote(clock, "http://b:1", [full503 as never], [{}, {}, full]),
        ];
        void clock.sleep(70_000, new AbortController().signal).then(() => {
          const job = remotes[0]?.stage.handed[0]?.job;
          if (job !== undefined) late.resolve({ kind: "ran", queued_sec: 0, result: wireResultOf(job, ANSWER) });
        });
        return remotes;
      },
    });
    expect(only(results)).toMatchObject({
      status: "succeeded",
      node: "a",
      wall_ms: 70_000,
      attempts: [
        { kind: "first", status: "succeeded" },
        { kind: "orphan", status: "refused" },
      ],
    });
  });

  test("is waited for where nobody else takes the leg", async () => {
    const script = pair({}, []);
    const { results } = await play({
      ...script,
      remotes: (clock) => {
        const [a] = script.remotes(clock);
        if (a === undefined) throw new Error("one remote");
        const run: typeof a.run = async (job) => ({
          kind: "silent",
          silent_sec: 60,
          late: () => Promise.reject(new Error("nobody else has it")),
          outwait: () =>
            clock.sleep(5000, new AbortController().signal).then(() => ({
              kind: "ran" as const,
              queued_sec: 0,
              result: wireResultOf(job, ANSWER),
            })),
        });
        return [{ ...a, run }];
      },
    });
    expect(only(results)).toMatchObject({
      status: "succeeded",
      node: "a",
      attempts: [{ kind: "first", status: "succeeded" }],
    });
  });
});

describe("any call", () => {
  test("has one result a leg, and four buckets that sum to them, whatever the places do", async () => {
    const plays = [
      { result: ANSWER },
      { result: { ...ANSWER, output: "" } },
      { throws: "x" },
      { outcome: { kind: "failed", reason: "remote job error: x" } },
      { outcome: { kind: "refused", http: 503, code: "queue_full", message: "", retry_after_sec: 1 } },
      { outcome: { kind: "withdrawn", queued_sec: 3, message: "reaped" } },
      { outcome: { kind: "gave_up", defer_class: "budget", reason: "poll deadline after 9s: silent", queued_sec: 1 } },
      { result: (job: Parameters<typeof deferOf>[0]) => deferOf(job, "budget", "wall timeout after 300s") },
      { result: { job_id: "wrt-other" } },
    ] as const;
    for (let turn = 0; turn < plays.length; turn += 1) {
      const rotated = [...plays.slice(turn), ...plays.slice(0, turn)];
      const { results, summary } = await play({
        contracts: times(16, { ...SCHEMA, acceptance: ["contains:412"] }),
        local: (clock) => scriptedLocal(clock, rotated as never, seats(2, 1)),
        remotes: (clock) => ["http://a:1", "http://b:1"].map((url) => scriptedRemote(clock, url, rotated as never)),
      });
      expect(results.map(({ index }) => index)).toEqual([...Array(16).keys()]);
      const { succeeded, deferred, failed_verification, failed } = summary;
      expect(succeeded + deferred + failed_verification + failed).toBe(16);
      for (const { status } of results) expect(LEG_STATUSES).toContain(status);
    }
  });
});
