/** Every command that docs/hooks.md shows is typed here, in the order of the page. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { livingWorld } from "../support/writ.ts";

const page = readFileSync(join(import.meta.dir, "..", "..", "docs", "hooks.md"), "utf8");
const blocks = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map((match) => match[1] ?? "");

test("every command of the page ends in 0", async () => {
  expect(blocks.length).toBeGreaterThan(5);
  using world = livingWorld();
  const id = await world.born();
  for (const block of blocks) {
    const ran = await world.shell(`set -e -o pipefail\n${block}`, { env: { WRIT_CONTRACT_ID: id } });
    expect({ block, ...ran }).toMatchObject({ exit: 0 });
  }
});

test("the page shows every form of the commands of the group", () => {
  for (const words of ["hooks install claude-code", "hooks uninstall claude-code", "hooks print codex", "doctor"]) {
    expect(blocks.join("")).toContain(`writ ${words}`);
  }
});
