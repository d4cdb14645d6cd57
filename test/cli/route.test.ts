import { describe, expect, test } from "bun:test";
import { defineCommand } from "../../src/cli/command.ts";
import type { Node, Nodes } from "../../src/cli/node.ts";
import { type Route, route } from "../../src/cli/route.ts";
import { FACES, MISPLACED, TREE } from "../../src/cli/tree.ts";
import { WritError } from "../../src/core/error.ts";

const command = defineCommand({
  meta: { name: "probe", description: "Probe" },
  args: {},
  examples: ["writ a", "writ b"],
  exits: {},
  run: () => 0,
});
const leaf: Node = { summary: "Do it", load: async () => ({ command }) };

const tree: Nodes = {
  run: leaf,
  record: { ...leaf, commands: { verify: leaf } },
  contract: {
    summary: "Edit",
    commands: { set: leaf, fill: leaf, proposals: { summary: "See", commands: { list: leaf } } },
  },
  version: leaf,
};

function find(...argv: readonly string[]): Route {
  return route({ tree, misplaced: MISPLACED, topics: { law: null } }, argv);
}

function refusal(...argv: readonly string[]): WritError {
  try {
    find(...argv);
  } catch (error) {
    if (error instanceof WritError && error.code === "usage") return error;
    throw error;
  }
  throw new Error(`${JSON.stringify(argv)} was routed`);
}

describe("route()", () => {
  test.each([
    { argv: ["run", "--", "ls"], words: "run", wanted: "run", behind: ["--", "ls"], json: false },
    { argv: ["contract", "set", "a", "b"], words: "contract set", wanted: "run", behind: ["a", "b"], json: false },
    {
      argv: ["contract", "proposals", "list"],
      words: "contract proposals list",
      wanted: "run",
      behind: [],
      json: false,
    },
    { argv: ["record"], words: "record", wanted: "run", behind: [], json: false },
    { argv: ["record", "verify", "c1"], words: "record verify", wanted: "run", behind: ["c1"], json: false },
    {
      argv: ["record", "--harness", "verify"],
      words: "record",
      wanted: "run",
      behind: ["--harness", "verify"],
      json: false,
    },
    { argv: ["record", "--json"], words: "record", wanted: "run", behind: ["--json"], json: false },
    { argv: ["record", "--json", "verify"], words: "record verify", wanted: "run", behind: [], json: true },
    { argv: ["--json", "contract", "set", "a"], words: "contract set", wanted: "run", behind: ["a"], json: true },
    {
      argv: ["contract", "--json", "fill", "--json", "{}"],
      words: "contract fill",
      wanted: "run",
      behind: ["--json", "{}"],
      json: true,
    },
    { argv: ["--version"], words: "version", wanted: "run", behind: [], json: false },
    { argv: ["--json", "--version"], words: "version", wanted: "run", behind: [], json: true },
    { argv: [], words: "", wanted: "group", behind: [], json: false },
    { argv: ["contract"], words: "contract", wanted: "group", behind: [], json: false },
    { argv: ["--help"], words: "", wanted: "help", behind: [], json: false },
    { argv: ["help"], words: "", wanted: "help", behind: [], json: false },
    { argv: ["-h"], words: "", wanted: "help", behind: [], json: false },
    { argv: ["help", "contract", "set"], words: "contract set", wanted: "help", behind: [], json: false },
    { argv: ["contract", "--help"], words: "contract", wanted: "help", behind: [], json: false },
    {
      argv: ["contract", "set", "x", "--bogus", "--help"],
      words: "contract set",
      wanted: "help",
      behind: ["x", "--bogus", "--help"],
      json: false,
    },
    { argv: ["help", "law"], words: "law", wanted: "topic", behind: [], json: false },
    { argv: ["help", "law", "--json"], words: "law", wanted: "topic", behind: [], json: true },
    { argv: ["--json", "help", "law"], words: "law", wanted: "topic", behind: [], json: true },
    { argv: ["run", "--", "ls", "--help"], words: "run", wanted: "run", behind: ["--", "ls", "--help"], json: false },
  ])("$argv is $wanted of '$words'", ({ argv, words, wanted, behind, json }) => {
    const found = find(...argv);
    expect({ ...found, node: undefined }).toEqual({
      words: words === "" ? [] : words.split(" "),
      wanted: wanted as Route["wanted"],
      argv: behind,
      json,
      node: undefined,
    } as never);
  });

  test.each([
    { argv: ["contrct"], message: 'There is no command "writ contrct"', hint: 'Did you mean "writ contract"?' },
    {
      argv: ["contract", "sett"],
      message: 'There is no command "writ contract sett"',
      hint: 'Did you mean "writ contract set"?',
    },
    { argv: ["law"], message: 'There is no command "writ law"', hint: 'Did you mean "writ help law"?' },
    { argv: ["help", "lew"], message: 'There is no command "writ lew"', hint: 'Did you mean "writ help law"?' },
    { argv: ["fil"], message: 'There is no command "writ fil"', hint: 'Did you mean "writ contract fill"?' },
    { argv: ["fill"], message: 'There is no command "writ fill"', hint: 'Did you mean "writ contract fill"?' },
    {
      argv: ["contract", "zzzz"],
      message: 'There is no command "writ contract zzzz"',
      hint: '"writ contract --help" lists the commands',
    },
    { argv: ["zzzz"], message: 'There is no command "writ zzzz"', hint: '"writ --help" lists the commands' },
    { argv: ["help", "zzzz"], message: 'There is no command "writ zzzz"', hint: '"writ --help" lists the commands' },
    { argv: ["--jsn", "run"], message: 'Unknown option "--jsn" before the command', hint: 'Did you mean "--json"?' },
    {
      argv: ["contract", "--draft-id=x", "set"],
      message: 'Unknown option "--draft-id=x" before the command',
      hint: "Options stand behind the command: writ contract COMMAND [options]",
    },
    { argv: ["__proto__"], message: 'There is no command "writ __proto__"', hint: '"writ --help" lists the commands' },
    {
      argv: ["contract", "constructor"],
      message: 'There is no command "writ contract constructor"',
      hint: '"writ contract --help" lists the commands',
    },
  ])("refuses $argv: $hint", ({ argv, message, hint }) => {
    const error = refusal(...argv);
    expect({ message: error.message, hint: error.hint }).toEqual({ message, hint });
  });

  test.each([
    { argv: ["brief", "add", "x"], hint: 'Did you mean "writ task brief add"?' },
    { argv: ["plan", "create"], hint: 'Did you mean "writ task add"?' },
  ])("names the command that $argv may have meant", ({ argv, hint }) => {
    expect(refusal(...argv).hint).toBe(hint);
  });

  // Delegation run, section 1.7: what is typed, and what its hint has to name.
  test.each([
    { argv: ["run", "list"], names: ["writ run -- CMD", "writ runs list"] },
    { argv: ["--json", "run", "show", "r1"], names: ["writ run -- CMD", "writ runs list"] },
    { argv: ["runs", "--", "ls"], names: ["writ run -- CMD", "writ runs list"] },
    {
      argv: ["check", "FILE"],
      names: ["writ lint", "writ grade", "writ gate check", "writ plan check", "writ brief check"],
    },
    { argv: ["validate", "a.json"], names: ["writ lint", "writ grade", "writ contract validate"] },
    { argv: ["contract", "research.json"], names: ["writ lint", "writ template new", "writ delegate --contract"] },
    { argv: ["contract", "./research"], names: ["writ lint", "writ template new", "writ delegate --contract"] },
    { argv: ["contract", "lint", "a.json"], names: ["writ lint", "writ template new", "writ delegate --contract"] },
    { argv: ["gate", "mine.json"], names: ["writ gate run"] },
    { argv: ["task", "gate", "write-door"], names: ["writ task gate", "writ gate"] },
    { argv: ["seat", "list"], names: ["writ config init", "writ doctor --seat", "writ seat serve --script"] },
    { argv: ["seat"], names: ["writ config init", "writ doctor --seat", "writ seat serve --script"] },
    { argv: ["serve"], names: ["writ node serve", "writ seat serve", "writ mcp"] },
  ])("says of $argv which is which", ({ argv, names }) => {
    const { hint } = refusal(...argv);
    for (const name of names) expect(hint).toContain(name);
  });

  test("a row of look-alikes counts only where its words are no command, and no slip of one", () => {
    const grown: Nodes = {
      ...tree,
      serve: leaf,
      task: { summary: "Keep", commands: { gate: { summary: "Gates", commands: { add: leaf } } } },
    };
    const at = (...argv: readonly string[]) => route({ tree: grown, misplaced: MISPLACED }, argv);
    expect(at("serve").words).toEqual(["serve"]);
    expect(at("task", "gate", "add").words).toEqual(["task", "gate", "add"]);
    expect(() => at("task", "gate", "ad")).toThrow(
      expect.objectContaining({ hint: 'Did you mean "writ task gate add"?' }),
    );
    expect(() => at("task", "gate", "proofs")).toThrow(expect.objectContaining({ hint: MISPLACED["task gate *"] }));
    expect(at("contract", "set", "a.json").words).toEqual(["contract", "set"]);
  });

  test("leaves the words behind -- to the command, also those of the table of misplaced words", () => {
    expect(find("run", "--", "list").argv).toEqual(["--", "list"]);
  });
});

describe("the command tree", () => {
  const places: [string, Node][] = [];
  const collect = (nodes: Nodes, prefix: string) => {
    for (const [name, node] of Object.entries(nodes)) {
      places.push([`${prefix}${name}`, node]);
      collect(node.commands ?? {}, `${prefix}${name} `);
    }
  };
  collect(TREE, "");

  test("has every face's commands, none of them twice", () => {
    expect(Object.keys(TREE)).toEqual(FACES.flatMap((face) => Object.keys(face.commands)));
  });

  test.each(places)("has %s where its file says it is, with the line of that file", async (words, node) => {
    expect(node.summary).not.toEndWith(".");
    if (node.load === undefined) expect(Object.keys(node.commands ?? {})).not.toEqual([]);
    else {
      const loaded = (await node.load()).command;
      expect({ name: loaded.meta.name, summary: loaded.meta.description }).toEqual({
        name: words,
        summary: node.summary,
      });
    }
  });

  test.each(places)(
    "has in %s no option twice, a list of operands last, and no operand required behind a free one",
    async (_, node) => {
      const args = (await node.load?.())?.command.args ?? {};
      const { declarationOf } = await import("../../src/cli/declaration.ts");
      const loaded = (await node.load?.())?.command;
      if (loaded === undefined) return;
      const { operands, options } = declarationOf(loaded);
      const flags = options.flatMap((option) => [
        option.flag,
        ...option.aliases,
        ...(option.negated === null ? [] : [option.negated]),
      ]);
      expect(new Set(flags).size).toBe(flags.length);
      expect(operands.slice(0, -1).filter((operand) => operand.multiple)).toEqual([]);
      const free = operands.findIndex((operand) => !operand.required);
      expect(operands.slice(free < 0 ? operands.length : free).filter((operand) => operand.required)).toEqual([]);
      expect(Object.values(args).filter((argument) => argument.type === undefined)).toEqual([]);
      for (const example of loaded.examples) expect(example).toContain("writ ");
    },
  );
});
