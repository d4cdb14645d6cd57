/** Files that writ keeps and reads again: somebody may have edited them, and a crash may have cut them. */
import { mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { judgeAttestation } from "../../../src/core/attest/judge.ts";
import { findRun, readRunEntry } from "../../../src/core/delegation/run-entry.ts";
import { scrubText } from "../../../src/core/delegation/run-record.ts";
import { readSavedAnswers } from "../../../src/core/delegation/saved-answer.ts";
import { parseJson } from "../../../src/core/json/parse.ts";
import { compactJson, isObject } from "../../../src/core/json/value.ts";
import { openIntents, renderIntent } from "../../../src/core/node/intents.ts";
import {
  clearStrikes,
  parseMarks,
  quarantinedPlaces,
  renderMarks,
  strikePlace,
} from "../../../src/core/placement/quarantine.ts";
import { addSample, parseRates, ratesOf, renderRates } from "../../../src/core/seat/rates.ts";
import { isAlive } from "../../../src/host/process-identity.ts";
import { clearSlotsOf, countHeldSlots, openSlotLine } from "../../../src/host/slot-line.ts";
import { sha256 } from "../../../test/support/node-world.ts";
import { asJson, filesBelow, valuesAt, vectors } from "../corpus.ts";
import { ownFolder } from "../folder.ts";
import { hold, reading, same } from "../target.ts";

const LEG = { index: 0, status: "succeeded", node: "local", seat: "a", output: "there are 412", structured: null, diff: "", acceptance: [{ check: "contains:412", outcome: "pass" }], wall_ms: 12 }; // biome-ignore format: a record
const RUN = {
  schema_version: 1,
  run_id: `run-${"a".repeat(24)}`,
  summary: { succeeded: 1, deferred: 0, failed: 0 },
  writ_version: "0.1.0",
  started_at: "2026-01-05T10:00:00Z",
  wall_ms: 9,
  results: [LEG, { ...LEG, index: 1, status: "deferred", reason: "seat busy" }],
  record: { legs: 2, ended: true, pid: 41, label: "nightly", argv: ["writ", "delegate"], placements: [], events: [] },
};

export const runRecord = reading({
  name: "run-record",
  parts: ["record"],
  corpus: () => [
    JSON.stringify(RUN),
    JSON.stringify({ ...RUN, record: undefined }, null, 2),
    JSON.stringify(LEG),
    '{"output":"x","structured":{"a":0.50}}',
    ...filesBelow("fixtures/real-model", ".json"),
  ],
  words: ["results", "summary", "run_id", "index", "structured", "diff", "record", "contracts", "output", "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"], // biome-ignore format: a list
  read: ({ text }) => {
    const entry = readRunEntry(text);
    const parsed = parseJson(text);
    if (entry !== null) {
      const { ok, ...rest } = { ok: parseJson(entry.document).ok, document: entry.document };
      if (parsed.ok) hold("the document of a record is JSON", ok, rest);
      for (const { text: leg, fields } of entry.results) {
        if (parsed.ok) hold("an element is JSON", parseJson(leg).ok, leg);
        hold(
          "its members are of it",
          [...fields.values()].every(({ kind, value }) => kind === "string" || leg.includes(value)),
        );
      }
      findRun([entry.run_id, "run-abc"], text.slice(0, 20));
    }
    const answers = readSavedAnswers(text);
    if (!answers.ok) hold("a refusal has a sentence", answers.message.length > 0);
    const scrubbed = scrubText(text, (each) => each.replaceAll("412", "[REDACTED]"));
    hold(
      "a text that is scrubbed holds no secret",
      !parsed.ok || !textsOf(scrubbed).some((each) => each.includes("412")),
      scrubbed,
    );
    if (parsed.ok) hold("what is scrubbed is JSON as before", parseJson(scrubbed).ok, scrubbed);
    same("what has no secret stays to the letter", parsed.ok ? scrubText(text, (each) => each) : text, text);
  },
});

/** Every text of a JSON text that is a value. */
function textsOf(json: string): readonly string[] {
  const found: string[] = [];
  JSON.parse(json, (_, value) => {
    if (typeof value === "string") found.push(value);
    return value;
  });
  return found;
}

const TRY = { e: "try", job: "wrt-000000000000000000000001", url: "http://a:1", node: "box", sha: "0", goal120: "find", unix: 5, pid: 9, pid_start: "7" } as const; // biome-ignore format: a record

export const intents = reading({
  name: "intents",
  parts: ["ledger", "other ledger"],
  corpus: () => [
    [
      renderIntent(TRY) + renderIntent({ e: "open", job: TRY.job }),
      renderIntent({ e: "close", job: TRY.job, note: "done" }),
    ],
    [renderIntent(TRY) + renderIntent({ ...TRY, job: "wrt-2" }) + renderIntent({ e: "open", job: "wrt-2" }), ""],
  ],
  words: ['{"e":"open","job":"wrt-2"}\n', '"close"', '"try"', "unix", "pid", "__proto__"],
  read: ({ text }, { text: other }) => {
    const open = openIntents([text, other]);
    same("each job is open once", new Set(open.map(({ job }) => job)).size, open.length);
    const written = open.flatMap(({ is_owned, ...row }) => [
      renderIntent(row),
      ...(is_owned ? [renderIntent({ e: "open", job: row.job })] : []),
    ]);
    same("what is written again reads as the same", openIntents([written.join("")]), open);
    const closed = open.map(({ job }) => renderIntent({ e: "close", job, note: "" }));
    same("what is closed is not open", openIntents([text, other, `\n${closed.join("")}`]), []);
  },
});

export const rates = reading({
  name: "rates",
  parts: ["file"],
  corpus: () => [
    renderRates(
      addSample(addSample(new Map(), "a\0b", { decode_tok_s: 12.3456 }), "c", { prefill_tok_s: 400, cold_load_sec: 3 }),
    ),
    '{"schema_version":1,"seats":{}}',
  ],
  words: ["seats", "decode_tok_s", "schema_version", "__proto__", "1e400", "-1", "0"],
  read: ({ text }) => {
    const file = parseRates(text);
    if (file === null) return;
    for (const key of [...file.keys(), "a\0b", "__proto__"]) {
      const { decode_tok_s, prefill_tok_s, cold_load_sec } = ratesOf(file, key);
      hold(
        "a rate is one",
        [decode_tok_s, prefill_tok_s, cold_load_sec].every((rate) => rate === null || rate > 0),
        key,
      );
    }
    const again = parseRates(renderRates(file));
    same("what is written reads as the same", again && [...again], [...file]);
    const added = addSample(file, "new", { decode_tok_s: 5 });
    hold(
      "a sample is kept, and seats are bounded",
      added.has("new") && added.size <= Math.max(500, file.size),
      added.size,
    );
  },
});

export const quarantine = reading({
  name: "quarantine",
  parts: ["file"],
  corpus: () => [
    renderMarks({ "http://a:1": { strikes: [1, 2], until: null }, b: { strikes: [], until: 9 } }),
    '{"schema_version":1,"places":{}}',
  ],
  words: ["places", "strikes", "until", "__proto__", "constructor", "1e400", "null"],
  read: ({ text }) => {
    const marks = parseMarks(text);
    if (marks === null) return;
    const rules = { strikes: 2, window_sec: 60, duration_sec: 60 };
    same("what is written reads as the same", parseMarks(renderMarks(marks)), marks);
    for (const place of [...Object.keys(marks).slice(0, 5), "__proto__", "toString"]) {
      const struck = strikePlace(strikePlace(marks, place, 10, rules), place, 11, rules);
      hold("who is struck twice is passed over", quarantinedPlaces(struck, 12).has(place), place, struck);
      clearStrikes(struck, place, 12, rules);
    }
  },
});

let line = 0;

/** A slot file of another process, as somebody left it: it must not bar the line for ever. */
export const slotTicket = reading({
  name: "slot-ticket",
  parts: ["file"],
  corpus: () => [
    `{"pid":2147483000,"start":"1","token":"00ff"}\n`,
    `{"pid":${process.pid},"start":"0","token":"ff"}\n`,
  ],
  words: ["pid", "start", "token", "-1", "1e400", "0", "1.5", "9007199254740993", "null"],
  grown_bytes: 0,
  read: async ({ bytes, text }) => {
    // A file that names a process that lives has an owner, where nothing says when that began.
    const named = parseJson(text);
    if (named.ok && isObject(named.value) && typeof named.value.start !== "string" && isAlive(Number(named.value.pid)))
      return;
    const state = join(ownFolder(), `line-${line++}`);
    mkdirSync(state);
    const clock = { ms: () => performance.now() };
    const stop = new AbortController();
    const wait = { signal: stop.signal, bound_ms: 0, onWait: () => {} };
    const first = await openSlotLine(state, clock).take("a", 1, wait);
    hold("a free slot is taken", first.kind === "taken", first);
    for (const path of filesIn(state)) {
      writeFileSync(path, bytes);
      // Long not touched.
      utimesSync(path, 1, 1);
    }
    clearSlotsOf(state, { pid: 2_147_483_000, start: "1" });
    same("a slot of nobody is not held", countHeldSlots(state, "a"), 0);
    const second = await openSlotLine(state, clock).take("a", 1, wait);
    hold("a slot of nobody is taken", second.kind === "taken", second);
    if (second.kind === "taken") second.slot.release();
    rmSync(state, { recursive: true, force: true });
  },
});

function filesIn(state: string): readonly string[] {
  return [...new Bun.Glob("**/*").scanSync({ cwd: state, onlyFiles: true, dot: true })].map((path) =>
    join(state, path),
  );
}

const STATEMENT = {
  _type: "https://in-toto.io/Statement/v1",
  subject: [{ name: "c9", digest: { sha256: "0".repeat(64) } }],
  predicateType: "urn:writ:turn:v1",
  predicate: {
    handoff: { contract_id: "c9", agent_state: "COMPLETE", record_head: null },
    envelope: {},
    content_checks: null,
    record: { head: null, count: 0, runs: [] },
  },
};

export const attestation = reading({
  name: "attestation",
  parts: ["statement"],
  corpus: () => {
    const envelopes = valuesAt(vectors("contract-finalize"), "envelope");
    const statements = envelopes.map((envelope) => ({ ...STATEMENT, predicate: { ...STATEMENT.predicate, envelope } }));
    const sealed = {
      payloadType: "application/vnd.in-toto+json",
      payload: btoa(JSON.stringify(STATEMENT)),
      signatures: [{ keyid: "00", sig: btoa("sig") }],
    };
    return asJson([...statements, sealed]);
  },
  words: ["payload", "signatures", "predicate", "record", "runs", "digest", "subject", "keyid", "payloadType", "_type"],
  read: ({ text }) => {
    const none = judgeAttestation(text, { sha256, key: null });
    const key = { keyid: "00", verify: () => true };
    const believed = judgeAttestation(text, { sha256, key });
    hold("what is no JSON has findings", parseJson(text, { maxDepth: 160 }).ok || none.findings.length > 0);
    hold(
      "findings have sentences",
      [...none.findings, ...believed.findings].every(({ message }) => message.length > 0),
    );
    const parsed = parseJson(text);
    if (parsed.ok)
      same(
        "blanks do not count",
        judgeAttestation(compactJson(parsed.value), { sha256, key: null }).findings,
        none.findings,
      );
  },
});
