import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseArguments } from "../../src/cli/arguments.ts";
import { type AnyCommand, defineCommand } from "../../src/cli/command.ts";
import { WritError } from "../../src/core/error.ts";

const shared = {
  meta: { name: "probe", description: "Probe" },
  examples: ["writ probe a", "writ probe b"],
  exits: { 0: "done" },
  run: () => 0,
} as const;

const probe = defineCommand({
  ...shared,
  args: {
    field: { type: "positional", required: true },
    value: { type: "positional", required: false, valueHint: "VALUE|-" },
    "draft-id": { type: "string", alias: ["contract-id", "d"], valueHint: "ID" },
    limit: { type: "string", default: "20" },
    state: { type: "enum", options: ["open", "closed"] },
    tag: { type: "string", multiple: true },
    close: { type: "boolean" },
    dryRun: { type: "boolean" },
    progress: { type: "boolean", default: true },
  },
});

const wrap = defineCommand({
  ...shared,
  args: { c: { type: "string", valueHint: "TEXT" }, cwd: { type: "string", required: true } },
  rest: { name: "CMD", description: "The command" },
  output: "none",
  withoutJson: "it prints what its command prints",
});

const many = defineCommand({
  ...shared,
  args: { file: { type: "positional", required: true, multiple: true } },
  output: "always",
});

const wanting = defineCommand({
  ...shared,
  args: {
    seat: { type: "string", valueHint: "NAME" },
    contract: { type: "string", multiple: true, valueHint: "FILE" },
  },
});

const patch = defineCommand({ ...shared, args: { json: { type: "string" } }, output: "always" });

const own = defineCommand({ ...shared, args: { json: { type: "boolean", description: "Print the rows" } } });

const NOTHING = {
  field: "f",
  value: undefined,
  "draft-id": undefined,
  limit: "20",
  state: undefined,
  tag: [],
  close: false,
  dryRun: false,
  progress: true,
};

describe("parseArguments() reads", () => {
  test.each([
    {
      argv: ["f"],
      expected: {},
      rule: "a missing option as undefined, a boolean as false, a list as empty, a default",
    },
    { argv: ["f", "v"], expected: { value: "v" }, rule: "operands in their order" },
    { argv: ["f", "-"], expected: { value: "-" }, rule: "a lone dash as an operand" },
    { argv: ["f", "-5"], expected: { value: "-5" }, rule: "a negative number as an operand" },
    { argv: ["f", "-.5"], expected: { value: "-.5" }, rule: "a negative fraction as an operand" },
    { argv: ["f", ""], expected: { value: "" }, rule: "an empty word as an operand" },
    { argv: ["--close", "f", "--limit", "3"], expected: { close: true, limit: "3" }, rule: "options on both sides" },
    { argv: ["f", "--limit=3"], expected: { limit: "3" }, rule: "a value behind =" },
    { argv: ["f", "--limit=a=b"], expected: { limit: "a=b" }, rule: "a value with = in it" },
    { argv: ["f", "--limit="], expected: { limit: "" }, rule: "an empty value behind =" },
    { argv: ["f", "--limit", ""], expected: { limit: "" }, rule: "an empty word as a value" },
    { argv: ["f", "--limit", "-5"], expected: { limit: "-5" }, rule: "a negative number as a value" },
    { argv: ["f", "--limit", "-"], expected: { limit: "-" }, rule: "a lone dash as a value" },
    { argv: ["f", "--limit=-x"], expected: { limit: "-x" }, rule: "a value with a dash, behind =" },
    { argv: ["f", "--contract-id", "c"], expected: { "draft-id": "c" }, rule: "an alias" },
    { argv: ["f", "-d", "c"], expected: { "draft-id": "c" }, rule: "a single letter" },
    { argv: ["f", "--state", "open"], expected: { state: "open" }, rule: "one of the choices" },
    { argv: ["f", "--tag", "a", "--tag=b"], expected: { tag: ["a", "b"] }, rule: "a repeated option as a list" },
    { argv: ["f", "--dry-run"], expected: { dryRun: true }, rule: "a name of two words" },
    { argv: ["f", "--no-progress"], expected: { progress: false }, rule: "the negation of what is on by default" },
    { argv: ["f", "--", "--close"], expected: { value: "--close" }, rule: "what stands behind -- as operands" },
    { argv: ["--", "f", "--"], expected: { value: "--" }, rule: "the second -- as an operand" },
    { argv: ["f", "v", "--"], expected: { value: "v" }, rule: "-- with nothing behind it" },
  ])("$rule: $argv", ({ argv, expected }) => {
    expect(parseArguments(probe, argv).args).toEqual({ ...NOTHING, ...expected } as never);
  });

  test("--json as the switch, or as always on, or as the command's own option", () => {
    expect(parseArguments(probe, ["f"]).json).toBe(false);
    expect(parseArguments(probe, ["--json", "f"]).json).toBe(true);
    expect(parseArguments(many, ["a"]).json).toBe(true);
    expect(parseArguments(own, ["--json"])).toEqual({ args: { json: true }, rest: [], json: true });
    expect(parseArguments(patch, ["--json", "{}"])).toEqual({ args: { json: "{}" }, rest: [], json: true });
  });

  test("what stands behind -- into rest, untouched, where a command declares it", () => {
    const call = parseArguments(wrap, ["--cwd", "d", "--", "ls", "--json", "--", "-x"]);
    expect(call).toEqual({ args: { c: undefined, cwd: "d" }, rest: ["ls", "--json", "--", "-x"], json: false });
  });

  test("all operands into the last one when that one is multiple", () => {
    expect(parseArguments(many, ["a", "b", "--", "-c"]).args.file).toEqual(["a", "b", "-c"]);
  });

  test("nothing for an operand where a file is taken by an option, and says which it is", () => {
    const hinted = (word: string) => refusal(wanting, [word]).hint;
    expect(hinted("legs.json")).toBe("Did you mean --contract legs.json?");
    expect(hinted("a b")).toBe("Did you mean --contract 'a b'?");
    expect(hinted("x".repeat(1000))).toBeNull();
  });

  test("a key of the prototype as what it is: an unknown option", () => {
    expect(refusal(probe, ["f", "--__proto__"]).message).toBe('Unknown option "--__proto__"');
    expect(refusal(probe, ["f", "--constructor=1"]).message).toBe('Unknown option "--constructor"');
  });
});

describe("parseArguments() refuses", () => {
  test.each([
    { argv: [], message: 'Missing operand "FIELD"', hint: null },
    { argv: ["f", "v", "w"], message: 'Unexpected operand "w"', hint: null },
    { argv: ["f", "--limt", "3"], message: 'Unknown option "--limt"', hint: 'Did you mean "--limit"?' },
    { argv: ["f", "--jsn"], message: 'Unknown option "--jsn"', hint: 'Did you mean "--json"?' },
    {
      argv: ["f", "-x"],
      message: 'Unknown option "-x"',
      hint: 'An operand that starts with "-" stands behind "--"; "writ probe --help" lists the options',
    },
    { argv: ["f", "-dc9"], message: 'Unknown option "-dc9"', hint: 'The value of "-d" stands apart: "-d ID"' },
    { argv: ["f", "-hx"], message: 'Unknown option "-hx"', hint: 'Options of one letter stand apart: "-h"' },
    { argv: ["f", "--limit"], message: 'Option "--limit" needs a value: LIMIT', hint: null },
    { argv: ["f", "--limit", "--"], message: 'Option "--limit" needs a value: LIMIT', hint: null },
    {
      argv: ["f", "--limit", "--close"],
      message: 'Option "--limit" needs a value: LIMIT',
      hint: 'A value that starts with "-" is given as --limit=VALUE',
    },
    {
      argv: ["f", "-d", "-x"],
      message: 'Option "-d" needs a value: ID',
      hint: 'A value that starts with "-" is given as --draft-id=VALUE',
    },
    { argv: ["f", "--state"], message: 'Option "--state" needs a value: "open" or "closed"', hint: null },
    {
      argv: ["f", "--state", "opne"],
      message: 'Option "--state" takes "open" or "closed", not "opne"',
      hint: 'Did you mean "open"?',
    },
    { argv: ["f", "--state="], message: 'Option "--state" takes "open" or "closed", not ""', hint: null },
    { argv: ["f", "--close=true"], message: 'Option "--close" takes no value', hint: null },
    { argv: ["f", "--no-close"], message: 'Unknown option "--no-close"', hint: 'Did you mean "--close"?' },
    { argv: ["f", "--limit", "1", "--limit=2"], message: 'Option "--limit" is given twice', hint: null },
    { argv: ["f", "-d", "1", "--contract-id", "1"], message: 'Option "--contract-id" is given twice', hint: null },
    { argv: ["f", "--close", "--close"], message: 'Option "--close" is given twice', hint: null },
    { argv: ["f", "--progress", "--no-progress"], message: 'Option "--no-progress" is given twice', hint: null },
    { argv: ["f", "--dryRun"], message: 'Unknown option "--dryRun"', hint: 'Did you mean "--dry-run"?' },
  ])("$argv: $message", ({ argv, message, hint }) => {
    const error = refusal(probe, argv);
    expect({ message: error.message, hint: error.hint }).toEqual({ message, hint });
  });

  test.each([
    { argv: ["--cwd", "d", "ls"], word: "ls", hint: "Type: writ probe --cwd d -- ls" },
    {
      argv: ["python3", "-m", "a b", "--json"],
      word: "python3",
      hint: "Type: writ probe -- python3 -m 'a b' --json",
    },
    { argv: ["ls", "x".repeat(1000)], word: "ls", hint: 'CMD stands behind "--"' },
  ])("a word before -- where only rest is taken, and says what to type (%#)", ({ argv, word, hint }) => {
    const error = refusal(wrap, argv);
    expect([error.message, error.hint]).toEqual([`Unexpected operand "${word}"`, hint]);
  });

  test.each([
    { argv: ["f", "--text-limit", "3"], hint: 'Did you mean "--limit"?' },
    { argv: ["f", "--id", "3"], hint: 'Did you mean "--draft-id"?' },
    { argv: ["f", "--draft-name", "3"], hint: null },
  ])(
    "an option of other words, with the one that shares all of its words or has all of them: $argv",
    ({ argv, hint }) => {
      expect(refusal(probe, argv).hint).toBe(
        hint ?? 'An operand that starts with "-" stands behind "--"; "writ probe --help" lists the options',
      );
    },
  );

  test("a call without its required option, or without the one operand of a list", () => {
    expect(refusal(wrap, ["--", "ls"]).message).toBe('Missing option "--cwd CWD"');
    expect(refusal(many, []).message).toBe('Missing operand "FILE"');
  });

  test("--json on a command without it", () => {
    const error = refusal(wrap, ["--json", "--cwd", "d"]);
    expect(error.message).toBe('Unknown option "--json"');
    expect(error.hint).toBe("it prints what its command prints");
  });

  test.each([
    ["run", "writ contract show ID --json"],
    ["mcp", "writ docs mcp"],
  ])("--json on writ %s, with what helps there: %s", async (name, helps) => {
    const { command } = (await import(`../../src/cli/${name}.ts`)) as { readonly command: AnyCommand };
    const { hint } = refusal(command, ["--json"]);
    expect([hint?.startsWith(`"writ ${name}" `), hint?.includes(helps)]).toEqual([true, true]);
  });

  test("a hostile word without repeating all of it", () => {
    expect(refusal(probe, [`--${"x".repeat(100_000)}`]).message.length).toBeLessThan(120);
  });
});

describe("parseArguments() as a law", () => {
  const word = fc.oneof(
    fc.string(),
    fc.constantFrom(
      "--",
      "-",
      "--limit",
      "--limit=",
      "--close",
      "--state",
      "open",
      "-d",
      "-5",
      "--tag",
      "--json",
      "--help",
      "f",
    ),
    fc.string().map((text) => `--${text}`),
    fc.string().map((text) => `-${text}`),
  );

  test("answers any words with arguments or with a usage error, and nothing else", () => {
    fc.assert(
      fc.property(fc.constantFrom<AnyCommand>(probe, wrap, many, patch), fc.array(word), (command, argv) => {
        try {
          const { args, rest } = parseArguments(command, argv);
          expect(Object.keys(args)).toEqual(Object.keys(command.args));
          expect(Array.isArray(rest)).toBe(true);
        } catch (error) {
          if (!(error instanceof WritError)) throw error;
          expect(error.code).toBe("usage");
        }
      }),
    );
  });

  const values = fc.record({
    field: fc.string(),
    value: fc.option(fc.string(), { nil: undefined }),
    "draft-id": fc.option(fc.string(), { nil: undefined }),
    limit: fc.string(),
    state: fc.constantFrom(undefined, "open", "closed"),
    tag: fc.array(fc.string()),
    close: fc.boolean(),
    dryRun: fc.boolean(),
    progress: fc.boolean(),
  });

  test("reads back what was written, for any values", () => {
    fc.assert(
      fc.property(values, (given) => {
        expect(parseArguments(probe, rendered(given)).args).toEqual(given as never);
      }),
    );
  });

  function rendered(given: typeof values extends fc.Arbitrary<infer T> ? T : never): readonly string[] {
    const argv = [`--limit=${given.limit}`, ...given.tag.map((tag) => `--tag=${tag}`)];
    if (given["draft-id"] !== undefined) argv.push(`--draft-id=${given["draft-id"]}`);
    if (given.state !== undefined) argv.push("--state", given.state);
    if (given.close) argv.push("--close");
    if (given.dryRun) argv.push("--dry-run");
    if (!given.progress) argv.push("--no-progress");
    return [...argv, "--", given.field, ...(given.value === undefined ? [] : [given.value])];
  }
});

function refusal(command: AnyCommand, argv: readonly string[]): WritError {
  try {
    parseArguments(command, argv);
  } catch (error) {
    if (error instanceof WritError && error.code === "usage") return error;
    throw error;
  }
  throw new Error(`${JSON.stringify(argv)} was read`);
}
