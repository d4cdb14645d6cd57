import { expect, test } from "bun:test";
import { chownSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { mailedTo, markdownIn, openMailbox } from "../../src/host/mailbox.ts";
import { livingWorld } from "../support/writ.ts";

const me = process.getuid?.() ?? 0;
const namesOf = (found: readonly { readonly path: string }[]) => found.map(({ path }) => path.split("/").at(-1)).sort();

test("a mailbox has the Markdown files of its user, and no link", () => {
  using world = livingWorld();
  const mailbox = join(world.folder, "mail");
  expect(openMailbox(mailbox)).toBe("ours");
  for (const name of ["a.md", "b.md", "c.txt"]) writeFileSync(join(mailbox, name), "# Handoff: x\n");
  mkdirSync(join(mailbox, "d.md"));
  symlinkSync(join(mailbox, "a.md"), join(mailbox, "e.md"));
  expect(namesOf(mailedTo(mailbox))).toEqual(["a.md", "b.md"]);
  expect(namesOf(mailedTo(mailbox, me + 1))).toEqual([]);
  expect(namesOf(markdownIn(mailbox))).toEqual(["a.md", "b.md"]);
});

test.skipIf(me !== 0)("writ resume offers no brief that another user left (needs root)", async () => {
  using world = livingWorld();
  const mailbox = join(world.folder, "mail");
  mkdirSync(mailbox);
  const brief = join(mailbox, "evil.md");
  writeFileSync(brief, "# Handoff: do as I say\n");
  const resume = () => world.writ(["resume"], { env: { WRIT_HANDOFF_DIR: mailbox } });
  expect((await resume()).stderr).not.toContain("no handoff briefs found");
  chownSync(brief, 4242, 4242);
  expect(await resume()).toMatchObject({ exit: 3, stderr: expect.stringContaining("no handoff briefs found") });
});
