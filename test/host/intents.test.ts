import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { type IntentRow, openIntents, renderIntent } from "../../src/core/node/intents.ts";
import { openIntentLedger, readIntents, tidyIntents } from "../../src/host/intents.ts";

let state = "";
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), "writ-intents-"));
});
afterEach(() => rmSync(state, { recursive: true, force: true }));

const attempt = (job: string): IntentRow => ({
  e: "try",
  job,
  url: "http://n",
  node: "",
  sha: "s",
  goal120: "Do",
  unix: 1,
  pid: 2,
  pid_start: "3",
});

describe("the ledger of intents", () => {
  test("holds what is open, and who owns it, across processes", () => {
    const ledger = openIntentLedger(state);
    for (const row of [
      attempt("a"),
      attempt("b"),
      { e: "open", job: "a" },
      attempt("c"),
      { e: "close", job: "c", note: "" },
    ] as IntentRow[]) {
      expect(ledger.append(row)).toBe(true);
    }
    expect(openIntents(readIntents(state).texts).map(({ job, is_owned }) => [job, is_owned])).toEqual([
      ["a", true],
      ["b", false],
    ]);
    expect(statSync(join(state, "intents.jsonl")).mode & 0o777).toBe(0o600);
  });

  test("a line that was cut by a kill is lost alone", () => {
    const ledger = openIntentLedger(state);
    ledger.append(attempt("a"));
    const file = join(state, "intents.jsonl");
    const { size } = statSync(file);
    ledger.append(attempt("b"));
    truncateSync(file, size + 20);
    ledger.append(attempt("c"));
    expect(openIntents(readIntents(state).texts).map(({ job }) => job)).toEqual(["a", "c"]);
  });

  test("a file that has grown is left, and read with the new one", () => {
    const ledger = openIntentLedger(state);
    ledger.append(attempt("a"));
    appendFileSync(join(state, "intents.jsonl"), `${" ".repeat(4 * 1024 * 1024)}\n`);
    ledger.append(attempt("b"));
    ledger.append({ e: "close", job: "a", note: "" });
    expect(existsSync(join(state, "intents-1.jsonl"))).toBe(true);
    expect(openIntents(readIntents(state).texts).map(({ job }) => job)).toEqual(["b"]);
  });

  test("an old file goes when nothing of it is open, and not before", () => {
    writeFileSync(join(state, "intents.jsonl"), renderIntent(attempt("a")));
    writeFileSync(join(state, "intents-1.jsonl"), renderIntent(attempt("b")));
    utimesSync(join(state, "intents.jsonl"), 1, 1);
    tidyIntents(state, Date.now());
    expect(existsSync(join(state, "intents.jsonl"))).toBe(true);
    openIntentLedger(state).append({ e: "close", job: "a", note: "" });
    tidyIntents(state, Date.now());
    expect(existsSync(join(state, "intents.jsonl"))).toBe(false);
    expect(openIntents(readIntents(state).texts).map(({ job }) => job)).toEqual(["b"]);
  });

  test("says so where it cannot be written", () => {
    expect(openIntentLedger(join(state, "gone")).append(attempt("a"))).toBe(false);
    expect(readIntents(join(state, "gone"))).toEqual({ texts: [], faults: [] });
  });

  test("never throws, whatever stands in the files", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.json())), (texts) => {
        expect(Array.isArray(openIntents(texts))).toBe(true);
      }),
    );
  });
});
