/**
 * What a program that calls writ relies on, for every command: with `--json` standard output is exactly one document
 * for every outcome, its `ok` agrees with the exit status, and without `--json` a refusal leaves standard output empty.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { documentOf, type LivingWorld, livingWorld, type Ran, type Setting } from "../support/writ.ts";

let world: LivingWorld;
const named: Record<string, string> = {};

/** A world with an open turn, a closed one and one whose draft is broken; beside it a broken store. */
beforeAll(async () => {
  world = livingWorld();
  const [open, closed, broken] = [await world.turn(), await world.turn(), await world.turn()];
  const patch = { agent_status: { agent_state: "BLOCKED", next_action: "wait" }, conclusion: "x" };
  await closed.writ(["contract", "fill", "--json", JSON.stringify(patch)]);
  await closed.writ(["contract", "finalize"]);
  writeFileSync(join(world.data, "contract_drafts", `${broken.id}.json`), "{ broken");
  await open.writ(["contract", "add", "evidence_report.key_outputs", "one"]);
  Object.assign(named, { OPEN: open.id, CLOSED: closed.id, BROKEN: broken.id, NONE: "a0123456789abcdef.000000000000" });
  mkdirSync(join(world.folder, "broken"));
  writeFileSync(join(world.folder, "broken", "writ.db"), "this is no database ".repeat(100));
  writeFileSync(join(world.folder, "file"), "");
});
afterAll(() => world[Symbol.dispose]());

type Case = { readonly line: string; readonly exit: number; readonly code?: string; readonly setting?: Setting };

function call({ line, setting }: Case, ...more: string[]): Promise<Ran> {
  const words = line.split(" ").map((word) => named[word] ?? word);
  return world.writ([...words, ...more], { stdin: "", ...setting });
}

const BROKEN_STORE: Setting = { env: { WRIT_DATA_DIR: "broken" } };
const NO_FOLDER: Setting = { env: { WRIT_DATA_DIR: "file/data" } };
const EMPTY: Setting = { env: { WRIT_DATA_DIR: "empty" } };

const DONE: readonly Case[] = [
  { line: "dispatch --agent x", exit: 0 },
  { line: "dispatch --agent verifier", exit: 0 },
  { line: "record verify OPEN", exit: 0 },
  { line: "contract init", exit: 0 },
  { line: "contract set conclusion x --draft-id OPEN", exit: 0 },
  { line: "contract set conclusion x --draft-id OPEN", exit: 0 }, // changes nothing
  { line: "contract add evidence_report.open_gaps x --draft-id OPEN", exit: 0 },
  { line: "contract validate --draft-id OPEN", exit: 0 },
  { line: "contract validate --close --draft-id OPEN", exit: 0 },
  { line: "contract finalize --draft-id OPEN", exit: 0 },
  { line: "contract list", exit: 0 },
  { line: "contract list", exit: 0, setting: EMPTY },
  { line: "contract show OPEN", exit: 0 },
  { line: "contract show CLOSED", exit: 0 },
  { line: "contract chain --contract-id OPEN", exit: 0 },
  { line: "contract log --draft-id OPEN", exit: 0 },
  { line: "contract diff --draft-id OPEN", exit: 0 },
  { line: "contract undo --draft-id OPEN", exit: 0 },
];

const REFUSED: readonly Case[] = [
  // The command line.
  ...[
    "dispatch",
    "record verify x y",
    "contract",
    "contract frob",
    "contract init x",
    "contract set conclusion",
    "contract set",
    "contract add",
    "contract view x",
    "contract view --at zero",
    "contract validate --strict",
    "contract finalize x",
    "contract list --state x",
    "contract show",
    "contract chain x",
    "contract log --limit none",
    "contract diff --from x",
    "contract undo --change -1",
  ].map((line): Case => ({ line, exit: 2, code: "usage" })),
  ...["dispatch --agent x", "contract init", "contract set conclusion x", "contract add x y", "contract view"]
    .concat(["contract validate", "contract finalize", "contract list", "contract show 1", "contract chain"])
    .concat(["contract log", "contract diff", "contract undo", "record verify"])
    .map((line): Case => ({ line: `${line} --bogus`, exit: 2, code: "usage" })),
  // A body that makes no sense.
  { line: "contract set conclusion --json-file - --draft-id OPEN", exit: 2, code: "bad_json" },
  { line: 'contract set conclusion {"a":1,"a":2} --draft-id OPEN', exit: 2, code: "bad_json" },
  { line: "contract add conclusion --json-file gone --draft-id OPEN", exit: 2, code: "file_unreadable" },
  { line: "dispatch --agent x --goal-file gone", exit: 2, code: "file_unreadable" },
  { line: "contract set . x --draft-id OPEN", exit: 2, code: "empty_path" },
  // No draft, several drafts, a broken draft, an id that cannot be one.
  ...[
    "set conclusion x",
    "add evidence_report.open_gaps x",
    "view",
    "validate",
    "validate --close",
    "finalize",
  ].flatMap((verb): Case[] => [
    { line: `contract ${verb} --draft-id NONE`, exit: 3, code: "no_draft" },
    { line: `contract ${verb}`, exit: 3, code: "no_draft", setting: EMPTY },
    { line: `contract ${verb}`, exit: 3, code: "ambiguous_draft" },
    { line: `contract ${verb} --draft-id BROKEN`, exit: 3, code: "draft_unreadable" },
    { line: `contract ${verb} --draft-id ../x`, exit: 2, code: "invalid_draft_id" },
  ]),
  ...["log", "diff", "undo", "chain"].flatMap((verb): Case[] => [
    { line: `contract ${verb}`, exit: 3, code: "ambiguous_draft" },
    { line: `contract ${verb} --draft-id ../x`, exit: 2, code: "invalid_draft_id" },
  ]),
  { line: "contract chain --contract-id NONE", exit: 3, code: "no_row" },
  { line: "contract show NONE", exit: 3, code: "no_row" },
  { line: "record verify NONE", exit: 3, code: "no_row" },
  { line: "contract view --harness-id nobody", exit: 3, code: "no_row" },
  // What the state or the content forbids.
  { line: "contract view --field gone --draft-id OPEN", exit: 1, code: "no_such_field" },
  { line: "contract set key_outputs x --draft-id OPEN", exit: 1, code: "validation" },
  { line: "contract init --agent-id x", exit: 1, code: "validation" },
  { line: "contract init --draft-id OPEN", exit: 3, code: "draft_exists" },
  { line: "contract add agent_status x --draft-id OPEN", exit: 3, code: "not_a_list" },
  { line: "contract set evidence_report.key_outputs.0 x --draft-id OPEN", exit: 3, code: "path_through_list" },
  { line: "contract undo --draft-id CLOSED", exit: 3, code: "closed" },
  { line: "contract finalize --draft-id OPEN --plan-task-id 9", exit: 3, code: "plan_task_id_unresolved" },
  // A store that is no database, and a data folder that cannot be.
  ...["dispatch --agent x", "contract set conclusion x --draft-id OPEN", "contract init", "contract list"]
    .concat(["contract show 1", "contract finalize --draft-id OPEN", "contract validate --close --draft-id OPEN"])
    .concat(["contract chain --contract-id OPEN", "contract log --draft-id OPEN", "contract undo --draft-id OPEN"])
    .concat(["contract view --draft-id OPEN", "record verify OPEN"])
    .map((line): Case => ({ line, exit: 4, code: "store_failed", setting: BROKEN_STORE })),
  ...["dispatch --agent x", "contract set conclusion x --draft-id OPEN", "contract init"].map(
    (line): Case => ({ line, exit: 4, code: "store_failed", setting: NO_FOLDER }),
  ),
];

describe("one document under --json", () => {
  test.each([...DONE])("of what is done: $line", async (one) => {
    const ran = await call(one, "--json");
    expect({ exit: ran.exit, ok: documentOf(ran).ok }).toEqual({ exit: one.exit, ok: true });
  });

  test.each([...REFUSED])("of what is refused: $line is $code in $exit", async (one) => {
    const ran = await call(one, "--json");
    const { ok, code, path, message, hint } = documentOf(ran);
    expect({ exit: ran.exit, ok, code, stderr: ran.stderr }).toEqual({
      exit: one.exit,
      ok: false,
      code: one.code ?? "",
      stderr: "",
    });
    for (const key of [path, hint]) expect(key === null || typeof key === "string").toBe(true);
    expect(message).toMatch(/^\S/);
  });

  test.each([...REFUSED])("and nothing on standard output without: $line", async (one) => {
    const ran = await call(one);
    expect({ exit: ran.exit, stdout: ran.stdout }).toEqual({ exit: one.exit, stdout: "" });
    if (one.line === "contract")
      expect(ran.stderr).toContain("\nCommands\n"); // the help of the group
    else expect(ran.stderr).toMatch(/^(Error|Rejected): [^\n]+\n/);
  });
});
