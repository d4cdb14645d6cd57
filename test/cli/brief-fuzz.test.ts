/**
 * Whatever a brief or a plan holds, the executable answers: one document, a status of its table, never a defect. The inputs are real
 * briefs and plans with bytes changed, lines moved and parts doubled, and random bytes.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { PLAN, PLAN_PATH, SPEC } from "../support/greeting.ts";
import { openResuming } from "../support/resuming.ts";
import { documentOf, shown } from "../support/writ.ts";

/** Dozens of processes, and the machine may be busy. */
setDefaultTimeout(300_000);

const RUNS = Number(process.env.WRIT_FUZZ_RUNS ?? 12);

const world = openResuming();
let brief = "";
beforeAll(async () => {
  world.flow();
  brief = readFileSync(await world.handoff("x", "--decision", "keep\nit", "--skill", "handoff"), "utf8");
});
afterAll(() => world[Symbol.dispose]());

const NASTY = [
  "```", "## Process state", "legs:", "- repo: a", "PR: a/b#1", "\u0000", "\r\n", "\u202e", "→", "✓ [0] ", "  ", "Ledger: ../../x", "{a,{b,", "[[[", "**/**",
  "`".repeat(5), "| - |", '§ "x" L1-L9', "- `x`", "\ufeff", "9".repeat(40), "# Ledger - loop engine\n", "**Spec:** `..`", "worktree: yes /", "x".repeat(70_000),
]; // biome-ignore format: a list

/** One change of a text, at places given as parts of its length. */
const change = fc.record({
  kind: fc.constantFrom("insert", "delete", "double", "swap", "byte" as const),
  from: fc.double({ min: 0, max: 1, noNaN: true }),
  to: fc.double({ min: 0, max: 1, noNaN: true }),
  nasty: fc.oneof(fc.constantFrom(...NASTY), fc.string({ unit: "binary", maxLength: 12 })),
  byte: fc.nat(255),
});
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

function changed(bytes: Buffer, { kind, from, to, nasty, byte }: Change): Buffer {
  const lines = bytes.toString("latin1").split("\n");
  const at = Math.floor(from * lines.length);
  const end = Math.min(lines.length, at + 1 + Math.floor(to * 4));
  const joined = (all: readonly string[]) => Buffer.from(all.join("\n"), "latin1");
  switch (kind) {
    case "insert": {
      const place = Math.floor(from * bytes.length);
      return Buffer.concat([bytes.subarray(0, place), Buffer.from(nasty), bytes.subarray(place)]);
    }
    case "delete":
      return joined([...lines.slice(0, at), ...lines.slice(end)]);
    case "double":
      return joined([...lines.slice(0, end), ...lines.slice(at)]);
    case "swap": {
      const other = Math.floor(to * lines.length);
      const copy = [...lines];
      [copy[at], copy[other]] = [lines[other] ?? "", lines[at] ?? ""];
      return joined(copy);
    }
    case "byte": {
      const copy = Buffer.from(bytes);
      if (copy.length > 0) copy[Math.floor(from * copy.length) % copy.length] = byte;
      return copy;
    }
  }
}

const changes = fc.array(change, { minLength: 1, maxLength: 4 });
const noise = fc.uint8Array({ maxLength: 2_000 }).map((bytes) => Buffer.from(bytes));

function mutated(start: () => string) {
  const text = changes.map((all) => (): Buffer => all.reduce(changed, Buffer.from(start())));
  const behindTitle = noise.map((bytes) => () => Buffer.concat([Buffer.from("# Handoff: x\n"), bytes]));
  return fc.oneof(
    { weight: 6, arbitrary: text },
    { weight: 1, arbitrary: behindTitle },
    { weight: 1, arbitrary: noise.map((bytes) => () => bytes) },
  );
}

const FILE = join(world.folder, "input.md");
const STATUSES = new Set([0, 1, 2, 3, 4]);

async function answers(words: readonly string[]): Promise<void> {
  const [json, plain] = await Promise.all([world.writ([...words, "--json"]), world.writ(words)]);
  const said = `${words.join(" ")}\n${shown(json)}${shown(plain)}`;
  expect(STATUSES.has(json.exit), said).toBe(true);
  expect(plain.exit, said).toBe(json.exit);
  expect(documentOf(json).ok, said).toBe(json.exit === 0);
  expect(`${json.stderr}${plain.stdout}${plain.stderr}`, said).not.toMatch(
    /\n\s+at .+:\d+:\d+\)?$|\$bunfs|internal error/m,
  );
  // A terminal sees no control sequence that a file brought.
  expect(`${plain.stdout}${plain.stderr}`, said.slice(0, 2_000)).not.toMatch(
    /[\u0000-\u0008\u000b-\u001f\u007f\u0080-\u009f]/,
  );
}

test("any brief is checked, shown and planned without a defect", async () => {
  await fc.assert(
    fc.asyncProperty(
      mutated(() => brief),
      async (input) => {
        writeFileSync(FILE, input());
        await answers(["brief", "check", FILE]);
        await answers(["brief", "show", FILE]);
        await answers(["resume", "--plan-only", FILE, world.tree.path]);
      },
    ),
    { numRuns: RUNS, endOnFailure: true },
  );
});

test("any plan is checked against any spec without a defect", async () => {
  const plan = join(world.tree.path, PLAN_PATH);
  const spec = join(world.tree.path, "doc/specs/other.md");
  await fc.assert(
    fc.asyncProperty(
      mutated(() => PLAN),
      mutated(() => SPEC),
      async (plans, specs) => {
        writeFileSync(plan, plans());
        writeFileSync(spec, specs());
        await answers(["plan", "check", plan, "--spec", spec]);
        await answers(["plan", "check", plan]);
      },
    ),
    { numRuns: RUNS, endOnFailure: true },
  );
});

test("what is no file is told", async () => {
  const folder = join(world.folder, "folder.md");
  mkdirSync(folder);
  const before = readdirSync(folder);
  for (const path of [folder, "/dev/null", join(FILE, "below"), "n".repeat(5_000), ""]) {
    await answers(["brief", "check", path]);
    await answers(["plan", "check", path]);
    await answers(["resume", "--plan-only", path]);
  }
  expect(readdirSync(folder)).toEqual(before);
});
