import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseCheck } from "../../src/core/acceptance/parse.ts";
import { lintContract } from "../../src/core/delegation/lint.ts";
import { readManifest } from "../../src/core/delegation/manifest.ts";
import { speedTerm } from "../../src/core/delegation/speed.ts";
import { parseJson } from "../../src/core/json/parse.ts";
import { grammarOf } from "../../src/core/schema/grammar.ts";
import { lintSchema } from "../../src/core/schema/lint.ts";
import { CONTRACTS, contractFiles, readShipped, shippedFiles, shippedText } from "../support/shipped-contracts.ts";

const ROOT = join(CONTRACTS, "..");

/** What lint has to say of each contract of a file, in the order of the list. */
const LINT: Readonly<Record<string, readonly string[]>> = {
  "digests/digest-8.json": ["SHAPE-ONLY"],
  "digests/digest-8-grounded.json": [],
  "digests/digest-adr-hard-8.json": [],
  "templates/bench-log-digest.json": [],
  "templates/docs-drift-scan.json": ["SHAPE-ONLY"],
  "templates/research-digest.json": ["SHAPE-ONLY"],
  "templates/schema-extraction.json": ["SHAPE-ONLY"],
};

describe("what lies below contracts/", () => {
  test("is four templates, two write-door sets of four legs, three digest sets", () => {
    const contracts = contractFiles();
    const below = (folder: string) => contracts.filter((path) => path.startsWith(`${folder}/`)).length;
    expect(["templates", "write-door", "write-door-go", "digests"].map(below)).toEqual([4, 4, 4, 3]);
  });

  test("has LF line ends, UTF-8 without a mark of byte order, and a newline at each file's end", () => {
    const faults = shippedFiles().filter((path) => {
      const bytes = readFileSync(join(CONTRACTS, path));
      const text = bytes.toString("utf8");
      return (
        text.includes("\r") || text.startsWith("\ufeff") || !text.endsWith("\n") || !Buffer.from(text).equals(bytes)
      );
    });
    expect(faults).toEqual([]);
  });

  test("is kept with LF line ends by .gitattributes", () => {
    expect(readFileSync(join(ROOT, ".gitattributes"), "utf8").split("\n")).toContain("/contracts/** text eol=lf");
  });

  test("uses not_contains: nowhere", () => {
    expect(contractFiles().filter((path) => shippedText(path).includes("not_contains:"))).toEqual([]);
  });

  test("is strict JSON wherever it ends in .json, indented by two blanks a level", () => {
    for (const path of shippedFiles().filter((name) => name.endsWith(".json"))) {
      const text = shippedText(path);
      expect({ path, ok: parseJson(text).ok, indented: /^[{[]\n {2}\S/.test(text) }).toEqual({
        path,
        ok: true,
        indented: true,
      });
    }
  });
});

describe.each(contractFiles())("contracts/%s", (path) => {
  const { issues, subtasks } = readShipped(path);

  test("reads without an issue, and nothing in it is unknown or over a limit", () => {
    expect(issues).toEqual([]);
    expect(subtasks.length).toBe(path.startsWith("digests/") ? 8 : 1);
    expect(subtasks.flatMap(({ unknown, clamped }) => [...unknown, ...clamped])).toEqual([]);
  });

  test("has checks that parse, and none that quotes a speed", () => {
    const checks = subtasks.flatMap(({ contract }) => contract.acceptance);
    expect(checks.length).toBeGreaterThan(0);
    expect(checks.filter((line) => !parseCheck(line).ok || speedTerm(line) !== null)).toEqual([]);
  });

  test("has a schema that compiles, whose required fields are declared", () => {
    for (const { contract } of subtasks) {
      const schema = contract.output_schema ?? {};
      expect(lintSchema(schema)).toEqual([]);
      expect(grammarOf(schema)).toStartWith("root ::= ");
      const declared = Object.keys(schema.properties as object);
      expect(declared).toEqual(expect.arrayContaining([...(schema.required as readonly string[])]));
    }
  });

  test("gets from lint what its table says", () => {
    const wanted = LINT[path] ?? ["SHAPE-ONLY"];
    for (const { contract, isComplete } of subtasks) {
      const warnings = lintContract(contract, { documents: isComplete ? "all" : "some" });
      expect<readonly string[]>(warnings.map(({ code }) => code)).toEqual(wanted);
    }
  });
});

describe("contracts/manifest.json", () => {
  const read = readManifest(shippedText("manifest.json"));
  const manifest = read.ok ? read.manifest : null;

  test("reads strictly", () => {
    expect(read.ok ? [] : read.problems).toEqual([]);
  });

  test("lists the files with contracts, the schemas, and the pages of the corpus", async () => {
    const { readPages } = await import("../../scripts/digests.ts");
    expect(manifest?.files_with_acceptance.toSorted()).toEqual([...contractFiles()]);
    expect(manifest?.schemas.toSorted()).toEqual(shippedFiles().filter((path) => path.startsWith("schemas/")));
    expect(manifest?.corpus_dir).toBe("../docs/decisions");
    expect(manifest?.corpus).toEqual([...readPages().keys()]);
  });

  test("pins the sets as they are: else run writ gate pin", () => {
    const sums = manifest?.digest_sets.map(({ file, sha256 }) => [file, sha256]);
    const present = manifest?.digest_sets.map(({ file }) => [
      file,
      new Bun.CryptoHasher("sha256").update(readFileSync(join(CONTRACTS, file))).digest("hex"),
    ]);
    expect(sums).toEqual(present);
    expect(manifest?.digest_sets.map(({ docs_per_subtask }) => docs_per_subtask)).toEqual([1, 1, 3]);
  });
});
