import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseCheck } from "../../../src/core/acceptance/parse.ts";
import { readContracts } from "../../../src/core/delegation/contract.ts";
import { contractDigest } from "../../../src/core/delegation/contract-digest.ts";
import { docAnchorOf } from "../../../src/core/delegation/docanchor.ts";
import { JUDGES } from "../../../src/core/delegation/judges.ts";
import { readLegs } from "../../../src/core/delegation/legs.ts";
import { STOP_WORDS } from "../../../src/core/delegation/stop-words.ts";
import { contractOf, legsOf, sha256 } from "../../support/legs.ts";

const file = (name: string, value: unknown) => ({ name, read: readContracts(JSON.stringify(value), JUDGES) });
const OPTIONS = { fingerprint: false, sha256 };

describe("readLegs()", () => {
  test("keeps the order of each file, then of the files", () => {
    const read = readLegs([file("a.json", [{ goal: "1" }, { goal: "2" }]), file("b.json", { goal: "3" })], OPTIONS);
    if (!read.ok) throw new Error("refused");
    expect(read.legs.map(({ index, file, path, contract }) => [index, file, path, contract.goal])).toEqual([
      [0, "a.json", "/0", "1"],
      [1, "a.json", "/1", "2"],
      [2, "b.json", "", "3"],
    ]);
  });

  test("tells every issue of every file, each with its file", () => {
    const read = readLegs(
      [file("a.json", [{ goal: "" }, { goal: "x" }]), file("b.json", { goal: "x", acceptance: ["no:x"] })],
      OPTIONS,
    );
    expect(read.ok ? [] : read.issues.map(({ file, path, code }) => [file, path, code])).toEqual([
      ["a.json", "/0/goal", "goal_required"],
      ["b.json", "/acceptance/0", "acceptance"],
    ]);
    const single = readLegs([file("a.json", { goal: "" })], OPTIONS);
    expect(single.ok ? null : single.issues[0]).not.toHaveProperty("file");
  });

  test("carries what intake warns of", () => {
    const [leg] = legsOf([{ acceptance: ["nonempty:x"] }]);
    expect(leg?.acceptance_lint[0]).toStartWith("SHAPE-ONLY: ");
  });

  test("has the same warnings without any text of the contract", () => {
    const acceptance = ["contains:tangerine", "contains:@field=kumquat:x"];
    const [leg] = legsOf([{ context: [{ name: "d.md", text: "persimmon QX-9" }], acceptance }]);
    expect(leg?.notices.map((line) => line.split(": ")[0])).toEqual([
      "UNGROUNDED [/acceptance/0]",
      "AUTHORITY-UNREACHABLE [/acceptance/1]",
    ]);
    expect(leg?.acceptance_lint).toHaveLength(2);
    expect(leg?.notices.join("\n")).not.toMatch(/tangerine|kumquat|persimmon|QX-9/);
  });

  test("warns once of what looks like a key", () => {
    const key = `ghp_${"a1".repeat(20)}`;
    const [leg] = legsOf([{ goal: `use ${key}`, context: [{ name: "a", text: key }], acceptance: ["contains:x"] }]);
    const warnings = leg?.acceptance_lint.filter((line) => line.startsWith("SECRET-SHAPED: ")) ?? [];
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).not.toContain(key);
  });

  test.each<[string, object]>([
    ["a goal", { goal: `use AKIA${"A1".repeat(8)}` }],
    ["a document", { context: [{ name: "a", text: `AKIA${"A1".repeat(8)}` }] }],
    ["a check", { acceptance: [`contains:AKIA${"A1".repeat(8)}`] }],
    ["a schema", { output_schema: { properties: { a: { description: `AKIA${"A1".repeat(8)}` } } } }],
  ])("warns of a key in %s", (_, contract) => {
    const [leg] = legsOf([{ goal: "x", ...contract }]);
    expect(leg?.acceptance_lint.filter((line) => line.startsWith("SECRET-SHAPED: "))).toHaveLength(1);
  });
});

describe("contractDigest()", () => {
  test("is of the canonical JSON: the same for another spelling, another for another contract", () => {
    const one = contractOf({ output_schema: { type: "object", properties: { b: {}, a: {} } } });
    const other = contractOf({ output_schema: { properties: { a: {}, b: {} }, type: "object" }, max_steps: 0 });
    expect(contractDigest(one, sha256)).toBe(contractDigest(other, sha256));
    expect(contractDigest(one, sha256)).not.toBe(contractDigest(contractOf({ goal: "other" }), sha256));
  });

  test("is of these very bytes", () => {
    const text = '{"depth":0,"goal":"how many pallets?","max_steps":12,"schema_version":1,"timeout_sec":300}';
    expect(contractDigest(contractOf(), sha256)).toBe(sha256(text));
  });
});

const PROSE = `# Warehouse inventory report

The forklift carried seventeen pallets from Rotterdam to the quayside warehouse.
Forklift drivers weigh pallets twice, because the weighbridge drifts in winter.
short line

\`\`\`
const forkliftCount = weighbridge.total(); // uncommonword uncommonword here again now
\`\`\`
`;

describe("docAnchorOf()", () => {
  const wordsOf = (goal: string, text = PROSE) => {
    const anchor = docAnchorOf(goal, [{ name: "d.md", text }]);
    return anchor.ok ? (/\(\?P<docanchor>(.*)\)$/.exec(anchor.check)?.[1]?.split("|") ?? []) : anchor.found;
  };

  test("takes the words of prose and headings, most frequent first, then in the order of the text", () => {
    expect(wordsOf("count")).toEqual([
      "warehouse",
      "forklift",
      "pallets",
      "inventory",
      "carried",
      "seventeen",
      "rotterdam",
      "quayside",
      "drivers",
      "weighbridge",
      "drifts",
      "winter",
    ]);
  });

  test("leaves out what the goal says, and is a fingerprint that parses", () => {
    expect(wordsOf("How many PALLETS in the Warehouse?")).not.toContain("pallets");
    const [leg] = legsOf([{ context: [{ name: "d.md", text: PROSE }], acceptance: ["contains:17"] }], true);
    const added = parseCheck(leg?.contract.acceptance.at(-1) ?? "");
    expect(added.ok && added.check.verb === "regex" && added.check.pattern.groupNames).toEqual(["docanchor"]);
    expect(added.ok && added.check.verb === "regex" && added.check.pattern.test("The FORKLIFT stood there")).toBe(true);
  });

  test.each<[string, string]>([
    ["short", "plane"],
    ["with a digit", "gpt4turbo"],
    ["an identifier", "max_steps"],
    ["with a capital inside", "camelCase"],
    ["a path", "docs/manual"],
    ["with letters beyond ASCII", "überholen"],
    ["one of any text", "because"],
  ])("takes no word that is %s", (_, word) => {
    const text = `One two three four five ${word} ${word} alphabetic zebra.`;
    expect(
      wordsOf("x", `${text}\nsixteen warehouse forklift pallets winter drivers quayside stand here`),
    ).not.toContain(word.toLowerCase());
  });

  test("makes no check of fewer than six words", () => {
    expect(wordsOf("x", "the warehouse forklift pallets winter drivers are here")).toBe(5);
    expect(wordsOf("x", "the warehouse forklift pallets winter drivers quayside are here")).toHaveLength(6);
  });

  test("takes at most 24 words", () => {
    const letters = "abcdefghijklmnopqrstuvwxyz";
    const text = Array.from({ length: 26 }, (_, at) => `warehou${letters[at]}`).join(" ");
    expect(wordsOf("x", text)).toHaveLength(24);
  });

  test("the list of words of any text has 300, none too short to count", () => {
    expect(STOP_WORDS.size).toBe(300);
    for (const word of STOP_WORDS) expect(word).toMatch(/^[a-z]{6,}$/);
  });

  test("whatever the documents, its check parses and stands in them", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 50 }),
        fc.array(fc.string({ maxLength: 400 })),
        (goal, texts) => {
          const anchor = docAnchorOf(
            goal,
            texts.map((text, at) => ({ name: `${at}`, text })),
          );
          if (anchor.ok) expect(parseCheck(anchor.check).ok).toBe(true);
        },
      ),
    );
  });
});

describe("--fingerprint", () => {
  test("adds one check a leg with documents, and warns where there is none to add", () => {
    const legs = legsOf(
      [{ context: [{ name: "d.md", text: PROSE }] }, {}, { context: [{ name: "d.md", text: "short" }] }],
      true,
    );
    expect(legs.map(({ contract }) => contract.acceptance.length)).toEqual([1, 0, 0]);
    expect(
      legs.map(({ acceptance_lint }) => acceptance_lint.filter((line) => line.startsWith("FINGERPRINT")).length),
    ).toEqual([0, 0, 1]);
    expect(legs[0]?.contract_sha256).not.toBe(
      legsOf([{ context: [{ name: "d.md", text: PROSE }] }])[0]?.contract_sha256,
    );
  });

  test("does not go beyond the number of checks that a contract may have", () => {
    const acceptance = Array.from({ length: 64 }, (_, at) => `contains:${at}`);
    const [leg] = legsOf([{ context: [{ name: "d.md", text: PROSE }], acceptance }], true);
    expect(leg?.contract.acceptance).toHaveLength(64);
    expect(leg?.acceptance_lint.at(-1)).toContain("as many checks as it may have");
  });
});
