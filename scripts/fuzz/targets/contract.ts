/** Envelopes: their bodies, values and paths, and what is made of them. */
import { canonicalize } from "../../../src/core/contract/canonicalize.ts";
import { applyChanges, findChanges, revertChanges } from "../../../src/core/contract/changes.ts";
import { initialEnvelope } from "../../../src/core/contract/envelope.ts";
import { readEvidenceBatch } from "../../../src/core/contract/evidence-clause.ts";
import { MAX_WRITE_DEPTH, type Mutation, mutate } from "../../../src/core/contract/mutate.ts";
import { readPath, splitPath } from "../../../src/core/contract/path.ts";
import { repair } from "../../../src/core/contract/repair.ts";
import { entryText, readUpdates, splitUpdates } from "../../../src/core/contract/updates.ts";
import { validate } from "../../../src/core/contract/validate.ts";
import { parseValue } from "../../../src/core/contract/value.ts";
import { parseJson } from "../../../src/core/json/parse.ts";
import { compactJson, isObject, type JsonObject, type JsonValue, sameJson } from "../../../src/core/json/value.ts";
import { asJson, valuesAt, vectors } from "../corpus.ts";
import { hold, reading, same } from "../target.ts";

const WORDS = [
  "agent_status", "agent_state", "evidence_report", "key_outputs", "verification", "result", "pass", "commands_run",
  "consolidation_report", "approval_request", "failure_report", "COMPLETE", "IN_PROGRESS", "BLOCKED", "update_contracts",
  "agent_status.agent_state", "evidence_report.verification", "plan_status",
]; // biome-ignore format: a list

/** A whole envelope: every law of it and of what is made of it. */
export const envelope = reading({
  name: "envelope",
  parts: ["body"],
  corpus: () => asJson(valuesAt(vectors("contract-validate", "contract-finalize", "contract-verbs"), "envelope")),
  words: WORDS,
  read: ({ text }) => {
    const parsed = parseJson(text, { maxDepth: MAX_WRITE_DEPTH });
    if (!parsed.ok) return;
    judged(parsed.value);
    readUpdates(parsed.value);
    if (isObject(parsed.value)) readUpdates(parsed.value.update_contracts);
  },
});

function judged(value: JsonValue): void {
  const issues = validate(value);
  hold(
    "an issue has a code and a sentence",
    issues.every(({ code, message }) => code !== "" && message !== ""),
    issues,
  );
  const canonical = canonicalize(value);
  same(
    "what is canonical stays",
    compactJson(canonicalize(canonical.envelope).envelope),
    compactJson(canonical.envelope),
  );
  const repaired = repair(value);
  const again = repair(repaired.envelope);
  same("what is repaired needs no repair", again.lines, []);
  const left = validate(repaired.envelope).filter(({ code }) =>
    ["UNKNOWN_FIELD", "MISPLACED_KEY", "FILE_REFERENCE_SHAPE"].includes(code),
  );
  same("a repair leaves nothing that the vocabulary does not have", left, []);
}

/** One write on a stored envelope. */
export const write = reading({
  name: "write",
  parts: ["stored envelope", "field", "value or patch"],
  corpus: () => {
    const drafts = asJson([
      ...valuesAt(vectors("contract-verbs"), "draft").filter((draft) => draft !== null),
      initialEnvelope("a0123456789abcdef"),
    ]);
    const steps = vectors<{ readonly steps?: readonly Step[] }>("contract-verbs").flatMap(({ steps = [] }) => steps);
    return steps.map(({ field = "evidence_report.key_outputs", value, patch, text }, at) => [
      drafts[at % drafts.length] ?? "{}",
      field,
      value ?? text ?? JSON.stringify(patch ?? {}),
    ]);
  },
  words: WORDS,
  read: ({ text: stored }, { text: field }, { text: body }) => {
    const parsed = parseJson(stored, { maxDepth: MAX_WRITE_DEPTH });
    if (!parsed.ok || !isObject(parsed.value)) return;
    const before = parsed.value;
    readPath(before, splitPath(field));
    const value = parseValue(body);
    const patch = parseJson(body, { maxDepth: MAX_WRITE_DEPTH });
    if (value.ok) {
      written(before, { verb: "set", field, value: value.value });
      written(before, { verb: "add", field, value: value.value });
    }
    if (patch.ok) written(before, { verb: "fill", patch: patch.value });
  },
});

type Step = { readonly field?: string; readonly value?: string; readonly patch?: unknown; readonly text?: string };

function written(before: JsonObject, mutation: Mutation): void {
  const kept = compactJson(before);
  const mutated = mutate(before, mutation);
  same("a write changes a copy", compactJson(before), kept);
  if (!mutated.ok) return;
  const after = mutated.envelope;
  const changes = findChanges(before, after);
  hold("the changes lead there", sameJson(applyChanges(before, changes) ?? {}, after), changes);
  hold("the changes lead back", sameJson(revertChanges(after, changes), before), changes);
  if (mutation.verb === "add") return;
  const twice = mutate(after, mutation);
  if (mutation.verb === "set")
    same("what is set twice is set once", twice.ok && compactJson(twice.envelope), compactJson(after));
  if (mutation.verb === "set") {
    const found = readPath(after, splitPath(mutation.field));
    same("what was set is there", found.found && compactJson(found.value), compactJson(mutation.value));
  }
  judged(after);
}

/** What a close proposes: evidence among it. */
export const updates = reading({
  name: "updates",
  parts: ["update_contracts"],
  corpus: () => [
    ...asJson(vectors<{ readonly value?: unknown }>("contract-updates").map(({ value }) => value ?? null)),
    JSON.stringify([
      { contract: "evidence", payload: EVIDENCE },
      { contract: "evidence", payload: { ...EVIDENCE, artifact_path: "~/a", text: null } },
    ]),
  ],
  words: ["contract", "payload", "drift", "evidence", "brief_id", "ac_id", "type", "polarity", "text", "artifact_path", "task_id", "size_bytes", "9007199254740993", "~/x", "project_identity"], // biome-ignore format: a list
  read: ({ text }) => {
    const parsed = parseJson(text, { maxDepth: MAX_WRITE_DEPTH });
    if (!parsed.ok) return;
    const { entries, refused } = readUpdates(parsed.value);
    for (const { reason } of refused) hold("a refusal has a reason", reason.length > 0);
    const { evidence, proposals } = splitUpdates(entries);
    same("each entry is one of the two", evidence.length + proposals.length, entries.length);
    const batch = readEvidenceBatch(evidence, {
      briefExists: (id) => id === 1,
      taskBelongsTo: (task) => task === 2,
      resolveArtifact: (path) => (path.length % 2 === 0 ? `/evidence/${path.length}` : null),
    });
    hold(
      "evidence stands or falls together",
      batch.deposits.length === (batch.refused.length > 0 ? 0 : evidence.length),
    );
    for (const { deposit } of batch.deposits)
      hold("a deposit is a text or a file", (deposit.text === null) !== (deposit.artifact_path === null), deposit);
    for (const entry of entries) {
      const kept = parseJson(entryText(entry));
      hold("an entry is remembered as JSON", kept.ok, entry);
    }
  },
});

const EVIDENCE = { brief_id: 1, ac_id: "AC-1", type: "test_output", text: "12 pass", task_id: 2, polarity: "positive" };
