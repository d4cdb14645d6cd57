import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { fitResult } from "../../../src/core/delegation/fit-result.ts";
import { utf8Length } from "../../../src/core/utf8.ts";

const RUN = "run-0123456789abcdef01234567";

function documentOf(...legs: readonly object[]): string {
  const results = legs.map((leg, index) => ({ index, status: "succeeded", ...leg }));
  return JSON.stringify({ schema_version: 1, run_id: RUN, summary: { succeeded: legs.length }, results, wall_ms: 7 });
}

const fit = (text: string, most: number) => JSON.parse(fitResult(text, RUN, most)) as { results: readonly object[] };

describe("fitResult()", () => {
  test("leaves what fits as it is, to the byte", () => {
    const text = documentOf({ output: "ä".repeat(100) });
    expect(fitResult(text, RUN, utf8Length(text))).toBe(text);
    expect(fitResult(text, RUN, utf8Length(text) - 1)).not.toBe(text);
  });

  test("takes out outputs and diffs, the largest first, and says how to fetch each", () => {
    const text = documentOf({ output: "a".repeat(3000), diff: "d".repeat(9000) }, { output: "é".repeat(3000) });
    const { results } = fit(text, 8000);
    expect(results).toEqual([
      {
        index: 0,
        status: "succeeded",
        output: "a".repeat(3000),
        diff_ref: { truncated: true, bytes: 9000, fetch: { run_id: RUN, index: 0, field: "diff" } },
      },
      {
        index: 1,
        status: "succeeded",
        output_ref: { truncated: true, bytes: 6000, fetch: { run_id: RUN, index: 1, field: "output" } },
      },
    ]);
  });

  test("takes out what else is large only where that is not enough, and never what is smaller than its mark", () => {
    const structured = { list: Array.from({ length: 500 }, (_, at) => at) };
    const trace = [{ step: 1 }];
    const { results } = fit(documentOf({ output: "short", structured, trace }), 600);
    expect(results).toEqual([
      {
        index: 0,
        status: "succeeded",
        output: "short",
        structured_ref: {
          truncated: true,
          bytes: JSON.stringify(structured).length,
          fetch: { run_id: RUN, index: 0, field: "structured" },
        },
        trace,
      },
    ]);
  });

  test("does the same with a leg alone, and keeps numbers as they are spelled", () => {
    const leg = `{"index":3,"structured":{"n":1.50,"big":9007199254740993},"output":"${"x".repeat(500)}"}`;
    expect(fitResult(leg, RUN, 300)).toBe(
      `{"index":3,"structured":{"n":1.50,"big":9007199254740993},"output_ref":{"truncated":true,"bytes":500,"fetch":{"run_id":"${RUN}","index":3,"field":"output"}}}`,
    );
  });

  test("fits whatever the legs say, or has nothing left to take out", () => {
    const leg = fc.record({ output: fc.string({ maxLength: 2000 }), diff: fc.string({ maxLength: 2000 }) });
    fc.assert(
      fc.property(
        fc.array(leg, { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 100, max: 20_000 }),
        (legs, most) => {
          const text = documentOf(...legs);
          const fitted = fitResult(text, RUN, most);
          const left = JSON.parse(fitted) as { results: readonly { output?: string; diff?: string }[] };
          const isBare = left.results.every(({ output = "", diff = "" }) => output.length + diff.length < 400);
          expect(utf8Length(fitted) <= most || isBare).toBeTrue();
          expect(utf8Length(fitted)).toBeLessThanOrEqual(utf8Length(text));
        },
      ),
    );
  });
});
