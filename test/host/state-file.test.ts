import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openIntentLedger, readIntents, tidyIntents } from "../../src/host/intents.ts";
import { lockFile } from "../../src/host/lock.ts";
import { openQuarantine } from "../../src/host/quarantine-file.ts";
import { openRates } from "../../src/host/rates.ts";
import { sweepRecovered } from "../../src/host/recovered.ts";
import { openRunRecords } from "../../src/host/run-records.ts";
import { takeServingLock } from "../../src/host/serving-lock.ts";
import { openSlotLine } from "../../src/host/slot-line.ts";
import { makeStateFile, openStateFile, readStateFile } from "../../src/host/state-file.ts";
import { openJobQueue } from "../../src/store/job-queue.ts";

let state = "";
let path = "";
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), "writ-state-"));
  path = join(state, "file");
});
afterEach(() => rmSync(state, { recursive: true, force: true }));

const pipe = (place: string) => expect(Bun.spawnSync(["mkfifo", place]).exitCode).toBe(0);

/** What may stand where a file is due, by what is said of it. */
const ODD: readonly (readonly [string, (place: string) => void])[] = [
  ["it is a pipe, and no regular file", pipe],
  ["it is a folder, and no regular file", (place) => mkdirSync(place)],
  ["it is a link, and no regular file", (place) => symlinkSync("/etc/passwd", place)],
  ["it is a link, and no regular file", (place) => symlinkSync("/dev/zero", place)],
  ["it is a link, and no regular file", (place) => symlinkSync("file", place)],
];
/** Without pipes and links of a user's own: Windows. */
const onUnix = describe.skipIf(process.platform === "win32");

describe("a file of the state folder", () => {
  test("is read whole, and null where there is none", () => {
    expect(readStateFile(path, 10)).toBeNull();
    writeFileSync(path, "text");
    expect(readStateFile(path, 10)).toBe("text");
    expect(() => readStateFile(path, 3)).toThrow("more than");
  });

  test("is made for its owner alone, and appended to", () => {
    makeStateFile(path);
    const file = openStateFile(path);
    writeSync(file, "a");
    closeSync(file);
    expect([readStateFile(path, 10), statSync(path).mode & 0o777]).toEqual(["a", 0o600]);
  });
});

onUnix("what is no regular file", () => {
  test.each(ODD)("is neither read nor opened: %s", (why, make) => {
    make(path);
    expect(() => readStateFile(path, 10)).toThrow(why);
    expect(() => openStateFile(path)).toThrow(why);
  });

  test.each(ODD)("in the place of the ledger is told of, and takes no row: %s", (why, make) => {
    const place = join(state, "intents.jsonl");
    make(place);
    expect(openIntentLedger(state).append({ e: "open", job: "a" })).toBe(false);
    expect(readIntents(state)).toEqual({ texts: [], faults: [{ path: place, why }] });
    writeFileSync(join(state, "intents-1.jsonl"), "row\n");
    tidyIntents(state, Date.now());
    expect(readIntents(state)).toMatchObject({ texts: ["row\n"], faults: [{ path: place }] });
  });

  test.each(ODD)("in the place of a record is no record: %s", (_, make) => {
    mkdirSync(join(state, "runs"));
    const run_id = `run-${"a".repeat(24)}`;
    make(join(state, "runs", `${run_id}.json`));
    const records = openRunRecords(state);
    expect([records.list(), records.read(run_id)]).toEqual([[], null]);
    expect(() => records.sweep(0, Number.MAX_SAFE_INTEGER)).not.toThrow();
  });

  test.each(ODD)("in the place of rates or of the quarantine is moved aside: %s", (_, make) => {
    for (const name of ["rates.json", "quarantine.json"]) make(join(state, name));
    pipe(join(state, "rates.json.next"));
    const rates = openRates(state);
    expect(rates.read("s")).toEqual(openRates(join(state, "none")).read("s"));
    rates.add("s", { decode_tok_s: 5 });
    const quarantine = openQuarantine(state);
    expect(quarantine.read()).toEqual({});
    quarantine.change(() => ({ n: { strikes: [1], until: 2 } }));
    for (const name of ["rates.json", "quarantine.json"]) expect(statSync(join(state, name)).isFile()).toBe(true);
  });

  test("in the place of a lock holds nobody up", () => {
    for (const name of ["rates.json.lock", "quarantine.json.lock", "node.lock"]) pipe(join(state, name));
    openRates(state).add("s", { decode_tok_s: 5 });
    openQuarantine(state).change(() => ({ n: { strikes: [1], until: 2 } }));
    for (const name of ["rates.json", "quarantine.json"]) expect(existsSync(join(state, name))).toBe(false);
    expect(() => takeServingLock(state)).toThrow("it is a pipe, and no regular file");
    lockFile(join(state, "node.lock"), 0)?.();
  });

  test("in the place of the node's owner is not replaced", () => {
    pipe(join(state, "node.json"));
    expect(() => takeServingLock(state)).toThrow("it is no regular file");
  });

  test("in the place of a slot counts as taken", async () => {
    const folder = join(state, "slots", new Bun.CryptoHasher("sha1").update("s").digest("hex"));
    mkdirSync(folder, { recursive: true });
    pipe(join(folder, "0"));
    pipe(join(folder, "q-1-1"));
    const line = openSlotLine(state, { ms: () => performance.now() });
    const taken = await line.take("s", 2, { signal: new AbortController().signal, bound_ms: 60_000, onWait: () => {} });
    expect(taken.kind).toBe("taken");
    if (taken.kind === "taken") taken.slot.release();
  });

  test("in the place of a node's store is refused", () => {
    pipe(join(state, "node.db"));
    expect(() => openJobQueue(join(state, "node.db"))).toThrow("no regular file");
  });

  test("among the results that were recovered stays, and keeps no old one there", () => {
    const folder = join(state, "recovered");
    mkdirSync(join(folder, `wrt-${"a".repeat(24)}.json`), { recursive: true });
    const loop = join(folder, `wrt-${"b".repeat(24)}.json`);
    symlinkSync(loop, loop);
    const old = join(folder, `wrt-${"c".repeat(24)}.json`);
    writeFileSync(old, "{}");
    sweepRecovered(state, 1, Date.now() + 10 * 86_400_000);
    expect(existsSync(old)).toBe(false);
  });
});
