import { expect, test } from "bun:test";
import { type IntentRow, jobsOfLeg, renderIntent } from "../../../src/core/node/intents.ts";

const job = (digit: string) => `wrt-${digit.repeat(24)}`;
const run = `run-${"a".repeat(24)}`;
const tried = (digit: string, of: { readonly run?: string; readonly leg?: number }): IntentRow => ({
  e: "try",
  job: job(digit),
  url: "http://n:1",
  node: "",
  sha: "0".repeat(64),
  goal120: "g",
  unix: 1,
  pid: 1,
  pid_start: "1",
  ...of,
});

test("the jobs of a leg are those of its rows, in their order, each with what closed it", () => {
  const rows: IntentRow[] = [
    tried("1", { run, leg: 0 }),
    tried("2", { run, leg: 1 }),
    tried("3", { run: `run-${"b".repeat(24)}`, leg: 0 }),
    tried("4", {}),
    { e: "open", job: job("1") },
    { e: "close", job: job("2"), note: "kept" },
    { e: "close", job: job("1"), note: "silent" },
    tried("5", { run, leg: 0 }),
  ];
  const texts = [rows.slice(0, 3), rows.slice(3)].map((part) => part.map(renderIntent).join(""));
  expect(jobsOfLeg([...texts, "{no row\n"], run, 0)).toEqual([
    { job: job("1"), closed: "silent" },
    { job: job("5"), closed: null },
  ]);
  expect(jobsOfLeg(texts, run, 1)).toEqual([{ job: job("2"), closed: "kept" }]);
  expect(jobsOfLeg(texts, run, 2)).toEqual([]);
});
