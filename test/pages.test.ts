import { expect, test } from "bun:test";
import { join } from "node:path";
import { checkPage } from "../scripts/session.ts";

const PAGES = [
  "README.md",
  "docs/context.md",
  "docs/delegation-contracts.md",
  "docs/guide-agents.md",
  "docs/guide-operators.md",
];

test.each(PAGES)(
  "every command that %s shows prints what the page says",
  async (page) => {
    expect(await checkPage(join(import.meta.dir, "..", page))).toEqual([]);
  },
  60_000,
);
