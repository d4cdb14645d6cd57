import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { run as runBrief } from "../scripts/vectors/brief.ts";
import { run as runPlan } from "../scripts/vectors/brief-plan.ts";
import { run as runTracker } from "../scripts/vectors/brief-tracker.ts";
import { differences } from "../scripts/vectors/difference.ts";

type Vector = { readonly id: string; readonly input: unknown; readonly expect: unknown };

const ROOMS = [
  { room: "brief", run: runBrief, files: ["parse", "ledger", "process", "restore"], count: 171 },
  { room: "plan", run: runPlan, files: ["plan-check", "repair"], count: 111 },
  { room: "tracker", run: runTracker, files: ["format", "phase", "plan"], count: 165 },
];

for (const { room, run, files, count } of ROOMS) {
  const cases = files.flatMap(
    (file) =>
      JSON.parse(
        readFileSync(join(import.meta.dir, "..", "fixtures", "vectors", `brief-${file}.json`), "utf8"),
      ) as Vector[],
  );

  test(`the vectors of room ${room} are all there`, () => {
    expect(cases).toHaveLength(count);
  });

  test.each(cases)("vector $id", ({ input, expect: expected }) => {
    expect(differences(expected, run("", input))).toEqual([]);
  });

  test(`room ${room} answers undefined for an operation that it has not`, () => {
    expect(run("guess", {})).toBeUndefined();
  });
}
