/** Envelopes: their bodies, values and paths, and what is made of them. */
import { canonicalize } from "../../../src/core/contract/canonicalize.ts";
import { applyChanges, findChanges, revertChanges } from "../../../src/core/contract/changes.ts";
import { initialEnvelope } from "../../../src/core/contract/envelope.ts";
import { MAX_WRITE_DEPTH, type Mutation, mutate } from "../../../src/core/contract/mutate.ts";
import { readPath, splitPath } from "../../../src/core/contract/path.ts";
import { repair } from "../../../src/core/contract/repair.ts";
import { readUpdates } from "../../../src/core/contract/updates.ts";
import { validate } from "../../../src/core/contract/validate.ts";
import { parseValue } from "../../../src/core/contract/value.ts";
import { parseJson } from "../../../src/core/json/parse.ts";
import { compactJson, isObject, type JsonObject, type JsonValue, sameJson } from "../../../src/core/json/value.ts";
import { asJson, short, textsAt, valuesAt, vectors } from "../corpus.ts";
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

export const CORPUS_OF_VALUES = () => short(textsAt(vectors("contract-verbs"), "value"));
