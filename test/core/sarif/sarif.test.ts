import { describe, expect, test } from "bun:test";
import { sarifLog } from "../../../src/core/sarif/sarif.ts";

type Log = {
  readonly runs: readonly {
    readonly originalUriBaseIds?: { readonly ROOT: { readonly uri: string } };
    readonly results: readonly {
      readonly locations: readonly { readonly physicalLocation: { readonly artifactLocation: object } }[];
    }[];
  }[];
};

describe("a SARIF log names the judged file", () => {
  test.each([
    { file: "docs/a plan.md", root: "/work/tree", uri: "docs/a%20plan.md", base: "file:///work/tree/" },
    { file: "plan.md", root: "C:/work/a b", uri: "plan.md", base: "file:///C:/work/a%20b/" },
    { file: "/work/a plan.md", root: null, uri: "file:///work/a%20plan.md", base: null },
    { file: "C:/work/plan.md", root: null, uri: "file:///C:/work/plan.md", base: null },
    { file: "what:is/plan.md", root: null, uri: "what%3Ais/plan.md", base: null },
  ])("$file of $root as $uri", ({ file, root, uri, base }) => {
    const rules = [{ id: "r", text: "a rule" }];
    const results = [
      { rule: "r", level: "error", message: "m", line: 1, column: null },
      { rule: "r", level: "error", message: "m", line: 0, column: null },
    ] as const;
    const { runs } = sarifLog({ version: "1.0.0", rules, results, file, root }) as unknown as Log;
    expect(runs[0]?.originalUriBaseIds?.ROOT.uri ?? null).toBe(base);
    const artifactLocation = root === null ? { uri } : { uri, uriBaseId: "ROOT" };
    expect(runs[0]?.results.map(({ locations }) => locations)).toEqual([
      [{ physicalLocation: { artifactLocation, region: { startLine: 1 } } }] as never,
      [{ physicalLocation: { artifactLocation } }] as never,
    ]);
  });
});
