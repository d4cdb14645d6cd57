/** The skill file is printed as it stands, and what it tells an agent to type ends a turn, a delegation and a handoff. */
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseBlocks } from "../../../scripts/pages/page.ts";
import { frontMatterName } from "../../../src/core/brief/front-matter.ts";
import { startScriptedSeat } from "../../support/scripted-seat.ts";
import { documentOf, livingWorld, runWrit } from "../../support/writ.ts";

const skill = readFileSync(join(import.meta.dir, "..", "..", "..", "skills", "writ", "SKILL.md"), "utf8");

test("writ help skill prints the skill file to the letter, also as a document", async () => {
  expect(await runWrit(["help", "skill"])).toEqual({ exit: 0, stdout: skill, stderr: "" });
  expect(documentOf(await runWrit(["help", "skill", "--json"]))).toEqual({ ok: true, help: skill.trimEnd() });
});

test("it has the front matter by which agents find it, and fits two screens of a reader", () => {
  expect(frontMatterName(skill)).toBe("writ");
  const description = /^description: (.+)$/m.exec(skill)?.[1] ?? "";
  expect(description.length).toBeGreaterThan(100);
  expect(description.length).toBeLessThan(1024);
  expect(skill.split("\n").length).toBeLessThan(100);
});

test("what it shows ends a turn, a delegation and a handoff when it is typed", async () => {
  const blocks = parseBlocks(skill).filter(({ kind }) => kind === "script");
  expect(blocks).toHaveLength(3);
  await using seat = await startScriptedSeat({
    turns: [
      { id: "fields", when: { constraint: "any" }, reply: { json: { count: 412 } } },
      { id: "answer", reply: { content: "Rotterdam holds 412 pallets." } },
    ],
  });
  using world = livingWorld({ WRIT_SEAT_URL: seat.url });
  writeFileSync(join(world.folder, "notes.md"), "Rotterdam holds 412 pallets.\n");
  const id = await world.born();
  const author = "-c user.name=you -c user.email=you@example.com";
  const begin = `set -eo pipefail\ngit init -q .\ngit ${author} commit -q --allow-empty -m begin`;
  const typed = blocks.map(({ text }) => text).join("\n");
  const ran = await world.shell(`${begin}\n${typed}`, { env: { WRIT_CONTRACT_ID: id } });
  expect({ ...ran, stdout: "" }).toMatchObject({ exit: 0 });
  expect(ran.stdout).toContain(`OK: draft ${id} finalized (handoff_id=1).`);
  expect(ran.stdout).toMatch(/^run-\S+ +\S+ +1 +1 +0 +0 +0 /m);
  expect(ran.stdout).toContain("task.json[0]  ok\n");
  expect(ran.stdout.split("\n").at(-2)).toBe("OK"); // of the brief
});
