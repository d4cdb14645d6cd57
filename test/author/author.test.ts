import { describe, expect, test } from "bun:test";
import { type GradeWorld, gradeSaved } from "../../src/author/grade.ts";
import { lintFiles } from "../../src/author/lint.ts";
import { readContractFile } from "../../src/author/read.ts";
import { getTemplate, listTemplates } from "../../src/author/template.ts";
import { contractDigest } from "../../src/core/delegation/contract-digest.ts";
import type { DocumentReader } from "../../src/core/delegation/document.ts";
import { doneResult } from "../support/wire-result.ts";

const sha256 = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex");

/** Files by name; a name that is missing does not open. */
function world(files: Readonly<Record<string, unknown>>, readDocuments: DocumentReader | null = null): GradeWorld {
  const textOf = (name: string) => JSON.stringify(files[name]);
  return {
    read: (name) =>
      Object.hasOwn(files, name)
        ? { ok: true, bytes: new TextEncoder().encode(textOf(name)) }
        : { ok: false, issue: { code: "file_unreadable", path: "", message: `no ${name}`, hint: null } },
    readResult: async (name) => textOf(name),
    readDocuments,
    sha256,
  };
}

const WITH_PATHS = { goal: "g", context_paths: ["a.md"], acceptance: ["contains:@grounded:412"] };
const reader: DocumentReader = () => ({
  documents: [{ index: 0, document: { name: "a.md", text: "412" } }],
  faults: [],
});

describe("lintFiles()", () => {
  test("tells the states of files apart", () => {
    const files = { sound: { goal: "g" }, unread: [], invalid: [{ goal: "g" }, { goal: "" }] };
    const names = ["sound", "none", "unread", "invalid"];
    expect(
      lintFiles(world(files), names).map(({ state, subtasks, issues }) => [state, subtasks.length, issues.length]),
    ).toEqual([
      ["valid", 1, 0],
      ["unopened", 0, 1],
      ["unread", 0, 1],
      ["invalid", 2, 0],
    ]);
  });

  test("names the file of an issue where several were named", () => {
    const files = { a: { goal: "" } };
    expect(lintFiles(world(files), ["a"])[0]?.subtasks[0]?.issues[0]).not.toHaveProperty("file");
    expect(lintFiles(world(files), ["a", "b"])[0]?.subtasks[0]?.issues[0]).toMatchObject({ file: "a" });
  });

  test("judges grounded checks where documents were read, and not where they were not", () => {
    const codes = (readDocuments: DocumentReader | null, acceptance: readonly string[]) =>
      lintFiles(world({ a: { ...WITH_PATHS, acceptance } }, readDocuments), ["a"])[0]?.subtasks[0]?.warnings.map(
        ({ code }) => code,
      );
    expect(codes(null, ["contains:@grounded:7"])).toEqual([]);
    expect(codes(reader, ["contains:@grounded:7"])).toEqual(["UNGROUNDED"]);
    expect(codes(reader, ["contains:@grounded:412"])).toEqual([]);
  });
});

describe("gradeSaved()", () => {
  const request = { file: "a", result: "r", index: null };

  test("grades each subtask, and one without an answer as not measured", async () => {
    const files = { a: [WITH_PATHS, WITH_PATHS], r: { results: [{ index: 1, output: "412" }] } };
    const grades = await gradeSaved(world(files, reader), request);
    expect(grades.map(({ index, verdict, notes }) => ({ index, verdict, notes }))).toEqual([
      { index: 0, verdict: "fail", notes: ["there is no answer to this subtask in the result"] },
      { index: 1, verdict: "pass", notes: [] },
    ]);
  });

  test("takes a single element of a result document by its index", async () => {
    const files = { a: [WITH_PATHS, WITH_PATHS], r: { index: 1, output: "412" } };
    const only = await gradeSaved(world(files, reader), { ...request, index: 1 });
    expect(only.map(({ index, verdict }) => [index, verdict])).toEqual([[1, "pass"]]);
    expect(gradeSaved(world(files, reader), { ...request, index: 0 })).rejects.toMatchObject({ code: "no_pair" });
  });

  test("gives a job's result to the subtask whose digest it names, and says so where it names no other's", async () => {
    const subtasks = [1, 2, 3].map((n) => ({ ...WITH_PATHS, goal: `g${n}` }));
    const [, , third] = readContractFile(world({ a: subtasks }, reader), "a").subtasks;
    if (third === undefined) throw new Error("there are three");
    const wire = (contract_sha256: string) => doneResult({ job_id: "wrt-1", contract_sha256 }, { output: "412" });
    const gradesOf = async (contract_sha256: string, index: number | null = null) => {
      const grades = await gradeSaved(world({ a: subtasks, r: wire(contract_sha256) }, reader), { ...request, index });
      return grades.map((grade) => [grade.index, grade.verdict, grade.notes.length]);
    };
    const digest = contractDigest(third.contract, sha256);
    expect(await gradesOf(digest)).toEqual([[2, "pass", 0]]);
    expect(await gradesOf(digest, 1)).toEqual([[1, "pass", 1]]);
    expect(await gradesOf("other", 1)).toEqual([[1, "pass", 1]]);
    expect(gradesOf("other")).rejects.toMatchObject({ code: "no_pair" });
  });
});

describe("templates", () => {
  const templates = new Map([
    ["docs-drift-scan", JSON.stringify({ goal: "Hold it. Then more.", context_paths: ["REPLACE/a.md", "b.md"] })],
    ["research-digest", JSON.stringify({ goal: "No full stop", acceptance: ["contains:x"] })],
  ]);

  test("listTemplates() has their first sentence, their lint and their placeholders", () => {
    expect(listTemplates(templates).map(({ text: _, ...rest }) => rest)).toEqual([
      {
        name: "docs-drift-scan",
        summary: "Hold it.",
        lint: ["SHAPE-ONLY"],
        placeholders: [{ path: "/context_paths/0", value: "REPLACE/a.md" }],
      },
      { name: "research-digest", summary: "No full stop", lint: ["UNGROUNDED"], placeholders: [] },
    ]);
  });

  test("getTemplate() takes the name with its ending too", () => {
    expect(getTemplate(templates, "research-digest.json").name).toBe("research-digest");
    expect(() => getTemplate(templates, "drift")).toThrow(
      expect.objectContaining({ code: "template_unknown", hint: 'Did you mean "docs-drift-scan"?' }),
    );
  });
});
