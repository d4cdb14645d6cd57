import { expect, test } from "bun:test";
import fc from "fast-check";
import * as v from "valibot";
import { isBlank, trimBlank } from "../../../src/core/delegation/blank.ts";
import {
  type ContractDraft,
  canonicalContract,
  issuesOf,
  type ReadOptions,
  readContractBytes,
  readContracts,
} from "../../../src/core/delegation/contract.ts";
import type { DocumentReader } from "../../../src/core/delegation/document.ts";
import { foldName } from "../../../src/core/delegation/fold.ts";
import { DELEGATION_ISSUE_CODES } from "../../../src/core/delegation/issue.ts";
import { JUDGES } from "../../../src/core/delegation/judges.ts";
import { ContractFields, ContractFile } from "../../../src/core/delegation/schema.ts";
import { canonicalJson, compactJson, type JsonObject, type JsonValue } from "../../../src/core/json/value.ts";

/** The issues of a text: code and place. */
function told(text: string, options: Partial<ReadOptions> = {}): readonly (readonly [string, string])[] {
  return readContracts(text, { ...JUDGES, ...options }).issues.map(({ code, path }) => [code, path]);
}

function toldOf(value: JsonValue, options: Partial<ReadOptions> = {}) {
  return told(JSON.stringify(value), options);
}

function only(value: JsonValue): ContractDraft {
  const { issues, subtasks } = readContracts(JSON.stringify(value), JUDGES);
  const [draft] = subtasks;
  if (draft === undefined) throw new Error(issues.map(({ message }) => message).join("; "));
  return draft;
}

function messageOf(text: string): string {
  return readContracts(text, JUDGES).issues[0]?.message ?? "";
}

function hintOf(text: string): string | null {
  return readContracts(text, JUDGES).issues[0]?.hint ?? null;
}

const bytes = (text: string) => new TextEncoder().encode(text);

// From bytes to subtasks.

test("a contract has every field, those that are absent or null with what they are without being asked for", () => {
  const plain = {
    schema_version: 1,
    goal: "x",
    context: [],
    output_schema: null,
    acceptance: [],
    profile: "",
    thinking: "",
    max_steps: 12,
    timeout_sec: 300,
    write_root: "",
    depth: 0,
  } as const;
  expect(only({ goal: "x" }).contract).toEqual(plain);
  const nulls = { context: null, context_paths: null, acceptance: null, profile: null, thinking: null };
  expect(only({ goal: "x", ...nulls, max_steps: null, timeout_sec: null, write_root: null }).contract).toEqual(plain);
});

test("minted fields have no effect, whatever they hold and whatever its type", () => {
  const draft = only({ goal: "x", schema_version: "seven", depth: [1] });
  expect([draft.contract.schema_version, draft.contract.depth]).toEqual([1, 0]);
});

test.each([
  { name: "ill-formed UTF-8", given: Uint8Array.from([0x7b, 0x22, 0xff]), says: "byte 2 is no UTF-8" },
  { name: "a byte order mark", given: bytes('\ufeff{"goal":"x"}'), says: "line 1, column 1: a byte order mark" },
])("$name is not_json", ({ given, says }) => {
  const [issue] = readContractBytes(given, JUDGES).issues;
  expect(issue).toMatchObject({ code: "not_json", path: "" });
  expect(issue?.message).toContain(says);
});

test("a file of 16 MiB is read, a larger one is file_too_large", () => {
  const limit = 16 * 1024 * 1024;
  const contract = '{"goal":"x"}';
  const file = bytes(contract + " ".repeat(limit - contract.length));
  expect(readContractBytes(file, JUDGES).issues).toEqual([]);
  const larger = new Uint8Array(limit + 1).fill(0x20);
  expect(readContractBytes(larger, JUDGES).issues).toMatchObject([{ code: "file_too_large", path: "" }]);
  expect(told(" ".repeat(limit + 1))).toEqual([["file_too_large", ""]]);
});

test.each([
  { text: "", says: "the text is empty", hint: null },
  { text: '{"goal":"x"} x', says: "there is text behind the JSON value", hint: null },
  { text: '{"goal":"x",}', says: "a trailing comma", hint: "Take the comma out" },
  { text: '{"goal":"x" // why\n}', says: "comments are not JSON", hint: "Take comments out: JSON has none" },
  { text: "{'goal':'x'}", says: "single quotes", hint: "Write texts and names in double quotes" },
  { text: '\ufeff{"goal":"x"}', says: "a byte order mark", hint: "Save the file without a byte order mark" },
  { text: '{"goal":"\\ud800"}', says: "lone surrogate", hint: null },
  { text: "goal: x\n", says: "", hint: "It reads like YAML from line 1, column 1 on; a contract is JSON" },
  { text: "# mine\n\n- goal: x\n", says: "", hint: "It reads like YAML from line 3, column 1 on; a contract is JSON" },
])("$text is not_json, with a hint", ({ text, says, hint }) => {
  expect(told(text)).toEqual([["not_json", ""]]);
  expect(messageOf(text)).toContain(says);
  expect(messageOf(text)).toMatch(/line \d+, column \d+/);
  expect(hintOf(text)).toBe(hint);
});

test("64 levels of nesting are read, 65 are too_deep", () => {
  const nested = (levels: number) => `{"goal":"x","y":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;
  expect(told(nested(64))).toEqual([]);
  expect(told(nested(65))).toEqual([["too_deep", ""]]);
});

test.each([
  {
    text: '{"goal":"a",\n"goal":"b"}',
    path: "",
    says: 'Key "goal" is given twice in one object: at line 1, column 2 and at line 2, column 1',
  },
  { text: '{"x":1,"x":2,"goal":"a"}', path: "", says: 'Key "x"' },
  {
    text: '{"goal":"a","Goal":"b"}',
    path: "/Goal",
    says: 'Keys "goal" and "Goal" name one field in one object: at line 1, column 2 and at line 1, column 13',
  },
  {
    text: '[{"goal":"a"},{"goal":"a","max_steps":1,"MAX_\u017fTEPS":2}]',
    path: "/1/MAX_\u017fTEPS",
    says: "name one field",
  },
  { text: '{"goal":"a","Context":[{"name":"a","Name":"b"}]}', path: "/Context/0/Name", says: "name one field" },
  { text: '{"goal":"a","output_schema":{"a":1,"a":2}}', path: "", says: 'Key "a"' },
])("$text is duplicate_key", ({ text, path, says }) => {
  expect(told(text)).toEqual([["duplicate_key", path]]);
  expect(messageOf(text)).toContain(says);
});

test.each(['{"goal":"a","x":1,"X":2}', '{"goal":"a","output_schema":{"properties":{"a":{},"A":{}}}}'])(
  "keys that are no field are compared exactly: %s",
  (text) => {
    expect(told(text)).toEqual([]);
  },
);

test.each([
  { text: "null", path: "", says: "not null" },
  { text: '"goal"', path: "", says: "not a string" },
  { text: "12.0", path: "", says: "not the number 12.0" },
  { text: "true", path: "", says: "not true" },
  { text: '[{"goal":"a"},[]]', path: "/1", says: "Subtask 1 must be an object, not a list" },
  { text: "[null]", path: "/0", says: "not null" },
])("$text is not_an_object", ({ text, path, says }) => {
  expect(told(text)).toEqual([["not_an_object", path]]);
  expect(messageOf(text)).toContain(says);
});

test("a file has 1 to 8 subtasks", () => {
  const files = (count: number) => Array.from({ length: count }, () => ({ goal: "x" }));
  expect(toldOf(files(0))).toEqual([["no_subtasks", ""]]);
  expect(toldOf(files(8))).toEqual([]);
  expect(toldOf(files(9))).toEqual([["too_many_subtasks", ""]]);
  expect(messageOf(JSON.stringify(files(9)))).toBe("The contract file has 9 subtasks; at most 8 are allowed");
});

// Fields.

test.each(["Goal", "GOAL", "gOaL"])("the name of a field matches in any case: %s", (name) => {
  expect(only({ [name]: "x" }).contract.goal).toBe("x");
});

test("names fold as Unicode says, and not as separators would", () => {
  expect(only({ goal: "x", "max_\u017fteps": 3 }).contract.max_steps).toBe(3);
  expect(only({ goal: "x", "thin\u212aing": "on" }).contract.thinking).toBe("on");
  const draft = only({ goal: "x", maxSteps: 3, "max-steps": 4 });
  expect(draft.contract.max_steps).toBe(12);
  expect(draft.unknown.map(({ key, near }) => [key, near])).toEqual([
    ["maxSteps", "max_steps"],
    ["max-steps", "max_steps"],
  ]);
  expect(foldName("ACCEPTANCE\u0130")).toBe("acceptance\u0130");
});

test("unknown members are ignored at every level, and said", () => {
  const draft = only({ goal: "x", zzzzzz: { a: [1] }, context: [{ name: "a", txt: "b" }] });
  expect(draft.unknown).toEqual([
    { path: "/zzzzzz", key: "zzzzzz", near: null },
    { path: "/context/0/txt", key: "txt", near: "text" },
  ]);
  expect(draft.contract.context).toEqual([{ name: "a", text: "" }]);
});

test.each([
  { member: '"goal":3', path: "/goal", says: 'Field "goal" must be a string, not the number 3' },
  { member: '"goal":["x"]', path: "/goal", says: "a string, not a list" },
  { member: '"Profile":true', path: "/Profile", says: 'Field "Profile" must be a string, not true' },
  { member: '"thinking":{}', path: "/thinking", says: "a string, not an object" },
  { member: '"write_root":1', path: "/write_root", says: "a string" },
  { member: '"acceptance":"contains:x"', path: "/acceptance", says: "a list of strings, not a string" },
  { member: '"acceptance":["nonempty:a",3]', path: "/acceptance/1", says: 'Field "acceptance[1]" must be a string' },
  { member: '"acceptance":[null]', path: "/acceptance/0", says: "a string, not null" },
  { member: '"context_paths":"a"', path: "/context_paths", says: "a list of strings" },
  { member: '"context_paths":[{}]', path: "/context_paths/0", says: "a string, not an object" },
  { member: '"context":{}', path: "/context", says: "a list of objects, not an object" },
  { member: '"context":["a"]', path: "/context/0", says: "an object, not a string" },
  { member: '"context":[null]', path: "/context/0", says: "an object, not null" },
  { member: '"context":[{"name":"a","TEXT":3}]', path: "/context/0/TEXT", says: 'Field "context[0].TEXT"' },
  { member: '"max_steps":12.0', path: "/max_steps", says: "an integer, not the number 12.0" },
  { member: '"max_steps":1e1', path: "/max_steps", says: "an integer, not the number 1e1" },
  { member: '"max_steps":"5"', path: "/max_steps", says: "an integer, not a string" },
  { member: '"timeout_sec":true', path: "/timeout_sec", says: "an integer, not true" },
])("$member is type_mismatch", ({ member, path, says }) => {
  const text = member.startsWith('"goal"') ? `{${member}}` : `{"goal":"x",${member}}`;
  expect(told(text)).toEqual([["type_mismatch", path]]);
  expect(messageOf(text)).toContain(says);
});

test("a null member of a document counts as absent", () => {
  expect(toldOf({ goal: "x", context: [{ name: "a", text: null }] })).toEqual([]);
  expect(toldOf({ goal: "x", context: [{ name: null, text: "t" }] })).toEqual([["doc_name", "/context/0"]]);
});

const LITERAL = fc.oneof(
  fc.integer({ min: -20, max: 2000 }).map(String),
  fc.constantFrom("-0", "9007199254740993", `1${"0".repeat(60)}`, `-1${"0".repeat(60)}`),
);

test("an integer clamps, however large it is written, and never is an error", () => {
  fc.assert(
    fc.property(LITERAL, LITERAL, (steps, seconds) => {
      const text = `{"goal":"x","max_steps":${steps},"timeout_sec":${seconds}}`;
      const { issues, subtasks } = readContracts(text, JUDGES);
      expect(issues).toEqual([]);
      const wanted = (literal: string, preset: number, most: number) =>
        BigInt(literal) <= 0n ? preset : BigInt(literal) > BigInt(most) ? most : Number(literal);
      const given = [wanted(steps, 12, 12), wanted(seconds, 300, 900)] as const;
      expect([subtasks[0]?.contract.max_steps, subtasks[0]?.contract.timeout_sec]).toEqual([...given]);
      expect(subtasks[0]?.clamped.map(({ field }) => field) ?? []).toEqual([
        ...(BigInt(steps) === BigInt(given[0]) ? [] : (["max_steps"] as const)),
        ...(BigInt(seconds) === BigInt(given[1]) ? [] : (["timeout_sec"] as const)),
      ]);
    }),
  );
});

test("a clamped number is told as it was written", () => {
  const { clamped } = only({ goal: "x", Timeout_Sec: 901 });
  expect(clamped).toEqual([{ path: "/Timeout_Sec", field: "timeout_sec", asked: "901", given: 900 }]);
});

test.each(["", " \t\n", "\u0085\u3000\u00a0\u2028"])("a blank goal is goal_required: %j", (goal) => {
  expect(toldOf({ goal })).toEqual([["goal_required", "/goal"]]);
});

test("a goal that is absent or null is goal_required, and U+FEFF is no blank", () => {
  expect(told("{}")).toEqual([["goal_required", "/goal"]]);
  expect(told('{"Goal":null}')).toEqual([["goal_required", "/Goal"]]);
  expect(toldOf({ goal: "\ufeff" })).toEqual([]);
});

test.each([
  { thinking: "", kept: "" },
  { thinking: "  ", kept: "" },
  { thinking: "AUTO", kept: "auto" },
  { thinking: "\u0085On\u3000", kept: "on" },
  { thinking: "off", kept: "off" },
])("thinking $thinking is kept as $kept", ({ thinking, kept }) => {
  expect(only({ goal: "x", thinking }).contract.thinking).toBe(kept as "");
});

test.each(["maybe", "none", "0", "o n", "\ufeffon"])("thinking %j is outside of the vocabulary", (thinking) => {
  expect(toldOf({ goal: "x", thinking })).toEqual([["thinking", "/thinking"]]);
  expect(messageOf(JSON.stringify({ goal: "x", thinking }))).toContain('none of "auto", "on" and "off"');
});

test("any profile will do", () => {
  expect(only({ goal: "x", profile: "no such" }).contract.profile).toBe("no such");
});

test("the write root is kept cleaned, and refused with its value", () => {
  expect(only({ goal: "x", write_root: "./a//b/../c/" }).contract.write_root).toBe("a/c");
  expect(toldOf({ goal: "x", Write_Root: "../x" })).toEqual([["write_root", "/Write_Root"]]);
  expect(messageOf('{"goal":"x","write_root":"../x"}')).toContain('"../x" escapes the read root');
});

// Documents.

const docs = (count: number, text = "t") => Array.from({ length: count }, (_, index) => ({ name: `n${index}`, text }));
const names = (count: number) => Array.from({ length: count }, (_, index) => `p${index}`);

/** Gives each entry as a document of its own name; entries that begin with `!` are missing. */
const scripted: DocumentReader = (paths) => {
  const all = paths.map((path, index) => ({ index, path }));
  return {
    documents: all
      .filter(({ path }) => !path.startsWith("!"))
      .map(({ index, path }) => ({ index, document: { name: path, text: `text of ${path}` } })),
    faults: all
      .filter(({ path }) => path.startsWith("!"))
      .map(({ index, path }) => ({ index, code: "path_missing", message: `no "${path}"`, hint: null })),
  };
};

test("16 documents of both kinds are allowed; 17 are told and none is read", () => {
  let reads = 0;
  const counting: DocumentReader = (paths) => {
    reads += 1;
    return scripted(paths);
  };
  const options = { readDocuments: counting };
  expect(toldOf({ goal: "x", context: docs(8), context_paths: names(8) }, options)).toEqual([]);
  expect(reads).toBe(1);
  expect(toldOf({ goal: "x", context: docs(8), context_paths: names(9) }, options)).toEqual([["too_many_docs", ""]]);
  expect(toldOf({ goal: "x", context_paths: names(17) }, options)).toEqual([["too_many_docs", "/context_paths"]]);
  expect(reads).toBe(1);
  expect(toldOf({ goal: "x", context: docs(17) })).toEqual([["too_many_docs", "/context"]]);
});

test("documents of context_paths stand behind those of context, in order", () => {
  const text = JSON.stringify({ goal: "x", context_paths: ["b", "a"], context: [{ name: "c", text: "1" }] });
  const [draft] = readContracts(text, { ...JUDGES, readDocuments: scripted }).subtasks;
  expect(draft?.contract.context.map(({ name }) => name)).toEqual(["c", "b", "a"]);
  expect(draft?.isComplete).toBe(true);
});

test("context_paths are kept apart where nothing is handed in to read them", () => {
  const draft = only({ goal: "x", context_paths: ["a", "b"] });
  expect(draft).toMatchObject({ isComplete: false, context_paths: ["a", "b"], contract: { context: [] } });
  expect(only({ goal: "x", context_paths: [] }).isComplete).toBe(true);
});

test("an entry that does not read refuses the contract, at its place", () => {
  const issues = toldOf([{ goal: "x" }, { goal: "x", Context_Paths: ["a", "!b"] }], { readDocuments: scripted });
  expect(issues).toEqual([["path_missing", "/1/Context_Paths/1"]]);
});

test("a read root that is none refuses every subtask that needs it, and no other", () => {
  const readDocuments: DocumentReader = () => ({
    documents: [],
    faults: [{ index: null, code: "read_root", message: "no folder", hint: null }],
  });
  const subtask = { goal: "x", context_paths: ["a"] };
  expect(toldOf([{ goal: "x" }, subtask, subtask], { readDocuments })).toEqual([
    ["read_root", "/1/context_paths"],
    ["read_root", "/2/context_paths"],
  ]);
});

test("names and collisions are judged over both kinds, each at its place", () => {
  const value = {
    goal: "x",
    context: [{ name: "a.md" }, { name: "b\\c" }, { name: "A.MD" }],
    context_paths: ["nul", "a.md/x"],
  };
  expect(toldOf(value, { readDocuments: scripted })).toEqual([
    ["doc_name", "/context/1"],
    ["doc_name", "/context_paths/0"],
    ["doc_collision", "/context/2"],
    ["doc_collision", "/context_paths/1"],
  ]);
});

test("256 KiB of names and texts are allowed, in bytes of UTF-8", () => {
  const text = "é".repeat(131_071);
  expect(toldOf({ goal: "x", context: [{ name: "ab", text }] })).toEqual([]);
  expect(toldOf({ goal: "x", context: [{ name: "abc", text }] })).toEqual([["context_too_large", "/context"]]);
  const message = messageOf(JSON.stringify({ goal: "x", context: [{ name: "abc", text }] }));
  expect(message).toBe("The documents have 262145 bytes in total, names included; at most 262144 are allowed");
});

// What has a language of its own.

test("a check that does not parse is told with its place, its index and its own code", () => {
  const [issue] = readContracts('{"goal":"x","acceptance":["nonempty:a","looks right"]}', JUDGES).issues;
  expect(issue).toMatchObject({ code: "acceptance", path: "/acceptance/1", cause: "no_verb" });
  expect(issue?.message).toStartWith('Check 1: "looks right"');
});

test("64 checks of 4,096 bytes are allowed; what is beyond is told by its limit", () => {
  const line = (size: number) => `contains:${"x".repeat(size - 9)}`;
  expect(toldOf({ goal: "x", acceptance: Array(64).fill(line(4096)) })).toEqual([]);
  const issues = readContracts(
    JSON.stringify({ goal: "x", acceptance: [line(4097), ...Array(64).fill("contains:x")] }),
    JUDGES,
  ).issues;
  expect(issues.map(({ path, cause }) => [path, cause])).toEqual([
    ["/acceptance", undefined],
    ["/acceptance/0", undefined],
  ]);
  expect(issues[0]?.message).toBe("There are 65 checks; at most 64 are allowed");
  expect(issues[1]?.message).toContain("has 4097 bytes; at most 4096");
});

// `[a-z]{n}` is n instructions, and two for the beginning and the end.
const letters = (count: number) => `regex:[a-z]{${count}}`;
const document = (bytes: number) => ({ name: "a", text: "x".repeat(bytes - 2) });

test.each<[string, readonly string[], number, readonly (readonly [string, string])[]]>([
  ["32,768 instructions over little text", [...Array(32).fill(letters(998)), letters(766)], 0, []],
  ["one more", [...Array(32).fill(letters(998)), letters(767)], 0, [["acceptance", "/acceptance/32"]]],
  ["8,192 over 256 KiB", [...Array(8).fill(letters(998)), letters(190)], 2 ** 18, []],
  ["one more over those", [...Array(8).fill(letters(998)), letters(191)], 2 ** 18, [["acceptance", "/acceptance/8"]]],
  ["25 million", Array(64).fill(`regex:${"[a-z]{999}".repeat(400)}`), 0, [["acceptance", "/acceptance/0"]]],
  ["long checks that are no patterns", Array(64).fill(`contains:${"x".repeat(4000)}`), 2 ** 18, []],
])("the work of all patterns has a bound: %s", (_, acceptance, bytes, expected) => {
  const context = bytes === 0 ? [] : [document(bytes / 2), { ...document(bytes / 2), name: "b" }];
  expect(toldOf({ goal: "x", context, acceptance })).toEqual(expected);
});

test("the goal counts as text that patterns are held against", () => {
  const acceptance = Array(8).fill(letters(998));
  expect(toldOf({ goal: "x".repeat(2 ** 20), acceptance })).toEqual([["acceptance", "/acceptance/2"]]);
});

test.each(["null", "3", '"x"', "[1]", "{}", '{"properties":{"a":true}}', '{"properties":[]}'])(
  "%s is no output schema",
  (schema) => {
    const [issue] = readContracts(`{"goal":"x","output_schema":${schema}}`, JUDGES).issues;
    expect(issue?.code).toBe("output_schema");
    expect(issue?.path).toStartWith("/output_schema");
  },
);

test("each number of a schema that no double holds is told at its place", () => {
  const text = '{"goal":"x","output_schema":{"properties":{"a":{"maximum":1e400,"enum":[1,9007199254740993]}}}}';
  expect(told(text)).toEqual([
    ["output_schema", "/output_schema/properties/a/maximum"],
    ["output_schema", "/output_schema/properties/a/enum/1"],
  ]);
  expect(messageOf(text)).toContain("1e400");
});

test("what the lint of schemas says is told at its place in the file", () => {
  const lintSchema = () => [{ path: "/properties/a~1b", message: "no", hint: "yes" }];
  const read = readContracts('[{"goal":"x","Output_Schema":{"properties":{}}}]', { ...JUDGES, lintSchema });
  expect(read.issues).toEqual([
    { code: "output_schema", path: "/0/Output_Schema/properties/a~1b", message: "no", hint: "yes" },
  ]);
});

// The order.

test("all issues of all subtasks are told at once: types of the file first, then rule by rule", () => {
  const first = {
    acceptance: ["bogus"],
    output_schema: 3,
    context: [{ name: "nul" }, { name: "b" }, { name: "B", text: "x".repeat(262_144) }, ...docs(13)],
    context_paths: ["!gone"],
    write_root: "..",
    thinking: "maybe",
    goal: " ",
    profile: "p",
  };
  const second = { profile: 3, goal: "", thinking: "no", max_steps: "1" };
  const issues = toldOf([first, second], { readDocuments: scripted });
  expect(issues).toEqual([
    ["type_mismatch", "/1/profile"],
    ["type_mismatch", "/1/max_steps"],
    ["goal_required", "/0/goal"],
    ["thinking", "/0/thinking"],
    ["write_root", "/0/write_root"],
    ["too_many_docs", "/0"],
    ["doc_name", "/0/context/0"],
    ["doc_collision", "/0/context/2"],
    ["context_too_large", "/0"],
    ["output_schema", "/0/output_schema"],
    ["acceptance", "/0/acceptance/0"],
    ["goal_required", "/1/goal"],
    ["thinking", "/1/thinking"],
  ]);
  const order = issues.slice(2, 11).map(([code]) => DELEGATION_ISSUE_CODES.indexOf(code as "thinking"));
  expect(order).toEqual(order.toSorted((left, right) => left - right));
});

test("what context_paths say comes before the goal", () => {
  const issues = toldOf({ goal: "", context_paths: ["!a"] }, { readDocuments: scripted });
  expect(issues.map(([code]) => code)).toEqual(["path_missing", "goal_required"]);
});

test("a field of the wrong type is not judged further, the others are", () => {
  expect(toldOf({ goal: 3, thinking: "no", acceptance: ["bogus", null] })).toEqual([
    ["type_mismatch", "/goal"],
    ["type_mismatch", "/acceptance/1"],
    ["thinking", "/thinking"],
  ]);
});

test("sound subtasks are drafts beside those that are not, and issues are found by place", () => {
  const read = readContracts('[{"goal":""},{"goal":"b"},{"goal":3}]', JUDGES);
  expect(read.subtasks.map(({ index, path }) => [index, path])).toEqual([[1, "/1"]]);
  expect(read.places).toEqual(["/0", "/1", "/2"]);
  expect(read.places.map((place) => issuesOf(read, place).length)).toEqual([1, 0, 1]);
});

test("pointers begin where the caller says", () => {
  expect(toldOf([{ goal: "x", acceptance: ["y"] }], { base: "/subtasks" })).toEqual([
    ["acceptance", "/subtasks/0/acceptance/0"],
  ]);
  expect(told("[]", { base: "/subtasks" })).toEqual([["no_subtasks", "/subtasks"]]);
});

test("a file that is wrong thousands of times is told of in a few issues", () => {
  const many = (item: string) => `[${Array(20_000).fill(item).join(",")}]`;
  const read = (member: string) => readContracts(`{"goal":"x",${member}}`, JUDGES).issues;
  expect(read(`"acceptance":${many("3")}`)).toHaveLength(65);
  expect(read(`"acceptance":${many("3")}`).at(-1)?.message).toContain("19936 more elements");
  expect(read(`"context":${many('{"text":3}')}`)).toHaveLength(65);
  expect(read(`"context":${many("{}")}`)).toHaveLength(17);
  expect(read(`"context":${many('{"name":"a","NAME":"b"}')}`)).toHaveLength(64);
  expect(read(`"acceptance":${many('"x"')}`)).toHaveLength(65);
  expect(read(`"output_schema":{"properties":{"a":{"enum":${many("1e400")}}}}`)).toHaveLength(64);
});

// Laws.

const word = fc.oneof(
  fc.constantFrom("goal", "a.md", "src/b.ts", "nonempty:a", "contains:x", "auto", "."),
  fc.string(),
);
const scalar = fc.oneof(word, fc.integer(), fc.double(), fc.boolean(), fc.constant(null));
const loose = fc.record(
  {
    goal: fc.oneof(word, scalar),
    Context: fc.oneof(fc.array(fc.record({ name: fc.oneof(word, scalar), text: scalar })), scalar),
    acceptance: fc.oneof(fc.array(scalar), scalar),
    thinking: scalar,
    MAX_STEPS: scalar,
    timeout_sec: scalar,
    write_root: scalar,
    profile: scalar,
    output_schema: fc.oneof(fc.constant({ properties: { a: { type: "string" } } }), scalar),
    context_paths: fc.oneof(fc.array(scalar), scalar),
    depth: scalar,
  },
  { requiredKeys: [] },
);
const anyFile = fc
  .oneof(loose, fc.array(loose, { maxLength: 9 }), fc.jsonValue())
  .map((value) => JSON.stringify(value));

test("readContracts() returns on any text, and drafts and issues add up", () => {
  fc.assert(
    fc.property(fc.oneof(anyFile, fc.string({ unit: "binary" })), (text) => {
      const read = readContracts(text.toWellFormed(), JUDGES);
      expect(read.subtasks.length === read.places.length).toBe(read.issues.length === 0 || read.places.length === 0);
      for (const { code, path, message } of read.issues) {
        expect(DELEGATION_ISSUE_CODES).toContain(code);
        expect(path === "" || path.startsWith("/")).toBe(true);
        expect(message).not.toBe("");
      }
    }),
  );
});

test("readContractBytes() returns on any bytes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (given) => {
      expect(readContractBytes(given, JUDGES).issues.length).toBeGreaterThan(0);
    }),
    { examples: [[bytes("{]")]] },
  );
});

const sound = fc.record(
  {
    goal: fc.string({ minLength: 1, unit: "grapheme" }).filter((goal) => !isBlank(goal)),
    context: fc
      .uniqueArray(fc.constantFrom("a.md", "src/b.ts", ".env", "é/x"), { maxLength: 4 })
      .map((list) => list.map((name) => ({ name, text: `text of ${name}` }))),
    acceptance: fc.array(fc.constantFrom("contains:x", "nonempty:a", "regex:[0-9]+", "diff_max_files:2")),
    thinking: fc.constantFrom("", "auto", "ON", " off "),
    max_steps: fc.integer(),
    timeout_sec: fc.integer(),
    write_root: fc.constantFrom("", ".", "./work/", "a\\b", "a/../b"),
    profile: fc.constantFrom("", "code"),
    output_schema: fc.constant<JsonObject>({
      required: ["b"],
      properties: { b: { type: "string" }, "10": {}, "9": {} },
    }),
  },
  { requiredKeys: ["goal"] },
);

test("a valid contract stays valid and the same when its canonical form is read again", () => {
  fc.assert(
    fc.property(sound, (value) => {
      const { contract } = only(value);
      const canonical = canonicalContract(contract);
      const again = only(canonical);
      expect(again.contract).toEqual(contract);
      expect(again.clamped).toEqual([]);
      expect(canonicalJson(canonicalContract(again.contract))).toBe(canonicalJson(canonical));
      expect(v.is(ContractFile, canonical)).toBe(true);
    }),
  );
});

test("the canonical form leaves out what is empty, and never depth", () => {
  expect(compactJson(canonicalContract(only({ goal: "x", context_paths: ["a"] }).contract))).toBe(
    '{"schema_version":1,"goal":"x","max_steps":12,"timeout_sec":300,"depth":0}',
  );
});

test("the published shape and the reader agree on types, but for the spelling of a number", () => {
  fc.assert(
    fc.property(loose, (value) => {
      const text = JSON.stringify({ ...value, goal: value.goal ?? "x", output_schema: undefined });
      // What prints with an exponent is an integer to JSON Schema and no integer literal.
      fc.pre(!/[0-9]e[+-]?[0-9]/.test(text));
      const folded = Object.entries(JSON.parse(text)).map(([key, member]) => [foldName(key), member]);
      const { issues = [] } = v.safeParse(ContractFields, Object.fromEntries(folded));
      const isOfType = !issues.some(({ kind, type }) => kind === "schema" || type === "integer");
      expect(told(text).some(([code]) => code === "type_mismatch")).toBe(!isOfType);
    }),
  );
});

test("trimBlank() takes what isBlank() calls blank, at both ends", () => {
  expect(trimBlank("\u0085\u3000 a b\t\u2028")).toBe("a b");
  expect(trimBlank("\ufeffa\ufeff")).toBe("\ufeffa\ufeff");
  expect(trimBlank(" \n ")).toBe("");
});
