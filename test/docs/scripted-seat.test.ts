import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ERROR_NAMES } from "../../src/core/scripted/named-error.ts";
import { readScript } from "../../src/core/scripted/read-script.ts";
import { ENFORCED, ReplyShape, ScriptShape, STATES, WhenShape } from "../../src/core/scripted/script.ts";
import { livingWorld } from "../support/writ.ts";

const page = readFileSync(join(import.meta.dir, "..", "..", "docs", "scripted-seat.md"), "utf8");
const blocks = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map((match) => match[1] ?? "");

/** The words in code that the first cells of the tables have. */
const named = new Set(
  [...page.matchAll(/^\| ([^|]*) \|/gm)].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, word]) => word),
  ),
);

test.each([
  { what: "the script", words: Object.keys(ScriptShape.entries) },
  { what: "a condition", words: Object.keys(WhenShape.entries) },
  {
    what: "a reply",
    words: Object.keys(ReplyShape.entries).filter((key) => key !== "retry_after" && key !== "forever"),
  },
  { what: "a cut", words: ["length", "refuse", "no_end", "drop", "reset", "hang"] },
  { what: "a state", words: [...STATES] },
  { what: "enforce", words: [...ENFORCED] },
  { what: "an error", words: [...ERROR_NAMES] },
])("docs/scripted-seat.md has a row for each word of $what", ({ words }) => {
  expect(words.filter((word) => !named.has(word))).toEqual([]);
});

test("the script that it shows makes sense", () => {
  const text = /^cat > clamp\.script\.json <<'END'\n([\s\S]*?)^END$/m.exec(page)?.[1] ?? "";
  expect(readScript(new TextEncoder().encode(text))).toMatchObject({ ok: true });
});

test("the whole example works as it is typed", async () => {
  using world = livingWorld();
  const ran = await world.shell(`set -e -o pipefail\n${blocks.join("\n")}`);
  if (ran.exit !== 0) throw new Error(`It ended in ${ran.exit}:\n${ran.stdout}\n${ran.stderr}`);
  expect(ran.stderr).not.toContain("never used");
  const turns = [...ran.stdout.matchAll(/"turn":"([^"]*)"/g)].map((match) => match[1] ?? "");
  expect(turns).toEqual(["busy-first", "edit", "cut-once", "say", "fields"]);
  expect(existsSync(join(world.folder, "result.json"))).toBe(true);
  const result = JSON.parse(readFileSync(join(world.folder, "result.json"), "utf8"));
  expect(result.results).toMatchObject([{ status: "succeeded", scripted: true, diff_files: ["clamp.ts"] }]);
}, 120_000);
