import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { canonicalJson, type JsonObject } from "../../../src/core/json/value.ts";
import { judgeSubmit, type Known, type NodeState, SUBMIT_BYTES } from "../../../src/core/node/submit.ts";

const sha256 = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex");

const SCHEMA = { type: "object", properties: { summary: { type: "string" } }, required: ["summary"] };
const CONTRACT = {
  schema_version: 1,
  goal: "Say it",
  context: [{ name: "a.md", text: "A" }],
  output_schema: SCHEMA,
  depth: 0,
};
const ID = `wrt-${"0".repeat(24)}`;
const NODE: NodeState = {
  isDraining: false,
  acceptsWrite: false,
  profiles: ["research", "general", "edit"],
  seats: [{ name: "small", ctx_tokens: 4096 }],
  backlog: 0,
  maxQueue: 8,
  newJobWaitSec: 12.2,
  freeBytes: 1e12,
};

function submit(contract: JsonObject = CONTRACT, more: object = {}): string {
  return JSON.stringify({
    job_id: ID,
    contract,
    contract_sha256: sha256(canonicalJson(contract)),
    seat: "",
    deadline_sec: 0,
    label: "",
    origin: "here/1",
    ...more,
  });
}

function judge(text: string, node: Partial<NodeState> = {}, known: Known | null = null) {
  return judgeSubmit(text, { ...NODE, ...node }, { find: () => known, sha256 });
}

describe("judgeSubmit()", () => {
  test("takes what holds, and stores the canonical contract", () => {
    const verdict = judge(submit());
    expect(verdict).toMatchObject({
      kind: "taken",
      submission: { job_id: ID, origin: "here/1", contract: { goal: "Say it", max_steps: 12 } },
    });
    expect(verdict.kind === "taken" && JSON.parse(verdict.submission.contract_text)).toMatchObject({
      ...CONTRACT,
      depth: 0,
    });
  });

  test("keeps and ignores what it does not know in a contract", () => {
    expect(judge(submit({ ...CONTRACT, hint_of_later: 1 }))).toMatchObject({ kind: "taken" });
  });

  test.each<[string, string, Partial<NodeState>, string]>([
    ["no JSON", "{", {}, "bad_request"],
    ["a list", "[]", {}, "bad_request"],
    ["a key that is not known", submit(CONTRACT, { jobid: 1 }), {}, "bad_request"],
    ["a seat that is no text", submit(CONTRACT, { seat: 1 }), {}, "bad_request"],
    ["a label that is too long", submit(CONTRACT, { label: "x".repeat(257) }), {}, "bad_request"],
    ["a deadline below 0", submit(CONTRACT, { deadline_sec: -1 }), {}, "bad_request"],
    ["a deadline of more than a year", submit(CONTRACT, { deadline_sec: 31_536_001 }), {}, "bad_request"],
    ["a deadline that no store can hold", submit(CONTRACT, { deadline_sec: 1e308 }), {}, "bad_request"],
    ["half a second of a deadline", submit(CONTRACT, { deadline_sec: 0.5 }), {}, "bad_request"],
    ["a contract that is no object", submit(CONTRACT, { contract: 1 }), {}, "bad_request"],
    ["an id of another form", submit(CONTRACT, { job_id: "wrt-1" }), {}, "bad_job_id"],
    ["a new id while it drains", submit(), { isDraining: true }, "draining"],
    ["another version", submit({ ...CONTRACT, schema_version: 2 }), {}, "schema_version"],
    ["a second hop", submit({ ...CONTRACT, depth: 1 }), {}, "hop"],
    ["a hash of something else", submit(CONTRACT, { contract_sha256: "0".repeat(64) }), {}, "hash_mismatch"],
    ["no goal", submit({ ...CONTRACT, goal: " " }), {}, "bad_contract"],
    ["no schema", submit({ goal: "x" }), {}, "bad_contract"],
    ["a check that does not parse", submit({ ...CONTRACT, acceptance: ["contians:x"] }), {}, "bad_contract"],
    ["files to be read here", submit({ ...CONTRACT, context_paths: ["/etc/passwd"] }), {}, "bad_contract"],
    ["a write root at a closed door", submit({ ...CONTRACT, write_root: "." }), {}, "write_door_closed"],
    ["a profile that is not known", submit({ ...CONTRACT, profile: "browse" }), {}, "seat_unfit"],
    ["a seat that is not here", submit(CONTRACT, { seat: "large" }), {}, "seat_unfit"],
    ["no seat at all", submit(), { seats: [] }, "seat_unfit"],
    [
      "more than any window holds",
      submit({ ...CONTRACT, context: [{ name: "a", text: "x".repeat(6000) }] }),
      { seats: [{ name: "small", ctx_tokens: 4096 }] },
      "seat_unfit",
    ],
    ["one job too many", submit(), { backlog: 8 }, "queue_full"],
    ["a disk that is full", submit(), { freeBytes: 64 * 1024 * 1024 - 1 }, "storage"],
  ])("refuses %s", (_, text, node, code) => {
    expect(judge(text, node)).toMatchObject({ kind: "refused", code });
  });

  test("the first check that fails answers: a bad contract before a closed door, a closed door before a full queue", () => {
    const both = submit({ ...CONTRACT, write_root: ".", goal: "" });
    expect(judge(both)).toMatchObject({ code: "bad_contract" });
    expect(judge(submit({ ...CONTRACT, write_root: "." }), { backlog: 9 })).toMatchObject({
      code: "write_door_closed",
    });
  });

  test("a window that is not known counts as large enough, and no limit is none", () => {
    const large = submit({ ...CONTRACT, context: [{ name: "a", text: "x".repeat(60_000) }] });
    expect(judge(large, { seats: [{ name: "small", ctx_tokens: 0 }], backlog: 1e6, maxQueue: -1 })).toMatchObject({
      kind: "taken",
    });
  });

  test("an open door takes a write root", () => {
    expect(judge(submit({ ...CONTRACT, write_root: "." }), { acceptsWrite: true })).toMatchObject({ kind: "taken" });
  });

  test.each<[Known["state"], string, boolean, string]>([
    ["accepted", "same", false, "known"],
    ["running", "same", true, "known"],
    ["done", "same", false, "known"],
    ["error", "same", false, "previously_failed"],
    ["canceled", "same", false, "previously_failed"],
    ["done", "other", false, "id_conflict"],
  ])("of an id that is here as %s with the %s contract, draining %p, is %s", (state, which, isDraining, answer) => {
    const contract_sha256 = which === "same" ? sha256(canonicalJson(CONTRACT)) : "other";
    const verdict = judge(submit(), { isDraining }, { state, contract_sha256 });
    expect<string>(verdict.kind === "refused" ? verdict.code : verdict.kind).toBe(answer);
  });

  test("a job that is here is known by its id and digest, and stays as it is whatever contract comes with them", () => {
    const contract_sha256 = sha256(canonicalJson(CONTRACT));
    const other = submit({ ...CONTRACT, goal: "Say something else" }, { contract_sha256 });
    expect(judge(other, {}, { state: "done", contract_sha256 })).toEqual({ kind: "known", job_id: ID });
    expect(judge(other)).toMatchObject({ code: "hash_mismatch" });
  });

  test.each([
    [0, 1],
    [12.2, 13],
    [4000, 300],
  ])("a full queue whose next job waits %p s is asked again after %p s", (newJobWaitSec, retryAfterSec) => {
    expect(judge(submit(), { backlog: 8, newJobWaitSec })).toMatchObject({ retryAfterSec });
  });

  test("names both numbers where no window is large enough", () => {
    const verdict = judge(submit({ ...CONTRACT, context: [{ name: "a", text: "x".repeat(60_000) }] }));
    expect(verdict).toMatchObject({
      message: expect.stringMatching(/needs about \d+ tokens; the largest window here has 4096/),
    });
  });

  test("never throws, whatever the text", () => {
    expect(SUBMIT_BYTES).toBe(2 * 1024 * 1024);
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.jsonValue().map((contract) => JSON.stringify({ job_id: ID, contract })),
        ),
        (text) => {
          expect(["taken", "known", "refused"]).toContain(judge(text).kind);
        },
      ),
    );
  });
});
