import { describe, expect, test } from "bun:test";
import { GENESIS, recordText, verifyChain } from "../../../src/core/record/digest.ts";
import type { ToolRecord } from "../../../src/core/record/tool-record.ts";

const sha256 = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex");

const unsealed: Omit<ToolRecord, "digest"> = {
  contract_id: "c1",
  seq: 1,
  source: "run",
  harness: null,
  tool: "bash",
  tool_use_id: null,
  command: "npm test",
  argv: ["npm", "test"],
  path: null,
  cwd: "/w",
  exit_code: 0,
  signal: null,
  failed: false,
  exit_note: null,
  started_at: "2026-01-01T00:00:00Z",
  ended_at: "2026-01-01T00:00:01Z",
  output: "é\n",
  tail: null,
  output_bytes: 3,
  output_sha256: "ab",
  truncated: false,
  ordered: true,
  prev_digest: GENESIS,
};

/** A chain of records that fits. */
function chainOf(commands: readonly string[]): readonly ToolRecord[] {
  let prev_digest = GENESIS;
  return commands.map((command, index) => {
    const record = { ...unsealed, command, seq: index + 1, prev_digest };
    const digest = sha256(recordText(record));
    prev_digest = digest;
    return { ...record, digest };
  });
}

test("recordText() is the canonical JSON of every column but the digest", () => {
  expect(recordText(unsealed)).toBe(
    '{"argv":["npm","test"],"command":"npm test","contract_id":"c1","cwd":"/w","ended_at":"2026-01-01T00:00:01Z",' +
      '"exit_code":0,"exit_note":null,"failed":false,"harness":null,"ordered":true,"output":"é\\n","output_bytes":3,' +
      `"output_sha256":"ab","path":null,"prev_digest":"${GENESIS}","seq":1,"signal":null,"source":"run",` +
      '"started_at":"2026-01-01T00:00:00Z","tail":null,"tool":"bash","tool_use_id":null,"truncated":false}',
  );
});

test("recordText() leaves out what else a stored row has", () => {
  const stored = { ...unsealed, id: 7, digest: "x" };
  expect(recordText(stored)).toBe(recordText(unsealed));
});

describe("verifyChain()", () => {
  const chain = chainOf(["a", "b", "c"]);
  const at = (index: number): ToolRecord => chain[index] ?? chainOf([""])[0] ?? ({} as ToolRecord);

  test("of a chain that fits is its count and head", () => {
    expect(verifyChain(chain, sha256)).toEqual({ ok: true, count: 3, head: at(2).digest });
  });

  test("of no record has no head", () => {
    expect(verifyChain([], sha256)).toEqual({ ok: true, count: 0, head: null });
  });

  test.each([
    ["exit_code", 1],
    ["output", "all passed"],
    ["tail", "x"],
    ["failed", true],
    ["ordered", false],
    ["truncated", true],
    ["argv", null],
    ["tool_use_id", "t"],
  ])("sees a changed %s", (key, value) => {
    const changed = { ...at(1), [key]: value };
    expect(verifyChain([at(0), changed, at(2)], sha256)).toEqual({
      ok: false,
      seq: 2,
      expected: sha256(recordText(changed)),
      found: at(1).digest,
    });
  });

  test("sees a removed record", () => {
    expect(verifyChain([at(0), at(2)], sha256)).toEqual({
      ok: false,
      seq: 3,
      expected: at(0).digest,
      found: at(1).digest,
    });
    expect(verifyChain([at(1)], sha256)).toEqual({ ok: false, seq: 2, expected: GENESIS, found: at(0).digest });
  });

  test("sees records that changed places", () => {
    expect(verifyChain([at(1), at(0)], sha256).ok).toBe(false);
  });

  test("sees a record that was changed and sealed again by the one behind it", () => {
    const { digest: _, ...changed } = { ...at(1), exit_code: 1 };
    const sealed = { ...changed, digest: sha256(recordText(changed)) };
    expect(verifyChain([at(0), sealed, at(2)], sha256)).toEqual({
      ok: false,
      seq: 3,
      expected: sealed.digest,
      found: at(1).digest,
    });
  });

  test("sees a count that a chain computed anew does not hide", () => {
    const { digest: _, ...gap } = { ...at(1), seq: 5 };
    const sealed = { ...gap, digest: sha256(recordText(gap)) };
    expect(verifyChain([at(0), sealed], sha256)).toEqual({ ok: false, seq: 5, expected: "seq 2", found: "seq 5" });
  });
});
