import { describe, expect, test } from "bun:test";
import { onlyContract, shippedText } from "../support/shipped-contracts.ts";

const TEXT = { type: "string" };
const TEXTS = { type: "array", items: { type: "string" } };

type Template = {
  readonly file: string;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required: readonly string[];
  readonly acceptance: readonly string[];
  readonly max_steps: number;
  readonly timeout_sec: number;
  /** What the goal has to ask for, each by a word of it. */
  readonly asks: readonly string[];
};

const TEMPLATES: readonly Template[] = [
  {
    file: "templates/docs-drift-scan.json",
    properties: {
      claims_checked: { type: "integer" },
      drifted: TEXTS,
      verdict: { type: "string", enum: ["clean", "drift-found"] },
    },
    required: ["claims_checked", "drifted", "verdict"],
    acceptance: ["nonempty:verdict", "nonempty:claims_checked"],
    max_steps: 12,
    timeout_sec: 300,
    asks: [" -> ", "count every claim", "verdict", "tie to a line"],
  },
  {
    file: "templates/bench-log-digest.json",
    properties: { best_config: TEXT, best_value: { type: "number" }, regressions: TEXTS, summary: TEXT },
    required: ["best_config", "best_value", "summary"],
    acceptance: ["nonempty:best_config", "nonempty:summary", "regex:[0-9]"],
    max_steps: 10,
    timeout_sec: 300,
    asks: ["main metric", "regressions", "two sentences", "figures that stand in the log"],
  },
  {
    file: "templates/schema-extraction.json",
    properties: { keys: TEXTS, key_count: { type: "integer" } },
    required: ["keys", "key_count"],
    acceptance: ["min_items:keys:1", "nonempty:key_count"],
    max_steps: 8,
    timeout_sec: 240,
    asks: ["every configuration key", "exactly as the document writes it", "order", "headings"],
  },
  {
    file: "templates/research-digest.json",
    properties: { findings: TEXTS, open_questions: TEXTS, summary: TEXT },
    required: ["findings", "summary"],
    acceptance: ["min_items:findings:3", "nonempty:summary"],
    max_steps: 12,
    timeout_sec: 600,
    asks: ["at least three findings", "name of the file", "open_questions", "three sentences", "no document says"],
  },
];

describe.each([...TEMPLATES])("contracts/$file", ({ file, properties, required, asks, ...wanted }) => {
  const { contract, context_paths } = onlyContract(file);

  test("has the schema, the checks and the budgets of its row", () => {
    const { acceptance, max_steps, timeout_sec, profile, write_root } = contract;
    expect({ acceptance, max_steps, timeout_sec }).toEqual(wanted as never);
    expect(contract.output_schema as unknown).toEqual({ type: "object", properties, required });
    expect({ profile, write_root }).toEqual({ profile: "research", write_root: "" });
  });

  test("asks for what it is for", () => {
    expect(asks.filter((words) => !contract.goal.includes(words))).toEqual([]);
  });

  test("has placeholders where its documents are to be named, and nowhere else", () => {
    expect(context_paths.length).toBeGreaterThan(0);
    expect(context_paths.filter((path) => !path.startsWith("REPLACE/"))).toEqual([]);
    expect(shippedText(file).split("REPLACE").length - 1).toBe(context_paths.length);
  });
});

test("the goal of the bench log has no digit, so that repeating it does not pass", () => {
  expect(onlyContract("templates/bench-log-digest.json").contract.goal).not.toMatch(/[0-9]/);
});
