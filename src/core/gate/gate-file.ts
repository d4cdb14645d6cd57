/**
 * A gate file: proofs as data. What is written here is what is looked at, so a key that is not known is an issue and
 * never passed over: a misspelt proof would silently not run.
 *
 * The shape stands in valibot schemas, from which `contracts/schemas/gate.schema.json` is made; what a shape cannot say
 * (names that are taken twice, patterns, what a leg may not change) is in `judgeGate`.
 */
import * as v from "valibot";
import { documentNameFault } from "../delegation/document.ts";
import { type DocumentIssue, readDocument } from "../json/read-document.ts";
import { compilePattern } from "../pattern/re2.ts";

export const GATE_FILE_BYTES = 1024 * 1024;

const Name = v.pipe(
  v.string(),
  v.regex(
    /^[a-z0-9][a-z0-9._-]{0,63}$/,
    "1 to 64 of a-z, 0-9, dot, dash and underscore are due, a letter or digit first",
  ),
);
const Text = v.pipe(v.string(), v.nonEmpty("A text is due that is not empty"));
const Path = v.pipe(
  v.string(),
  v.rawCheck(({ dataset, addIssue }) => {
    const fault = dataset.typed ? documentNameFault(dataset.value) : null;
    if (fault !== null) addIssue({ message: fault.message.replace(/^Document name/, "The path") });
  }),
);
const Folder = v.union([v.literal("."), Path]);
const Pattern = v.pipe(
  v.string(),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const compiled = compilePattern(dataset.value);
    if (!compiled.ok) addIssue({ message: `This is no RE2 pattern: ${compiled.reason}` });
  }),
);
const between = (least: number, most: number) =>
  v.pipe(
    v.number(),
    v.integer("A whole number is due"),
    v.minValue(least, `From ${least} to ${most} is due`),
    v.maxValue(most, `From ${least} to ${most} is due`),
  );
const listOf = <const S extends v.GenericSchema>(item: S, least: number, most: number) =>
  v.pipe(
    v.array(item),
    v.minLength(least, `At least ${least} of them are due`),
    v.maxLength(most, `At most ${most} of them are allowed`),
  );
const Environment = v.optional(v.record(v.pipe(v.string(), v.regex(/^[A-Za-z_][A-Za-z0-9_]*$/)), v.string()), {});
const Note = v.optional(v.string());
const When = v.optional(v.picklist(["before", "after"]), "after");
const Expect = v.picklist(["pass", "fail"]);
const Restore = v.optional(listOf(Path, 1, 64));

const BunTest = v.strictObject({
  kind: v.literal("bun_test"),
  when: When,
  files: listOf(Path, 1, 16),
  expect: Expect,
  pass: listOf(Text, 1, 256),
  fail: v.optional(listOf(v.strictObject({ test: Text, match: v.optional(Pattern) }), 1, 256)),
  restore: Restore,
  timeout_sec: v.optional(between(1, 600), 60),
  env: Environment,
  note: Note,
});
const Command = v.strictObject({
  kind: v.literal("command"),
  when: When,
  run: listOf(Text, 1, 256),
  expect: Expect,
  match: v.optional(Pattern),
  not_match: v.optional(Pattern),
  timeout_sec: v.optional(between(1, 600), 120),
  env: Environment,
  cwd: v.optional(Folder, "."),
  restore: Restore,
  note: Note,
});
const patchLines = <const K extends "patch_adds" | "patch_removes">(kind: K) =>
  v.strictObject({
    kind: v.literal(kind),
    when: When,
    file: v.optional(Path),
    regex: v.optional(Pattern),
    literal: v.optional(Text),
    note: Note,
  });
const Fact = v.strictObject({
  at: v.string(),
  equals: v.optional(v.unknown()),
  length: v.optional(between(0, Number.MAX_SAFE_INTEGER)),
  exists: v.optional(v.boolean()),
  type: v.optional(v.picklist(["null", "boolean", "number", "string", "array", "object"])),
});
const Json = v.strictObject({
  kind: v.literal("json"),
  when: When,
  file: Path,
  facts: listOf(Fact, 1, 256),
  note: Note,
});
const Count = v.strictObject({
  kind: v.literal("count"),
  when: When,
  file: Path,
  literal: v.optional(Text),
  regex: v.optional(Pattern),
  equals: between(0, Number.MAX_SAFE_INTEGER),
  note: Note,
});
const Lines = v.strictObject({
  kind: v.literal("lines"),
  when: When,
  file: Path,
  changed: v.optional(listOf(v.strictObject({ from: v.string(), to: v.string() }), 1, 4096)),
  changed_count: v.optional(between(0, 1_000_000)),
  note: Note,
});
const Unchanged = v.strictObject({ kind: v.literal("unchanged"), when: When, files: listOf(Path, 1, 64), note: Note });
const Sha256 = v.strictObject({
  kind: v.literal("sha256"),
  when: When,
  file: Path,
  equals: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, "64 hexadecimal digits in lower case are due")),
  note: Note,
});

export const Proof = v.variant("kind", [
  BunTest,
  Command,
  patchLines("patch_adds"),
  patchLines("patch_removes"),
  Json,
  Count,
  Lines,
  Unchanged,
  Sha256,
]);
export type Proof = v.InferOutput<typeof Proof>;

export const Leg = v.strictObject({
  name: Name,
  dir: Folder,
  contract: Path,
  expect_files: v.optional(listOf(Path, 1, 8)),
  copy: v.optional(
    v.strictObject({
      exclude: v.optional(v.pipe(v.array(Path), v.maxLength(256)), ["contract.json", "gate.json"]),
      executable: v.optional(v.pipe(v.array(Path), v.maxLength(256)), []),
    }),
    {},
  ),
  proofs: listOf(Proof, 1, 32),
  note: Note,
});
export type Leg = v.InferOutput<typeof Leg>;

const SchemaVersion = v.literal(1);
const legGate = <const M extends "write" | "answer">(mode: M) =>
  v.strictObject({
    schema_version: SchemaVersion,
    name: Name,
    mode: v.literal(mode),
    legs: listOf(Leg, 1, 64),
    note: Note,
  });
export const GateFile = v.pipe(
  v.variant("mode", [
    legGate("write"),
    legGate("answer"),
    v.strictObject({
      schema_version: SchemaVersion,
      name: Name,
      mode: v.literal("parallel"),
      contract: Path,
      k: v.optional(between(2, 16), 3),
      peer: v.optional(v.boolean(), true),
      note: Note,
    }),
  ]),
  v.title("Gate file"),
  v.description("Proofs of what a delegation hands back, as data. Unknown keys and kinds are errors"),
);
export type GateFile = v.InferOutput<typeof GateFile>;
export type LegGate = Exclude<GateFile, { mode: "parallel" }>;

export type ReadGate =
  | {
      readonly ok: true;
      readonly gate: GateFile;
      /** What an author may want to know and is no fault. */
      readonly notes: readonly DocumentIssue[];
    }
  | { readonly ok: false; readonly issues: readonly DocumentIssue[] };

/**
 * Reads a gate file strictly, with every issue at once.
 *
 * Errors: none is thrown, whatever the bytes
 * Source: delegation run, section 10.4
 */
export function readGate(bytes: Uint8Array): ReadGate {
  const read = readDocument(GateFile, bytes, { what: "the gate file", maxBytes: GATE_FILE_BYTES });
  if (!read.ok) return read;
  const gate = read.value;
  if (gate.mode === "parallel") return { ok: true, gate, notes: [] };
  const issues = [...judgeNames(gate), ...gate.legs.flatMap((leg, at) => judgeLeg(leg, gate.mode, `/legs/${at}`))];
  if (issues.length > 0) return { ok: false, issues };
  return { ok: true, gate, notes: gate.legs.flatMap((leg, at) => notesOf(leg, `/legs/${at}`)) };
}

/** Files by which changed code could talk a test run green: what a runner reads besides the tests. */
const RUNNER_FILE =
  /(?:^|\/)(?:bunfig\.toml|\.env[^/]*|package\.json|[jt]sconfig(?:\.[^/]*)?\.json|bun\.lockb?|package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml)$|(?:^|\/)node_modules(?:\/|$)/i;

/** Whether a file belongs to what a test runner reads besides tests and sources. */
export function isRunnerFile(path: string): boolean {
  return RUNNER_FILE.test(path);
}

function judgeNames({ legs }: LegGate): readonly DocumentIssue[] {
  return legs.flatMap(({ name }, at) => {
    const first = legs.findIndex((leg) => leg.name === name);
    if (first === at) return [];
    return [bad(`/legs/${at}/name`, `Leg ${first} is called "${name}" too`, "Give each leg a name of its own")];
  });
}

function judgeLeg(leg: Leg, mode: "write" | "answer", place: string): readonly DocumentIssue[] {
  const issues: DocumentIssue[] = [];
  const { expect_files, proofs } = leg;
  if (mode === "write" && expect_files === undefined) {
    issues.push(
      bad(`${place}/expect_files`, "A leg that writes pins the files that change", 'List them: "expect_files"'),
    );
  }
  if (mode === "answer" && expect_files !== undefined) {
    issues.push(bad(`${place}/expect_files`, 'A gate of mode "answer" has no diff', "Leave expect_files out"));
  }
  for (const [at, path] of (expect_files ?? []).entries()) {
    if (expect_files?.indexOf(path) !== at)
      issues.push(bad(`${place}/expect_files/${at}`, `"${path}" is listed twice`));
    if (!isRunnerFile(path) || !proofs.some(({ kind }) => kind === "bun_test")) continue;
    issues.push(
      bad(
        `${place}/expect_files/${at}`,
        `"${path}" is read by the test runner: a leg with a bun_test proof may not change it`,
      ),
    );
  }
  if (!proofs.some((proof) => proof.when === "after")) {
    issues.push(bad(`${place}/proofs`, "No proof is made after the change", 'At least one needs "when": "after"'));
  }
  for (const [at, proof] of proofs.entries()) issues.push(...judgeProof(proof, mode, `${place}/proofs/${at}`));
  return issues;
}

function judgeProof(proof: Proof, mode: "write" | "answer", place: string): readonly DocumentIssue[] {
  const issues: DocumentIssue[] = [];
  if (mode === "answer") {
    if (proof.when === "before") issues.push(bad(`${place}/when`, "There is nothing before an answer"));
    if (NEEDS_FIXTURE.has(proof.kind) || ("restore" in proof && proof.restore !== undefined)) {
      issues.push(bad(place, `A gate of mode "answer" has no fixture that ${proof.kind} could be held against`));
    }
  }
  switch (proof.kind) {
    case "bun_test":
      if (proof.expect === "fail" && proof.fail === undefined) {
        issues.push(bad(`${place}/fail`, "A run that must fail names the tests that fail", 'List them: "fail"'));
      }
      if (proof.expect === "pass" && proof.fail !== undefined) {
        issues.push(bad(`${place}/fail`, 'With "expect": "pass" no test fails', "Leave fail out"));
      }
      return issues;
    case "command":
      if (proof.expect === "fail" && proof.match === undefined) {
        const hint = 'Pin a text of the failure: "match"';
        issues.push(bad(`${place}/match`, "A red without pinned text proves nothing", hint));
      }
      return issues;
    case "patch_adds":
    case "patch_removes":
      if (proof.when === "before") issues.push(bad(`${place}/when`, "There is no patch before the change"));
      return [...issues, ...exactlyOne(proof, ["regex", "literal"], place)];
    case "count":
      return [...issues, ...exactlyOne(proof, ["regex", "literal"], place)];
    case "lines":
      return [...issues, ...exactlyOne(proof, ["changed", "changed_count"], place)];
    case "json":
      for (const [at, fact] of proof.facts.entries()) {
        issues.push(...exactlyOne(fact, ["equals", "length", "exists", "type"], `${place}/facts/${at}`));
        const fault = pointerFault(fact.at);
        if (fault !== null) issues.push(bad(`${place}/facts/${at}/at`, fault));
      }
      return issues;
    case "unchanged":
    case "sha256":
      return issues;
    default:
      return proof satisfies never;
  }
}

const NEEDS_FIXTURE: ReadonlySet<Proof["kind"]> = new Set(["patch_adds", "patch_removes", "lines", "unchanged"]);

function exactlyOne(object: object, keys: readonly string[], place: string): readonly DocumentIssue[] {
  const given = keys.filter((key) => Object.hasOwn(object, key));
  if (given.length === 1) return [];
  const list = keys.join(", ");
  return [
    bad(place, given.length === 0 ? `One of ${list} is due` : `Only one of ${list} is due, found ${given.join(", ")}`),
  ];
}

/** One step of `at`: a member or an index, then perhaps the one element of a list whose member has a value. */
export type FactStep = {
  readonly name: string;
  readonly where: { readonly key: string; readonly value: string } | null;
};

/**
 * Reads `at`: a JSON pointer in which a step may be `name[key=value]`.
 *
 * Errors: null where it is no such pointer
 */
export function readFactPointer(at: string): readonly FactStep[] | null {
  if (at === "") return [];
  if (!at.startsWith("/")) return null;
  const steps: FactStep[] = [];
  for (const text of at.slice(1).split("/")) {
    if (/~(?![01])/.test(text)) return null;
    const open = text.endsWith("]") ? text.indexOf("[") : -1;
    const equals = text.indexOf("=", open + 1);
    const plain = (part: string) => part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (open < 0) steps.push({ name: plain(text), where: null });
    else if (equals <= open + 1) return null;
    else {
      const where = { key: plain(text.slice(open + 1, equals)), value: plain(text.slice(equals + 1, -1)) };
      steps.push({ name: plain(text.slice(0, open)), where });
    }
  }
  return steps;
}

function pointerFault(at: string): string | null {
  if (readFactPointer(at) !== null) return null;
  return `"${at}" is no JSON pointer: "" or /step/step is due, where a step may be name[key=value]`;
}

function notesOf(leg: Leg, place: string): readonly DocumentIssue[] {
  return leg.proofs.flatMap((proof, at) => {
    if (proof.kind !== "command" || proof.expect !== "pass" || proof.match !== undefined) return [];
    const message = "An exit status alone proves nothing: code of the seat may end the run early with status 0";
    return [{ code: "no_match", path: `${place}/proofs/${at}`, message, hint: 'Pin a text of the success: "match"' }];
  });
}

function bad(path: string, message: string, hint: string | null = null): DocumentIssue {
  return { code: "bad_value", path, message, hint };
}
