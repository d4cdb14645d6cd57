/** How wide help and tables are, where they go to a real terminal and where they do not. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { EXAMPLES } from "../../src/cli/tree.ts";
import { openScreen } from "../support/screen.ts";
import { type LivingWorld, livingWorld, writCommand } from "../support/writ.ts";

let world: LivingWorld;
/** A turn with a write that is wider than a narrow terminal. */
let turn = "";
beforeAll(async () => {
  world = livingWorld();
  await world.born();
  turn = await world.born();
  await world.writ(["contract", "set", "conclusion", "Told in more words than forty columns hold", "--draft-id", turn]);
});
afterAll(() => world[Symbol.dispose]());

/** What a terminal of so many columns shows, without the marks of colour. */
async function screenOf(args: readonly string[], columns: number, env: Record<string, string> = {}) {
  const screen = openScreen([...writCommand(), ...args], {
    env: world.env({ TERM: "xterm", ...env }),
    cwd: world.folder,
    columns,
  });
  const exit = await screen.ended;
  return { exit, lines: Bun.stripANSI(screen.text()).replaceAll("\r", "").trimEnd().split("\n") };
}

const EXAMPLE_LINES = new Set(EXAMPLES.map((example) => `  ${example}`));
/** Words that no page can break. */
const isOneWord = (line: string) => !/\S\s/.test(line.trim());

describe.skipIf(process.platform === "win32")("on a terminal", () => {
  test.each([
    { columns: 120, env: {}, widest: 100 },
    { columns: 40, env: {}, widest: 40 },
    { columns: 20, env: {}, widest: 20 },
    { columns: 120, env: { COLUMNS: "40" }, widest: 40 },
    { columns: 40, env: { COLUMNS: "100" }, widest: 100 },
    { columns: 40, env: { COLUMNS: "wide" }, widest: 40 },
  ])("help is laid out for its $columns columns with $env", async ({ columns, env, widest }) => {
    const root = await screenOf(["--help"], columns, env);
    const set = await screenOf(["contract", "validate", "--help"], columns, env);
    const lines = [...root.lines, ...set.lines].filter(
      (line) => !EXAMPLE_LINES.has(line) && !line.startsWith("  writ contract validate") && !isOneWord(line),
    );
    const longest = Math.max(...lines.map((line) => line.length));
    expect(longest).toBeLessThanOrEqual(widest);
    expect(longest).toBeGreaterThan(widest - 15);
    for (const example of EXAMPLE_LINES) expect(root.lines).toContain(example);
    expect([root.exit, set.exit]).toEqual([0, 0]);
  });

  test("help on standard error takes the width of standard error", async () => {
    const { exit, lines } = await screenOf(["contract"], 30);
    expect(exit).toBe(2);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(30);
  });

  test("what is told line by line keeps to a narrow terminal, but for single words", async () => {
    const log = await screenOf(["contract", "log", "--draft-id", turn], 40);
    const doctor = await screenOf(["doctor"], 40);
    const lines = [...log.lines, ...doctor.lines];
    expect(lines.filter((line) => line.length > 40 && !isOneWord(line))).toEqual([]);
    expect(log.lines.join(" ").replaceAll(/ +/g, " ")).toContain('"Told in more words than forty columns hold"');
    expect(doctor.lines.at(-1)).toMatch(/\.$/);
  });

  test("a table that fits is a table, and one that does not is one block a row", async () => {
    const wide = await screenOf(["contract", "list"], 200);
    expect(wide.lines[0]).toMatch(/^id +created_at .* contract_id$/);
    expect(wide.lines).toHaveLength(4);
    const narrow = await screenOf(["contract", "list"], 80);
    expect(narrow.lines.filter((line) => /^id {17}\d$/.test(line))).toEqual([
      "id                 2",
      "id                 1",
    ]);
    expect(narrow.lines.filter((line) => line === "")).toHaveLength(2);
    expect(narrow.lines.at(-1)).toBe("2 handoff(s).");
    expect((await screenOf(["contract", "list"], 80, { COLUMNS: "200" })).lines).toEqual(wide.lines);
    expect((await screenOf(["contract", "list"], 200, { COLUMNS: "80" })).lines).toEqual(narrow.lines);
  });
});

describe("in a pipe", () => {
  test.each([
    { args: ["contract", "list"] },
    { args: ["contract", "show", "1"] },
    { args: ["contract", "chain", "--contract-id", "TURN"] },
    { args: ["contract", "log", "--draft-id", "TURN"] },
  ])("$args is as wide as what it tells, whatever COLUMNS says", async ({ args }) => {
    const words = args.map((word) => (word === "TURN" ? turn : word));
    const narrow = await world.writ(words, { env: { COLUMNS: "20" } });
    expect(narrow.exit).toBe(0);
    expect(narrow).toEqual(await world.writ(words));
  });
});
