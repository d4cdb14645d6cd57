import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { findViolations } from "../../scripts/arrows.ts";

let root = "";
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "writ-arrows-"));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** What is wrong in a made-up tree, as file:line: message. */
function violationsOf(files: Readonly<Record<string, string>>): readonly string[] {
  const tree = mkdtempSync(join(root, "tree-"));
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(tree, file)), { recursive: true });
    writeFileSync(join(tree, file), text);
  }
  return findViolations(tree).map(({ file, line, message }) => `${file}:${line}: ${message}`);
}

/** A tree that keeps every rule; each case adds one file to it. */
const SOUND = {
  "main.ts": 'import { run } from "./cli/run.ts";\nrun();\n',
  "cli/run.ts":
    'import { open } from "../store/open.ts";\nimport { edit } from "../editor/edit.ts";\nexport const run = () => edit(open());\n',
  "mcp/server.ts": 'import { edit } from "../editor/edit.ts";\nexport { edit };\n',
  "editor/edit.ts":
    'import type { A } from "../core/a.ts";\nimport { near } from "./near.ts";\nexport const edit = (a: A) => near(a);\n',
  "editor/near.ts": "export const near = (a: unknown) => a;\n",
  "record/keep.ts": "export const keep = 1;\n",
  "store/open.ts":
    'import { Database } from "bun:sqlite";\nimport "node:fs";\nimport type { A } from "../core/a.ts";\nexport const open = (): A => new Database(process.argv[2]) as never;\n',
  "host/clock.ts": "export const now = () => Date.now();\n",
  "core/a.ts": 'import * as v from "valibot";\nimport { b } from "./b.ts";\nexport type A = typeof v & typeof b;\n',
  "core/b.ts": [
    "// Bun.hash and Date.now() in a comment, also /* process.env */",
    "export const b = \"Bun.version, import('../cli/run.ts')\";",
    `export const c = \`process.env \${b} new Date()\`;`,
    "export const d = new Date(0);",
    "export const e = { process: 1 }.process + 2;",
    "export const f = /[\"'`]Math.random()/;",
    "export const g = (at: Date) => at;",
    "const text = 'import x from \"../cli/run.ts\"';",
    "export { text };",
  ].join("\n"),
};

describe("findViolations()", () => {
  test("finds none in a sound tree, whatever its comments and strings say", () => {
    expect(violationsOf(SOUND)).toEqual([]);
  });

  test.each([
    { file: "core/x.ts", line: 1, text: 'import { open } from "../store/open.ts";', says: "core imports store" },
    { file: "core/x.ts", line: 1, text: 'import type { A } from "../editor/edit.ts";', says: "core imports editor" },
    { file: "core/x.ts", line: 1, text: 'import { readFileSync } from "node:fs";', says: 'core imports "node:fs"' },
    { file: "core/x.ts", line: 1, text: 'import "bun:sqlite";', says: 'core imports "bun:sqlite"' },
    { file: "core/x.ts", line: 1, text: 'import colors from "picocolors";', says: 'core imports "picocolors"' },
    { file: "core/x.ts", line: 1, text: 'import { version } from "../../package.json";', says: "from outside src" },
    {
      file: "core/x.ts",
      line: 3,
      text: 'export const x = async () =>\n  // late\n  await import("node:os");',
      says: 'core imports "node:os"',
    },
    {
      file: "core/x.ts",
      line: 4,
      text: 'export {\n  open,\n  open as other,\n} from "../store/open.ts";',
      says: "core imports store",
    },
    { file: "core/x.ts", line: 2, text: "\nexport const x = Bun.hash('a');", says: "core uses the Bun global" },
    { file: "core/x.ts", line: 1, text: "export const x = process.env.HOME;", says: "core uses process" },
    { file: "core/x.ts", line: 1, text: "export const x = globalThis;", says: "core uses globalThis" },
    { file: "core/x.ts", line: 1, text: `export const x = \`at \${Date.now()}\`;`, says: "core uses Date.now" },
    { file: "core/x.ts", line: 1, text: "export const x = [1].map(Date.now);", says: "core uses Date.now" },
    { file: "core/x.ts", line: 1, text: "export const x = new Date();", says: "core uses new Date()" },
    { file: "core/x.ts", line: 1, text: "export const x = new Date;", says: "core uses new Date()" },
    { file: "core/x.ts", line: 1, text: "export const x = Math.random();", says: "core uses Math.random" },
    {
      file: "editor/x.ts",
      line: 1,
      text: 'import { keep } from "../record/keep.ts";',
      says: "workflow editor imports record",
    },
    {
      file: "editor/x.ts",
      line: 1,
      text: 'import { open } from "../store/open.ts";',
      says: "workflow editor imports store",
    },
    { file: "editor/x.ts", line: 1, text: 'import { run } from "../cli/run.ts";', says: "workflow editor imports cli" },
    { file: "editor/x.ts", line: 1, text: 'import "node:fs";', says: "workflow editor imports the machine" },
    { file: "editor/x.ts", line: 1, text: 'import * as v from "valibot";', says: "workflow editor imports a library" },
    {
      file: "store/x.ts",
      line: 1,
      text: 'import { now } from "../host/clock.ts";',
      says: "adapter store imports host",
    },
    {
      file: "store/x.ts",
      line: 1,
      text: 'import { near } from "../editor/near.ts";',
      says: "adapter store imports editor",
    },
    { file: "store/x.ts", line: 1, text: 'import { run } from "../cli/run.ts";', says: "adapter store imports cli" },
    { file: "cli/x.ts", line: 1, text: 'import "../main.ts";', says: "cli imports main" },
    { file: "core/utils/x.ts", line: 1, text: "export {};", says: '"utils" is no room' },
    { file: "store/helpers.ts", line: 1, text: "export {};", says: '"helpers" is no room' },
    { file: "lib/x.ts", line: 1, text: "export {};", says: '"lib" is no room' },
    { file: "common/x.ts", line: 1, text: "export {};", says: '"common" is no room' },
    { file: "core/contract/types.ts", line: 1, text: "export {};", says: '"types.ts" is no room' },
    { file: "office/x.ts", line: 1, text: "export {};", says: '"office" is not on the map' },
    {
      file: "core/x.ts",
      line: 1,
      text: 'import type { X } from "./x.ts";',
      says: "circle of imports: core/x.ts -> core/x.ts",
    },
  ])("finds that $says ($file: $text)", ({ file, line, text, says }) => {
    const found = violationsOf({ ...SOUND, [file]: text });
    expect(found).toHaveLength(1);
    expect(found[0]).toStartWith(`${file}:${line}: `);
    expect(found[0]).toContain(says);
  });

  test("finds a circle of types over three files, once", () => {
    const found = violationsOf({
      ...SOUND,
      "core/p.ts": 'import type { Q } from "./q.ts";\nexport type P = Q;',
      "core/q.ts": 'import type { R } from "./r.ts";\nexport type Q = R;',
      "core/r.ts": 'export type R = import("./p.ts").P;',
    });
    expect(found).toEqual(["core/r.ts:1: circle of imports: core/p.ts -> core/q.ts -> core/r.ts -> core/p.ts"]);
  });

  test("finds a circle that a late import closes", () => {
    const found = violationsOf({
      ...SOUND,
      "cli/p.ts": 'export const p = () => import("./q.ts");',
      "cli/q.ts": 'import { p } from "./p.ts";\nexport const q = p;',
    });
    expect(found).toEqual(["cli/q.ts:1: circle of imports: cli/p.ts -> cli/q.ts -> cli/p.ts"]);
  });
});

describe("scripts/arrows.ts", () => {
  const script = join(import.meta.dir, "..", "..", "scripts", "arrows.ts");

  test("prints each violation with its file and line and ends in 1", () => {
    const tree = mkdtempSync(join(root, "run-"));
    mkdirSync(join(tree, "core"));
    writeFileSync(join(tree, "core", "x.ts"), "\nexport const x = Math.random();\n");
    const ran = Bun.spawnSync([process.execPath, script, tree], { cwd: tree });
    expect(ran.exitCode).toBe(1);
    expect(ran.stdout.toString()).toBe("core/x.ts:2: core uses Math.random\n");
  });

  test("ends in 2 when there is no such folder", () => {
    expect(Bun.spawnSync([process.execPath, script, join(root, "nowhere")]).exitCode).toBe(2);
  });

  test("ends in 1 when there is nothing to look at: an empty folder proves nothing", () => {
    const empty = mkdtempSync(join(root, "empty-"));
    expect(Bun.spawnSync([process.execPath, script, empty]).exitCode).not.toBe(0);
  });
});
