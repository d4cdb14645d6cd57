/** What the help of a command says of an exit status is what a call ends in. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { nodeAt } from "../../src/cli/node.ts";
import { TREE } from "../../src/cli/tree.ts";
import { type LivingWorld, livingWorld, shown, type Turn } from "../support/writ.ts";

let world: LivingWorld;
let turn: Turn;
beforeAll(async () => {
  world = livingWorld();
  turn = await world.turn();
  await turn.writ(["contract", "set", "report_prose", "a text"]);
  await turn.writ(["contract", "add", "evidence_report.key_outputs", "x"]);
});
afterAll(() => world[Symbol.dispose]());

const NOBODY = "a0123456789abcdef.000000000000";

async function exitsOf(words: readonly string[]): Promise<Readonly<Record<number, string>>> {
  const [first = "", ...more] = words;
  let node = nodeAt(TREE, first);
  for (const word of more) node = nodeAt(node?.commands, word) ?? node;
  return (await node?.load?.())?.command.exits ?? {};
}

test.each([
  { args: ["contract", "add", "conclusion", "x"], exit: 1, says: "the envelope would break a rule" },
  { args: ["contract", "add", "report_prose", "x"], exit: 3, says: "the field holds what is no list" },
  {
    args: ["contract", "add", "evidence_report.key_outputs", "x", "--draft-id", NOBODY],
    exit: 3,
    says: "no such draft",
  },
  { args: ["contract", "set", "conclusion", "7"], exit: 1, says: "would break a rule" },
  { args: ["contract", "set", "evidence_report.key_outputs.0", "x"], exit: 3, says: "a path through a populated list" },
  { args: ["contract", "fill", "--json", '{"evidence_report":{"key_outputs":[]}}'], exit: 3, says: "a populated list" },
  { args: ["contract", "view", "--field", "nope"], exit: 1, says: "no such field" },
  { args: ["contract", "view", "--at", "99999"], exit: 3, says: "no such draft or change" },
  { args: ["contract", "validate", "--draft-id", NOBODY], exit: 3, says: "no such draft" },
  { args: ["contract", "finalize"], exit: 0, says: "kept as a checkpoint" },
  { args: ["contract", "finalize", "--draft-id", NOBODY], exit: 3, says: "no such draft" },
  { args: ["contract", "diff", "--from", "99999"], exit: 3, says: "change" },
  { args: ["contract", "undo", "--change", "99999"], exit: 3, says: "no such draft or change" },
  { args: ["contract", "chain", "--contract-id", NOBODY], exit: 3, says: "no such contract" },
  { args: ["contract", "show", "99999"], exit: 3, says: "no such turn" },
  { args: ["contract", "list", "--session", "nobody"], exit: 0, says: "nothing matched" },
  { args: ["contract", "init", "--agent-id", "fixer"], exit: 1, says: "the form" },
  { args: ["contract", "attest", "1"], exit: 3, says: "not closed" },
  { args: ["contract", "prove", "99999"], exit: 3, says: "no such turn" },
  { args: ["context", "accept", "99999"], exit: 3, says: "no such turn" },
  { args: ["context", "reject", "99999"], exit: 3, says: "no such turn" },
  { args: ["dispatch", "--agent", "x", "--plan-task-id", "99999"], exit: 0, says: "a binding that failed" },
  { args: ["run", "--", "no-such-program"], exit: 127, says: "not found" },
  { args: ["run", "--", "/"], exit: 126, says: "cannot be executed" },
  { args: ["task", "brief", "add", "../x"], exit: 2, says: "cannot be a folder" },
  { args: ["evidence", "show", "99999"], exit: 3, says: "no such row" },
])("$args ends in $exit, of which the help says: $says", async ({ args, exit, says }) => {
  const outside = args[0] === "context"; // it is refused inside a turn, also in 3
  const ran = outside ? await world.writ(args) : await turn.writ(args);
  expect({ exit: ran.exit, all: shown(ran) }).toEqual({ exit, all: shown(ran) });
  expect((await exitsOf(args))[exit]).toContain(says);
});
