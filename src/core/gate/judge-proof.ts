/**
 * The proofs that read files and the patch, and run nothing. What runs something is judged in `judge-command.ts` and
 * `judge-bun-test.ts`.
 *
 * Each judge says what it looked at and what it found; a file that is not there, or that does not parse, is a FAIL.
 */
import { oneLine } from "../acceptance/quoting.ts";
import { counted } from "../counted.ts";
import { parseJson } from "../json/parse.ts";
import { isArray, isObject, type JsonValue, jsonType, sameJson, valueAt } from "../json/value.ts";
import { compilePattern } from "../pattern/re2.ts";
import { decodeUtf8 } from "../utf8.ts";
import { type FactStep, type Proof, readFactPointer } from "./gate-file.ts";

/** `detail` is one line. */
export type ProofOutcome = { readonly verdict: "PASS" | "FAIL" | "INCONCLUSIVE"; readonly detail: string };

const DETAIL_CHARACTERS = 600;

/** An outcome that quotes what a seat wrote or a program printed: on one line, and cut. */
export function proofOutcome(verdict: ProofOutcome["verdict"], detail: string): ProofOutcome {
  const shown = detail.length > DETAIL_CHARACTERS ? `${detail.slice(0, DETAIL_CHARACTERS)}…` : detail;
  return { verdict, detail: oneLine(shown.toWellFormed()) };
}

/** What the judges look at. `null` where there is no such file. */
export type Subject = {
  /** The file in the state that the proof is about. */
  readonly file: (path: string) => Uint8Array | null;
  /** The file as the fixture has it. */
  readonly fixture: (path: string) => Uint8Array | null;
  /** The lines that the patch adds and removes, in its order; without `+` and `-`, and without their ends. */
  readonly patch: readonly PatchedFile[];
  readonly sha256: (bytes: Uint8Array) => string;
};

export type PatchedFile = {
  readonly path: string;
  readonly added: readonly string[];
  readonly removed: readonly string[];
};

export type FileProof = Exclude<Proof, { kind: "bun_test" | "command" }>;

/**
 * Judges one proof.
 *
 * Errors: none
 * Source: delegation run, section 10.4
 */
export function judgeFileProof(proof: FileProof, subject: Subject): ProofOutcome {
  switch (proof.kind) {
    case "patch_adds":
      return judgePatch(proof, subject, "added");
    case "patch_removes":
      return judgePatch(proof, subject, "removed");
    case "json":
      return withText(proof.file, subject.file, (text) => judgeFacts(text, proof));
    case "count":
      return withText(proof.file, subject.file, (text) => judgeCount(text, proof));
    case "lines":
      return withText(proof.file, subject.file, (now) =>
        withText(proof.file, subject.fixture, (before) => judgeLines(before, now, proof)),
      );
    case "unchanged": {
      const changed = proof.files.filter((path) => !sameBytes(subject.fixture(path), subject.file(path)));
      return changed.length === 0
        ? pass(proof.files.length === 1 ? "1 file as it was" : `${proof.files.length} files as they were`)
        : fail(`changed: ${changed.join(", ")}`);
    }
    case "sha256": {
      const bytes = subject.file(proof.file);
      if (bytes === null) return missing(proof.file);
      const digest = subject.sha256(bytes);
      return digest === proof.equals ? pass(`${proof.file} has the digest`) : fail(`${proof.file} has ${digest}`);
    }
    default:
      return proof satisfies never;
  }
}

function pass(detail: string): ProofOutcome {
  return proofOutcome("PASS", detail);
}

function fail(detail: string): ProofOutcome {
  return proofOutcome("FAIL", detail);
}

function missing(path: string): ProofOutcome {
  return fail(`there is no ${path}`);
}

function withText(
  path: string,
  read: (path: string) => Uint8Array | null,
  judge: (text: string) => ProofOutcome,
): ProofOutcome {
  const bytes = read(path);
  if (bytes === null) return missing(path);
  const decoded = decodeUtf8(bytes);
  return decoded.ok ? judge(decoded.text) : fail(`${path}: byte ${decoded.offset} is no UTF-8`);
}

function sameBytes(left: Uint8Array | null, right: Uint8Array | null): boolean {
  if (left === null || right === null) return left === right;
  return left.length === right.length && left.every((byte, at) => byte === right[at]);
}

type Sought = { readonly literal?: string | undefined; readonly regex?: string | undefined };

function judgePatch(
  proof: Sought & { readonly file?: string | undefined },
  { patch }: Subject,
  side: "added" | "removed",
): ProofOutcome {
  const files = patch.filter(({ path }) => proof.file === undefined || path === proof.file);
  const lines = files.flatMap((file) => file[side]);
  const where = proof.file ?? "the patch";
  const found = lines.find((line) => holds(line, proof));
  if (found !== undefined) return pass(`${where}: a line is ${side} that holds ${soughtText(proof)}`);
  return fail(`${where}: none of ${counted(lines.length, `${side} line`)} holds ${soughtText(proof)}`);
}

function holds(text: string, { literal, regex }: Sought): boolean {
  if (literal !== undefined) return text.includes(literal);
  const compiled = compilePattern(regex ?? "");
  return compiled.ok && compiled.pattern.test(text);
}

function soughtText({ literal, regex }: Sought): string {
  return literal === undefined ? `/${regex}/` : `"${literal}"`;
}

function judgeCount(text: string, proof: Sought & { readonly file: string; readonly equals: number }): ProofOutcome {
  const count = countOf(text, proof);
  const detail = `${proof.file} has ${count} of ${soughtText(proof)}`;
  return count === proof.equals ? pass(detail) : fail(`${detail}, ${proof.equals} are due`);
}

function countOf(text: string, { literal, regex }: Sought): number {
  let count = 0;
  if (literal !== undefined) {
    for (let at = text.indexOf(literal); at >= 0; at = text.indexOf(literal, at + literal.length)) count += 1;
    return count;
  }
  const compiled = compilePattern(regex ?? "");
  if (!compiled.ok) return -1;
  for (const _ of compiled.pattern.matches(text)) count += 1;
  return count;
}

function judgeLines(before: string, now: string, proof: Extract<Proof, { kind: "lines" }>): ProofOutcome {
  const [old, fresh] = [before.split("\n"), now.split("\n")];
  if (old.length !== fresh.length) {
    return fail(`${proof.file} has ${counted(fresh.length, "line")}, the fixture has ${old.length}`);
  }
  const changed = old.flatMap((from, at) => {
    const to = fresh[at] ?? "";
    return from === to ? [] : [{ line: at + 1, from, to }];
  });
  if (proof.changed_count !== undefined) {
    const detail = `${proof.file}: ${counted(changed.length, "line differs", "lines differ")}`;
    return changed.length === proof.changed_count
      ? pass(detail)
      : fail(`${detail}, ${counted(proof.changed_count, "is due", "are due")}`);
  }
  const due = proof.changed ?? [];
  const open = [...due];
  for (const { line, from, to } of changed) {
    const at = open.findIndex((each) => each.from === from && each.to === to);
    if (at < 0) return fail(`${proof.file}: line ${line} is "${to}" where the fixture has "${from}"`);
    open.splice(at, 1);
  }
  const [left] = open;
  if (left !== undefined) return fail(`${proof.file}: "${left.from}" did not become "${left.to}"`);
  return pass(
    `${proof.file}: exactly ${due.length === 1 ? "the listed line differs" : `the ${due.length} listed lines differ`}`,
  );
}

function judgeFacts(text: string, proof: Extract<Proof, { kind: "json" }>): ProofOutcome {
  const parsed = parseJson(text);
  if (!parsed.ok) {
    const { line, column, message } = parsed.fault;
    return fail(`${proof.file}: line ${line}, column ${column}: ${message}`);
  }
  for (const fact of proof.facts) {
    const why = factFault(parsed.value, fact);
    if (why !== null) return fail(`${proof.file} ${fact.at === "" ? "as a whole" : fact.at}: ${why}`);
  }
  return pass(`${proof.file}: ${counted(proof.facts.length, "fact holds", "facts hold")}`);
}

type Fact = Extract<Proof, { kind: "json" }>["facts"][number];

function factFault(document: JsonValue, fact: Fact): string | null {
  const steps = readFactPointer(fact.at);
  const value = steps === null ? undefined : steps.reduce<JsonValue | undefined>(stepInto, document);
  if (fact.exists !== undefined) {
    return (value !== undefined) === fact.exists ? null : fact.exists ? "there is nothing" : "there is something";
  }
  if (value === undefined) return "there is no such value, or not exactly one";
  if (fact.type !== undefined) {
    return jsonType(value) === fact.type ? null : `it is of type ${jsonType(value)}, ${fact.type} is due`;
  }
  if (fact.length !== undefined) {
    const size = isArray(value)
      ? value.length
      : isObject(value)
        ? Object.keys(value).length
        : [...String(value)].length;
    const counts = isArray(value) || isObject(value) || typeof value === "string";
    return counts && size === fact.length
      ? null
      : `it has ${counts ? counted(size, "element") : "no elements"}, ${counted(fact.length, "is due", "are due")}`;
  }
  const due = fact.equals as JsonValue;
  return sameJson(value, due) ? null : `it is ${clip(JSON.stringify(value))}, ${clip(JSON.stringify(due))} is due`;
}

function stepInto(value: JsonValue | undefined, { name, where }: FactStep): JsonValue | undefined {
  const inner = name === "" && where !== null ? value : memberAt(value, name);
  if (where === null) return inner;
  if (!isArray(inner)) return undefined;
  const found = inner.filter((element) => {
    const member = isObject(element) ? valueAt(element, where.key) : undefined;
    return member !== undefined && !isArray(member) && !isObject(member) && String(member) === where.value;
  });
  return found.length === 1 ? found[0] : undefined;
}

function memberAt(value: JsonValue | undefined, name: string): JsonValue | undefined {
  if (isArray(value)) return /^(?:0|[1-9]\d{0,15})$/.test(name) ? value[Number(name)] : undefined;
  return isObject(value) ? valueAt(value, name) : undefined;
}

function clip(text: string): string {
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
