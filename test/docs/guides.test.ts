/** What guides say in passing, held to what really happens. */
import { expect, test } from "bun:test";
import { parseBlocks } from "../../scripts/pages/page.ts";
import { readPage } from "../../scripts/pages/pages.ts";
import { folderOf } from "../../src/cli/delegate/out-folder.ts";
import { redact } from "../../src/core/record/redact.ts";
import { openProofPlace } from "../../src/host/proof-place.ts";
import { documentOf, livingWorld } from "../support/writ.ts";

test("guide-agents: a secret as NAME=value is kept in a command and masked in an output", async () => {
  const page = readPage("docs/guide-agents.md");
  const typed = /`(\w+_TOKEN=\w+ [^`]+)` is kept as you typed it/.exec(page)?.[1] ?? "";
  expect(typed).not.toBe("");
  expect(redact(typed, "command")).toBe(typed);
  expect(redact(typed, "output")).toContain("=[REDACTED]");
  expect(page).not.toContain("and so is the command");
  expect(readPage("skills/writ/SKILL.md")).not.toContain("outputs and commands are redacted");
  using world = livingWorld();
  const turn = await world.turn();
  await turn.writ(["run", "-c", `${typed.split(" ")[0]}; echo "$FOO_TOKEN" > /dev/null; echo FOO_TOKEN=abcdefgh`]);
  const shown = JSON.stringify(documentOf(await turn.writ(["contract", "show", turn.id, "--json"])).record);
  expect(shown).toContain(`${typed.split(" ")[0]};`);
  expect(shown).toContain('"output":"FOO_TOKEN=[REDACTED]');
});

test("guide-agents: it says how many sessions it is, and that ids count over a store", () => {
  const page = readPage("docs/guide-agents.md");
  const sessions = page.split("<!-- new session -->").length;
  expect([sessions, page.includes("The three turns of this page are sessions of their own")]).toEqual([3, true]);
  expect(page).toContain("`handoff_id` and `change_id` count over");
});

test("delegating: the folders of --out are numbered from 1", () => {
  expect(readPage("docs/delegating.md")).toContain(`\`"index":0\`\nhas \`${folderOf({ index: 0 })}/output.txt\``);
});

test("gates: each member of protections stands in the table, with what it means both ways", () => {
  const place = openProofPlace({ keep: false, path: "", sandbox: null });
  const { protections } = place;
  place.close();
  // Without a sandbox nothing takes the network away: so `network` says that there is one.
  expect(protections).toEqual({ sandbox: false, network: true, group_kill: true });
  const [, table = ""] = readPage("docs/gates.md").split("| member | true | false |");
  const rows = [...table.matchAll(/^\| `(sandbox|network|group_kill)` \| .+ \| .+ \|$/gm)];
  expect(rows.map(([, name]) => name)).toEqual(Object.keys(protections));
  expect(readPage("docs/gates.md")).toContain("| `network` | a proof could reach the network | there was none for it");
});

test("guide-operators: a node that is started again is waited for, and a config is replaced in one step", () => {
  const session = parseBlocks(readPage("docs/guide-operators.md"))
    .map(({ text }) => text)
    .join("");
  const starts = [...session.matchAll(/\bwrit node serve /g)].map(({ index }) => session.slice(index).split("\n"));
  expect(starts.length).toBeGreaterThan(3);
  const blind = starts.filter((lines) => !lines.slice(0, 6).some((line) => line.includes("grep -q served")));
  expect(blind.map(([line]) => line)).toEqual([]);
  // What is written while a node may read it is written beside its place.
  const behind = session.slice(session.indexOf("writ node serve "));
  expect(behind).not.toMatch(/cat > gpu-\w\.json/);
});
