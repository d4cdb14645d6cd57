import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { environmentFacts } from "../../src/host/environment.ts";
import { listPrograms, programFinder } from "../../src/host/program.ts";

const root = mkdtempSync(join(tmpdir(), "writ-programs-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const home = join(root, "home");
const own = join(home, "bin");
const system = join(root, "system");
for (const folder of [own, system, join(root, "home-of-another")]) mkdirSync(folder, { recursive: true });

function program(folder: string, name: string, mode = 0o755): void {
  writeFileSync(join(folder, name), "#!/bin/sh\n", { mode });
}

program(own, "zeta");
program(own, "alpha");
program(own, "notes.txt", 0o644);
mkdirSync(join(own, "folder"));
symlinkSync(join(own, "alpha"), join(own, "link"));
symlinkSync(join(own, "nowhere"), join(own, "dangling"));
program(system, "git");
program(system, "bun");
program(system, "make", 0o644);
program(system, "uncommon");
program(system, "alpha");
program(join(root, "home-of-another"), "stranger");

const PATH = ["", own, join(root, "gone"), system, own, join(root, "home-of-another")].join(delimiter);

describe("programFinder()", () => {
  const isProgram = programFinder({ PATH });

  test.each(["zeta", "link", "git", "uncommon"])("finds %s", (word) => {
    expect(isProgram(word)).toBe(true);
  });

  test.each([
    "notes.txt", // not executable
    "make",
    "folder",
    "dangling",
    "nothing",
    "",
    ".",
    "..",
    "bin/zeta",
    "../home/bin/zeta",
    "git\0",
    "git\\x",
    "GIT",
  ])("finds no %j", (word) => {
    expect(isProgram(word)).toBe(false);
  });

  test("finds nothing without a PATH", () => {
    expect(programFinder({})("sh")).toBe(false);
    expect(programFinder({ PATH: "" })("sh")).toBe(false);
  });

  test("looks a word up once", () => {
    const find = programFinder({ PATH: system });
    expect(find("late")).toBe(false);
    program(system, "late");
    expect(find("late")).toBe(false);
    expect(programFinder({ PATH: system })("late")).toBe(true);
  });
});

describe("listPrograms()", () => {
  test("names what lies under the user's home first, by name, then the common tools that are there", () => {
    expect(listPrograms({ PATH }, home)).toEqual(["alpha", "link", "zeta", "bun", "git"]);
    expect(listPrograms({ PATH }, `${home}/`)).toEqual(["alpha", "link", "zeta", "bun", "git"]);
  });

  test("names a common tool once that is the user's own", () => {
    const mine = join(home, "tools");
    mkdirSync(mine);
    program(mine, "git");
    expect(listPrograms({ PATH: [mine, system].join(delimiter) }, home)).toEqual(["git", "bun"]);
  });

  test("names no user's own where there is no home", () => {
    expect(listPrograms({ PATH }, "")).toEqual(["bun", "git"]);
  });

  test("keeps at most a thousand of the user's own", () => {
    const many = join(home, "many");
    mkdirSync(many);
    for (let number = 0; number < 1_005; number++) program(many, `p${String(number).padStart(4, "0")}`);
    const names = listPrograms({ PATH: many }, home);
    expect(names.length).toBe(1_000);
    expect(names.at(-1)).toBe("p0999");
  });
});

describe("environmentFacts()", () => {
  test("tells the machine, the path of writ and the programs", () => {
    expect(environmentFacts({ PATH: system }, home)).toEqual({
      platform: process.platform,
      architecture: process.arch,
      writ: process.execPath,
      programs: ["bun", "git"],
    });
  });
});
