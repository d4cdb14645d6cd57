import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { buildSets, readPages } from "../../scripts/digests.ts";
import { parseCheck } from "../../src/core/acceptance/parse.ts";
import { alternativesOf } from "../../src/core/delegation/alternatives.ts";
import { compilePattern } from "../../src/core/pattern/re2.ts";
import { readShipped } from "../support/shipped-contracts.ts";

const PAGES = readPages();

const SETS = [
  { file: "digests/digest-8.json", documents: 1, anchors: [0, 0], findings: 3, max_steps: 8, timeout_sec: 300 },
  {
    file: "digests/digest-8-grounded.json",
    documents: 1,
    anchors: [3, 5],
    findings: 3,
    max_steps: 8,
    timeout_sec: 300,
  },
  {
    file: "digests/digest-adr-hard-8.json",
    documents: 3,
    anchors: [3, 3],
    findings: 12,
    max_steps: 12,
    timeout_sec: 900,
  },
] as const;

/** The alternatives of the one pattern among the checks; none where there is no pattern. */
function anchorsOf(acceptance: readonly string[]): readonly string[] {
  const patterns = acceptance.flatMap((line) => {
    const parsed = parseCheck(line);
    return parsed.ok && parsed.check.verb === "regex" ? [parsed.check.arg] : [];
  });
  expect(patterns.length).toBeLessThan(2);
  return patterns.flatMap(alternativesOf);
}

function matches(pattern: string, text: string): boolean {
  const compiled = compilePattern(pattern);
  return compiled.ok && compiled.pattern.test(text);
}

test("the digest sets are what the pages give: else run bun scripts/digests.ts, then writ gate pin", () => {
  const script = join(import.meta.dir, "..", "..", "scripts", "digests.ts");
  const ran = Bun.spawnSync([process.execPath, script, "--check"]);
  expect({ exit: ran.exitCode, stderr: ran.stderr.toString() }).toEqual({ exit: 0, stderr: "" });
});

describe.each(SETS)(
  "contracts/$file",
  ({ file, documents, anchors: [fewest, most], findings, max_steps, timeout_sec }) => {
    const contracts = readShipped(file).subtasks.map(({ contract }) => contract);

    test("has eight contracts with the documents, the schema, the checks and the budgets of its row", () => {
      expect(contracts).toHaveLength(8);
      for (const contract of contracts) {
        expect(contract).toMatchObject({ max_steps, timeout_sec, profile: "research", write_root: "" });
        expect(contract.context).toHaveLength(documents);
        expect(contract.output_schema).toEqual({
          type: "object",
          properties: { findings: { type: "array", items: { type: "string" } }, summary: { type: "string" } },
          required: ["findings", "summary"],
        });
        expect(contract.acceptance.slice(0, 2)).toEqual([`min_items:findings:${findings}`, "nonempty:summary"]);
        expect(contract.acceptance).toHaveLength(most === 0 ? 2 : 3);
      }
    });

    test("has whole pages as documents, each of them named in its goal, and none twice", () => {
      const all = contracts.flatMap(({ context }) => context);
      expect(all.filter(({ name, text }) => PAGES.get(name) !== text).map(({ name }) => name)).toEqual([]);
      expect(new Set(all.map(({ name }) => name)).size).toBe(8 * documents);
      for (const { goal, context } of contracts) {
        expect(context.filter(({ name }) => !goal.includes(name))).toEqual([]);
      }
    });

    test("has anchors that stand in the documents and not in the goal", () => {
      for (const { goal, context, acceptance } of contracts) {
        const anchors = anchorsOf(acceptance);
        expect([anchors.length >= fewest, anchors.length <= most]).toEqual([true, true]);
        const texts = context.map(({ text }) => text);
        expect(anchors.filter((anchor) => !texts.some((text) => matches(anchor, text)))).toEqual([]);
        expect(anchors.filter((anchor) => matches(anchor, goal))).toEqual([]);
      }
    });
  },
);

test("the grounded set has the pages and the goals of the plain one", () => {
  const [plain, grounded] = ["digest-8", "digest-8-grounded"].map((name) =>
    readShipped(`digests/${name}.json`).subtasks.map(({ contract: { goal, context } }) => ({ goal, context })),
  );
  expect(grounded).toEqual(plain);
});

describe("contracts/digests/digest-adr-hard-8.json", () => {
  const contracts = readShipped("digests/digest-adr-hard-8.json").subtasks.map(({ contract }) => contract);

  test("has none of the pages of the other sets, and 6,000 characters of documents in each contract", () => {
    const names = (file: string) =>
      readShipped(file).subtasks.flatMap(({ contract }) => contract.context.map((one) => one.name));
    const others = new Set(names("digests/digest-8.json"));
    expect(names("digests/digest-adr-hard-8.json").filter((name) => others.has(name))).toEqual([]);
    const sizes = contracts.map(({ context }) => context.reduce((sum, { text }) => sum + text.length, 0));
    expect(sizes.filter((size) => size < 6000)).toEqual([]);
  });

  test("has one anchor for each document, which no other document of the contract has", () => {
    for (const { context, acceptance } of contracts) {
      const anchors = anchorsOf(acceptance);
      const owners = anchors.map((anchor) =>
        context.filter(({ text }) => matches(anchor, text)).map(({ name }) => name),
      );
      expect(owners).toEqual(context.map(({ name }) => [name]));
    }
  });
});

describe("buildSets() refuses to build", () => {
  const changed = (number: string, change: (text: string) => string) =>
    new Map([...PAGES].map(([name, text]) => [name, name.startsWith(number) ? change(text) : text]));

  test.each([
    {
      what: "an anchor that its page no longer has",
      pages: changed("0001-", (text) => text.replaceAll("PUBLISH_ROUNDS", "a bound")),
      says: 'anchor "PUBLISH_ROUNDS" is not in 0001-',
    },
    {
      what: "an anchor that another page of the contract has too",
      pages: changed("0002-", (text) => `${text}\nstandingChanges\n`),
      says: 'anchor "standingChanges" of 0008-',
    },
    {
      what: "a page with something that is shaped like a secret",
      pages: changed("0003-", (text) => `${text}\nghp_${"a".repeat(36)}\n`),
      says: "looks as if it held a secret",
    },
    {
      what: "pages that are too short together",
      pages: changed("0029-", () => "parseArguments\n"),
      says: "fewer than 6000",
    },
    {
      what: "a blank page, of which the fixture gate tells",
      pages: changed("0001-", () => " \n"),
      says: "blank_document",
    },
  ])("$what", ({ pages, says }) => {
    expect(() => buildSets(pages)).toThrow(says);
  });

  test("a page that is not there", () => {
    const pages = new Map([...PAGES].filter(([name]) => !name.startsWith("0001-")));
    expect(() => buildSets(pages)).toThrow("There is no decision page 1");
  });
});
