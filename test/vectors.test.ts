/** `npm run vectors` as a process: on the project's own copies, and on folders that must not pass. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { differences } from "../scripts/vectors/difference.ts";

const ROOT = join(import.meta.dir, "..");
const VECTORS = join(ROOT, "fixtures", "vectors");
const folders: string[] = [];

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

type Outcome = { readonly status: number; readonly stdout: string; readonly stderr: string };

function runVectors(...args: readonly string[]): Outcome {
  const env = { ...process.env, npm_lifecycle_event: "" };
  const child = Bun.spawnSync([process.execPath, join(ROOT, "scripts", "vectors.ts"), ...args], { env });
  return { status: child.exitCode, stdout: child.stdout.toString(), stderr: child.stderr.toString() };
}

/** A folder with the given files, each a text or a value to write as JSON. */
function folderOf(files: Readonly<Record<string, unknown>>): string {
  const folder = mkdtempSync(join(tmpdir(), "writ-vectors-"));
  folders.push(folder);
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(folder, name), typeof content === "string" ? content : JSON.stringify(content));
  }
  return folder;
}

const own = readdirSync(VECTORS)
  .sort()
  .map((file) => ({ file, cases: JSON.parse(readFileSync(join(VECTORS, file), "utf8")) as { id: string }[] }));
const redaction = own.find(({ file }) => file === "contract-record.json")?.cases[0];

test("the project's own vectors all hold, and each file says how many", () => {
  const { status, stdout } = runVectors();
  expect(stdout).toBe(own.map(({ file, cases }) => `${file}: ${cases.length} of ${cases.length}\n`).join(""));
  expect(own.length).toBeGreaterThanOrEqual(5);
  expect(status).toBe(0);
});

test("a folder with one right case ends in 0", () => {
  const outcome = runVectors(folderOf({ "one.json": [redaction] }));
  expect(outcome).toEqual({ status: 0, stdout: "one.json: 1 of 1\n", stderr: "" });
});

const WRONG = { ...redaction, expect: { text: "id AKIA" } };

test.each([
  { what: "a wrong expectation", content: [WRONG], stdout: 'text: expected "id AKIA", got "id [REDACTED] x"' },
  { what: "a key too many in the result", content: [{ ...redaction, expect: {} }], stdout: "text: expected nothing" },
  { what: "an area nobody knows", content: [{ ...redaction, area: "weather" }], stdout: 'no area "weather"' },
  {
    what: "an area named like a key of every object",
    content: [{ ...redaction, area: "constructor" }],
    stdout: "no area",
  },
  { what: "an operation nobody knows", content: [{ ...redaction, op: "guess" }], stdout: 'no operation "guess"' },
  { what: "no operation", content: [{ ...redaction, op: undefined }], stdout: 'no operation ""' },
  { what: "an input that the code cannot take", content: [{ ...redaction, input: null }], stdout: "threw TypeError" },
  { what: "a case without an expectation", content: [{ ...redaction, expect: undefined }], stdout: "(case 0)" },
  { what: "a case that is no object", content: [7], stdout: "(case 0)" },
  { what: "an id given twice", content: [redaction, redaction], stdout: "its id is given twice" },
  { what: "a file that is no array", content: { cases: [redaction] }, stdout: "it is no array of cases" },
  { what: "an empty array", content: [], stdout: "it holds no case" },
  { what: "a file that is no JSON", content: "[{", stdout: "it cannot be read as JSON" },
])("$what ends in 1 and is named", ({ content, stdout }) => {
  const outcome = runVectors(folderOf({ "case.json": content }));
  expect(outcome.stdout).toContain(stdout);
  expect(outcome.status).toBe(1);
});

test("one broken file spoils a folder whose other files hold", () => {
  const outcome = runVectors(folderOf({ "a.json": [redaction], "b.json": "" }));
  expect(outcome.stdout).toStartWith("a.json: 1 of 1\nb.json: 0 of 0\n  (file)\n");
  expect(outcome.status).toBe(1);
});

test.each([
  { what: "an empty folder", args: () => [folderOf({})] },
  { what: "a folder that is not there", args: () => [join(folderOf({}), "none")] },
  { what: "two folders", args: () => [folderOf({}), folderOf({})] },
  { what: "an unknown option", args: () => ["--all"] },
])("$what is a usage error: nothing measured is not passed", ({ args }) => {
  const outcome = runVectors(...args());
  expect(outcome.stdout).toBe("");
  expect(outcome.stderr).toContain("Usage: npm run vectors [-- DIR]");
  expect(outcome.status).toBe(2);
});

test.each([
  { rule: "the order of keys does not count", expected: { a: 1, b: 2 }, actual: { b: 2, a: 1 }, paths: [] },
  { rule: "the order of an array counts", expected: [1, 2], actual: [2, 1], paths: ["[0]", "[1]"] },
  { rule: "an entry too many counts", expected: [1], actual: [1, 2], paths: [""] },
  { rule: "null is not absent", expected: { a: null }, actual: {}, paths: ["a"] },
  { rule: "undefined is not absent", expected: {}, actual: { a: undefined }, paths: ["a"] },
  { rule: "an array is no object", expected: {}, actual: [], paths: [""] },
  { rule: "null is no object", expected: null, actual: {}, paths: [""] },
  { rule: "the path leads inside", expected: { a: [{ c: "x" }] }, actual: { a: [{ c: "y" }] }, paths: ["a[0].c"] },
  { rule: "a number is no text", expected: 1, actual: "1", paths: [""] },
  { rule: "a Map is no object", expected: {}, actual: new Map(), paths: [""] },
  { rule: "a bigint is no number", expected: 1, actual: 1n, paths: [""] },
  { rule: "a key may be __proto__", expected: JSON.parse('{"__proto__":1}'), actual: {}, paths: ["__proto__"] },
])("differences(): $rule", ({ expected, actual, paths }) => {
  const found: readonly string[] = differences(expected, actual).map(({ path }) => path);
  expect(found).toEqual([...paths]);
});
