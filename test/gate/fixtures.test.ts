import { afterEach, describe, expect, test } from "bun:test";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fixtureWorld } from "../../src/cli/gate/fixture-world.ts";
import { renderSchemas } from "../../src/core/published-schemas.ts";
import { checkFixtures, planPins } from "../../src/gate/fixtures.ts";
import {
  changedSet,
  contractOf,
  type Files,
  manifestOf,
  PLAIN_FILE,
  pretty,
  SET_FILE,
  soundSet,
  withContract,
  writeSet,
} from "../support/fixture-set.ts";

const made: string[] = [];
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function folderOf(files: Files): string {
  const folder = writeSet(files);
  made.push(folder);
  return folder;
}

/** What the gate finds, as code, file and pointer. */
function found(files: Files): readonly string[] {
  return foundIn(folderOf(files));
}

function foundIn(folder: string): readonly string[] {
  const { verdict, findings } = checkFixtures(fixtureWorld(folder));
  expect(verdict).toBe(findings.length === 0 ? "PASS" : "FAIL");
  return findings.map(({ code, file, path }) => `${code} ${file} ${path}`.trimEnd());
}

const PLAIN = { goal: "Count the bays", acceptance: ["contains:bays", "min_items:bays:1"] };
const plain = (value: unknown) => ({ [PLAIN_FILE]: pretty(value) });
const set = (at: number, changes: Parameters<typeof withContract>[1]) => ({ [SET_FILE]: withContract(at, changes) });
test("checkFixtures() passes a sound set, and says what it read", () => {
  const { files, sets, ...report } = checkFixtures(fixtureWorld(folderOf(soundSet())));
  expect(report).toEqual({
    verdict: "PASS",
    files_read: 3,
    files_with_acceptance: 2,
    checks_read: 18,
    schemas_read: 0,
    findings: [],
    notes: [],
  });
  expect(files).toEqual([
    { file: SET_FILE, lists: 8, checks: 16 },
    { file: "templates/nodes.json", lists: 0, checks: 0 },
    { file: PLAIN_FILE, lists: 1, checks: 2 },
  ]);
  expect(sets.map(({ file, subtasks, ok }) => ({ file, subtasks, ok }))).toEqual([
    { file: SET_FILE, subtasks: 8, ok: true },
  ]);
});

const DEEP = { Acceptance: ["contains:done within 90 s"] };

describe("checkFixtures() finds", () => {
  test.each([
    {
      what: "a dropped key",
      files: changedSet(plain({ goal: "Count the bays" })),
      finds: [`nothing_checked ${PLAIN_FILE}`],
    },
    {
      what: "a list in another file than those that are listed",
      files: changedSet({ "templates/nodes.json": pretty(PLAIN) }),
      finds: ["not_listed templates/nodes.json"],
    },
    {
      what: "a listed file that is not there",
      files: changedSet({ [PLAIN_FILE]: null }),
      finds: ["missing_file manifest.json /files_with_acceptance/1"],
    },
    {
      what: "a file of another ending in capitals",
      files: changedSet({ "templates/more.JSON": pretty(PLAIN) }),
      finds: ["not_listed templates/more.JSON"],
    },
    {
      what: "a speed term three levels deep, under a key in another case",
      files: changedSet(plain({ ...PLAIN, steps: [{ inner: { deeper: DEEP } }] })),
      finds: [`speed_term ${PLAIN_FILE} /steps/0/inner/deeper/Acceptance/0`],
    },
    {
      what: "a speed term inside an output_schema",
      files: changedSet(plain({ ...PLAIN, output_schema: { properties: { x: DEEP } } })),
      finds: [`speed_term ${PLAIN_FILE} /output_schema/properties/x/Acceptance/0`],
    },
    {
      what: "a speed term whose key is spelled with escapes",
      files: changedSet({ [PLAIN_FILE]: '{"goal":"g","\\u0061cceptance":["contains:faster"]}\n' }),
      finds: [`speed_term ${PLAIN_FILE} /acceptance/0`],
    },
    {
      what: "a check that does not parse",
      files: changedSet(plain({ ...PLAIN, acceptance: ["contans:bays"] })),
      finds: [`does_not_parse ${PLAIN_FILE} /acceptance/0`],
    },
    {
      what: "a check that is no string",
      files: changedSet(plain({ ...PLAIN, acceptance: [3, "contains:bays"] })),
      finds: [`not_a_string ${PLAIN_FILE} /acceptance/0`],
    },
    {
      what: "a value that is no list",
      files: changedSet(plain({ ...PLAIN, acceptance: "contains:bays" })),
      finds: [
        `not_a_list ${PLAIN_FILE} /acceptance`,
        `walk_and_scan_differ ${PLAIN_FILE}`,
        `nothing_checked ${PLAIN_FILE}`,
      ],
    },
    {
      what: "a file that does not parse",
      files: changedSet({ [PLAIN_FILE]: '{"goal":"g","acceptance":["contains:x"],}\n' }),
      finds: [`not_json ${PLAIN_FILE}`, `walk_and_scan_differ ${PLAIN_FILE}`, `nothing_checked ${PLAIN_FILE}`],
    },
    {
      what: "a key that is given twice",
      files: changedSet({ "templates/nodes.json": '{"a":1,"a":2}\n' }),
      finds: ["not_json templates/nodes.json"],
    },
    {
      what: "nesting beyond 64 levels",
      files: changedSet({ "templates/nodes.json": `${"[".repeat(65)}${"]".repeat(65)}` }),
      finds: ["not_json templates/nodes.json"],
    },
    {
      what: "a carriage return",
      files: changedSet({ "templates/nodes.json": '{\r\n"a": 1}\r\n' }),
      finds: ["not_lf templates/nodes.json"],
    },
    {
      what: "a set in which nothing is checked",
      files: {
        "manifest.json": pretty({
          ...manifestOf({ sha256: "0".repeat(64) }),
          digest_sets: [],
          files_with_acceptance: [],
        }),
        "nodes.json": "{}\n",
      },
      finds: ["empty_set manifest.json"],
    },
    {
      what: "a digest set that is not there",
      files: changedSet({ [SET_FILE]: null }),
      finds: ["missing_file manifest.json /files_with_acceptance/0", "missing_file manifest.json /digest_sets/0/file"],
    },
    {
      what: "a wrong sum",
      files: changedSet(set(0, { goal: "Say what the page rules" }), false),
      finds: [`wrong_sum ${SET_FILE}`],
    },
    {
      what: "a set of seven",
      files: changedSet({ [SET_FILE]: pretty(Array.from({ length: 7 }, (_, at) => contractOf(at))) }),
      finds: [`not_a_set ${SET_FILE}`],
    },
    {
      what: "a renamed document",
      files: changedSet(set(2, { context: [{ name: "other.md", text: "bay QX-2 and key_2" }] })),
      finds: [`not_in_corpus ${SET_FILE} /2/context/0/name`],
    },
    {
      what: "a rewritten anchor",
      files: changedSet(set(3, { acceptance: ["nonempty:summary", "regex:(QX-3|key_9)"] })),
      finds: [`alternative_ungrounded ${SET_FILE} /3/acceptance/1`],
    },
    {
      what: "an anchor that the goal gives away",
      files: changedSet(set(3, { goal: "Say what QX-3 is" })),
      finds: [`alternative_in_goal ${SET_FILE} /3/acceptance/1`],
    },
    {
      what: "a check that matches nothing in its document",
      files: changedSet(set(4, { acceptance: ["contains:QX-9"] })),
      finds: [`ungrounded ${SET_FILE} /4/acceptance/0`],
    },
    {
      what: "a contract with no check",
      files: changedSet(set(5, { acceptance: [] })),
      finds: [`no_checks ${SET_FILE} /5`],
    },
    {
      what: "a contract without a schema",
      files: changedSet(set(5, { output_schema: null as never })),
      finds: [`bad_contract ${SET_FILE} /5/output_schema`],
    },
    {
      what: "a document too many",
      files: changedSet(set(6, { context: [...(contractOf(6).context as []), { name: "p0.md", text: "x" }] })),
      finds: [`document_count ${SET_FILE} /6/context`],
    },
    {
      what: "files to be read",
      files: changedSet(set(6, { context_paths: ["p0.md"] })),
      finds: [`document_count ${SET_FILE} /6/context_paths`],
    },
    {
      what: "a blank document",
      files: changedSet(set(7, { context: [{ name: "p7.md", text: " \n" }], acceptance: ["nonempty:summary"] })),
      finds: [`blank_document ${SET_FILE} /7/context/0/text`],
    },
    {
      what: "a blank goal",
      files: changedSet(set(7, { goal: " " })),
      finds: [`bad_contract ${SET_FILE} /7/goal`],
    },
  ])("$what", ({ files, finds }) => {
    expect(found(files)).toEqual(finds);
  });

  test("a contract that has no schema at all", () => {
    const { output_schema: _, ...bare } = contractOf(5);
    const all = Array.from({ length: 8 }, (_, at) => (at === 5 ? bare : contractOf(at)));
    expect(found(changedSet({ [SET_FILE]: pretty(all) }))).toEqual([`output_schema ${SET_FILE} /5`]);
  });

  test("a link, whatever it is called, and follows none", () => {
    const folder = folderOf(soundSet());
    symlinkSync(join(folder, PLAIN_FILE), join(folder, "link.json"));
    symlinkSync("/", join(folder, "everything"));
    expect(foundIn(folder)).toEqual(["link everything", "link link.json"]);
  });

  test("bytes that are no UTF-8", () => {
    const folder = folderOf(soundSet());
    writeFileSync(join(folder, "templates/nodes.json"), Buffer.from([0x22, 0xff, 0x22]));
    expect(foundIn(folder)).toEqual(["not_utf8 templates/nodes.json"]);
  });

  test("a schema that is not the one writ publishes, and walks it; the right one is neither walked nor scanned", () => {
    const manifest = { ...manifestOf({ sha256: "" }), schemas: ["schemas/contract.schema.json"] };
    const { sha256 } = checkFixtures(fixtureWorld(folderOf(soundSet()))).sets[0] ?? {};
    const files = (schema: string) => ({
      ...soundSet(),
      "manifest.json": pretty({
        ...manifest,
        digest_sets: [{ file: SET_FILE, docs_per_subtask: 1, sha256: sha256 ?? "" }],
      }),
      "schemas/contract.schema.json": schema,
    });
    const published = renderSchemas()["contract.schema.json"] ?? "";
    expect(found(files(published))).toEqual([]);
    expect(checkFixtures(fixtureWorld(folderOf(files(published)))).schemas_read).toBe(1);
    expect(found(files(published.replace("\n", "\n ")))).toEqual([
      "schema_stale schemas/contract.schema.json",
      "not_a_list schemas/contract.schema.json /$defs/contract/properties/acceptance",
      "walk_and_scan_differ schemas/contract.schema.json",
    ]);
  });
});

test("checkFixtures() takes the names of the manifest where there are no pages on disk, and the pages where there are", () => {
  const files = changedSet(set(2, { context: [{ name: "p9.md", text: "bay QX-2 and key_2" }] }));
  const manifest = JSON.parse(files["manifest.json"] ?? "{}") as { corpus: string[] };
  manifest.corpus.push("p9.md");
  const withName = { ...files, "manifest.json": pretty(manifest) };
  expect(found(withName)).toEqual([`not_in_corpus ${SET_FILE} /2/context/0/name`]);
  const withoutPages = Object.fromEntries(Object.entries(withName).filter(([path]) => !path.startsWith("pages/")));
  expect(found(withoutPages)).toEqual([]);
});

test("checkFixtures() notes a document that differs from its page, and passes", () => {
  const report = checkFixtures(fixtureWorld(folderOf({ ...soundSet(), "pages/p1.md": "rewritten" })));
  expect(report.verdict).toBe("PASS");
  expect(report.notes).toEqual([`stale: ${SET_FILE} /1/context/0: "p1.md" differs from the page of the corpus`]);
});

test.each([
  { what: "no manifest", text: null },
  { what: "text that is no JSON", text: "{" },
  { what: "an unknown key", text: pretty({ ...manifestOf({ sha256: "0".repeat(64) }), more: 1 }) },
  {
    what: "a path out of the set",
    text: pretty({ ...manifestOf({ sha256: "0".repeat(64) }), schemas: ["../x.json"] }),
  },
])("checkFixtures() has no verdict with $what", ({ text }) => {
  expect(() => checkFixtures(fixtureWorld(folderOf(changedSet({ "manifest.json": text }))))).toThrow(
    expect.objectContaining({ code: "manifest_unusable" }),
  );
});

describe("planPins()", () => {
  test("plans nothing for right sums, and another text for wrong ones, in which nothing else differs", () => {
    expect(planPins(fixtureWorld(folderOf(soundSet()))).changed).toBe(false);
    const files = changedSet(set(0, { goal: "Say what the page rules" }), false);
    const { lines, text, changed } = planPins(fixtureWorld(folderOf(files)));
    const [line] = lines;
    expect(changed).toBe(true);
    expect(lines.map(({ file }) => file)).toEqual([SET_FILE]);
    expect(text).toBe((files["manifest.json"] ?? "").replace(line?.old ?? "", line?.new ?? ""));
  });

  test("refuses while something else is wrong", () => {
    const folder = folderOf(changedSet(set(3, { goal: "Say what QX-3 is" }), false));
    expect(() => planPins(fixtureWorld(folder))).toThrow(
      expect.objectContaining({ code: "fixtures_wanting", details: { findings: [expect.anything()] } }),
    );
  });
});

test("a special file with the ending is a finding and is not opened", () => {
  const folder = folderOf(soundSet());
  mkdirSync(join(folder, "more"));
  expect(Bun.spawnSync(["mkfifo", join(folder, "more", "pipe.json")]).exitCode).toBe(0);
  expect(foundIn(folder)).toEqual(["not_a_file more/pipe.json"]);
});
