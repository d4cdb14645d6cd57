import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { readConfig } from "../../src/core/config/read.ts";
import { readContracts } from "../../src/core/delegation/contract.ts";
import { JUDGES } from "../../src/core/delegation/judges.ts";
import { renderSchemas } from "../../src/core/published-schemas.ts";
import { readScript } from "../../src/core/scripted/read-script.ts";

const ROOT = join(import.meta.dir, "..", "..");
const CONTRACTS = join(ROOT, "contracts");

describe("the published schemas", () => {
  test("are what the readers' schemas say: else run bun scripts/schemas.ts", () => {
    const ran = Bun.spawnSync([process.execPath, join(ROOT, "scripts", "schemas.ts"), "--check"]);
    expect({ exit: ran.exitCode, stderr: ran.stderr.toString() }).toEqual({ exit: 0, stderr: "" });
  });

  test.each(Object.entries(renderSchemas()))("%s is a schema that another validator takes", (_, text) => {
    const ajv = new Ajv2020({ strict: false });
    expect(ajv.validateSchema(JSON.parse(text))).toBe(true);
  });

  test.each([
    { contract: { goal: "x" }, valid: true },
    { contract: { goal: "x", future: 1, context: null, max_steps: 100 }, valid: true },
    { contract: [{ goal: "x", context: [{ name: "a", text: "t" }] }], valid: true },
    { contract: {}, valid: false },
    { contract: [], valid: false },
    { contract: Array(9).fill({ goal: "x" }), valid: false },
    { contract: { goal: "x", acceptance: "contains:x" }, valid: false },
    { contract: { goal: "x", output_schema: null }, valid: false },
    { contract: { goal: "x", context: [3] }, valid: false },
    { contract: { goal: "x", timeout_sec: 1.5 }, valid: false },
  ])("the schema of contracts and the reader say the same of $contract: $valid", ({ contract, valid }) => {
    const validate = new Ajv2020({ strict: false }).compile(JSON.parse(renderSchemas()["contract.schema.json"] ?? ""));
    expect(validate(contract)).toBe(valid);
    expect(readContracts(JSON.stringify(contract), JUDGES).issues.length === 0).toBe(valid);
  });
});

test.each([
  { config: {}, valid: true },
  { config: { remotes: ["https://a", { url: "https://b", token_env: "B" }], limits: { width: 8 } }, valid: true },
  { config: { seats: [{ name: "a", base_url: "http://[::1]", model: "m", engine: "vllm", seed: null }] }, valid: true },
  { config: { seats: [{ name: "a" }] }, valid: false },
  { config: { limits: { width: 9 } }, valid: false },
  { config: { limits: { with: 8 } }, valid: false },
  { config: { env_rules: { max_calls_per_tool: { read_file: 1, reed_file: 1 } } }, valid: false },
  { config: { node: { token_env: "not a name" } }, valid: false },
  { config: [], valid: false },
])("the schema of the config and the reader say the same of $config: $valid", ({ config, valid }) => {
  const validate = new Ajv2020({ strict: false }).compile(JSON.parse(renderSchemas()["config.schema.json"] ?? ""));
  expect(validate(config)).toBe(valid);
  expect(readConfig(JSON.stringify(config)).issues.length === 0).toBe(valid);
});

test.each([
  { script: {}, valid: true },
  {
    script: {
      engine: "vllm",
      states: [{ at_ms: 0, state: "loading", for_ms: 5 }],
      turns: [{ id: "b", reply: { json: 1 } }],
    },
    valid: true,
  },
  { script: { schema_version: 2 }, valid: false },
  { script: { slots: 65 }, valid: false },
  { script: { turns: [] }, valid: false },
  { script: { turns: [{ id: "a", reply: { cntent: "a" } }] }, valid: false },
  { script: { turns: [{ id: "a", when: { step: "1" }, reply: {} }] }, valid: false },
  { script: { otherwise: { cut: { how: "drp" } } }, valid: false },
])("the schema of scripts and the reader say the same of $script: $valid", ({ script, valid }) => {
  const whole = { schema_version: 1, name: "a", turns: [{ id: "a", reply: { content: "hi" } }], ...script };
  const validate = new Ajv2020({ strict: false }).compile(JSON.parse(renderSchemas()["script.schema.json"] ?? ""));
  expect(validate(whole)).toBe(valid);
  expect(readScript(new TextEncoder().encode(JSON.stringify(whole))).ok).toBe(valid);
});

test("every shipped contract is valid, its documents apart", () => {
  const files = readdirSync(CONTRACTS, { recursive: true, encoding: "utf8" }).filter((file) =>
    /^templates\/.*\.json$|^digests\/.*\.json$|\/contract\.json$/.test(file.replaceAll("\\", "/")),
  );
  expect(files.length).toBeGreaterThanOrEqual(10);
  for (const file of files) {
    const read = readContracts(readFileSync(join(CONTRACTS, file), "utf8"), JUDGES);
    expect({ file, issues: read.issues }).toEqual({ file, issues: [] });
  }
});
