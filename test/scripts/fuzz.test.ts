import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Draw } from "../../scripts/fuzz/draw.ts";
import { decode, encode, mutate } from "../../scripts/fuzz/mutate.ts";
import { Trier } from "../../scripts/fuzz/run.ts";
import { TARGETS } from "../../scripts/fuzz/targets.ts";
import { TARGETS as FAULTY } from "../support/fuzz-targets.ts";

const ROOT = join(import.meta.dir, "../..");
const PAGE = readFileSync(join(ROOT, "docs/fuzzing.md"), "utf8");

function faulty(name: string) {
  const target = FAULTY.find((each) => each.name === name);
  if (target === undefined) throw new Error(`there is no target "${name}"`);
  return target;
}

async function faultsOf(name: string, inputs: number, growth = true) {
  using trier = new Trier(new URL("../support/fuzz-targets.ts", import.meta.url).href);
  return (await trier.run(faulty(name), { seed: 1, inputs, minutes: 10, growth })).faults;
}

describe("what is drawn", () => {
  const corpus = ['{"a":[1,"two",null]}', "# a\n\n- b\n"].map((text) => new TextEncoder().encode(text));
  const kit = { corpus, words: ["word"], max_bytes: 4096 };
  const mutant = (seed: number) => mutate(new Draw(seed), corpus[seed % 2] ?? new Uint8Array(), kit);

  test("is the same for the same seed, within the bound, and seldom the same for another", () => {
    const mutants = Array.from({ length: 400 }, (_, seed) => Buffer.from(mutant(seed)).toString("latin1"));
    expect(mutants).toEqual(mutants.map((_, seed) => Buffer.from(mutant(seed)).toString("latin1")));
    expect(Math.max(...mutants.map(({ length }) => length))).toBeLessThanOrEqual(kit.max_bytes);
    expect(new Set(mutants).size).toBeGreaterThan(300);
  });

  test("half of a pair goes through bytes and comes back", () => {
    for (const text of ["a\ud800b", "\udc00", "\ud83d\ude00", "\ude00\ud83d", "é\ud83d"])
      expect(decode(encode(text))).toBe(text);
  });
});

describe("the trier", () => {
  test("finds nothing where nothing is", async () => {
    expect(await faultsOf("sound", 300)).toEqual([]);
  });

  test("tells what does not hold with its seed, and cuts the input down to it", async () => {
    const [found] = await faultsOf("broken", 300);
    expect(found?.fault).toBe('no text has a bracket that is closed at once\n  text: "[]"');
    expect(await faulty("broken").attempt(found?.seed ?? 0)).toEqual([found?.fault ?? ""]);
  });

  test("leaves no file behind, also where a worker was ended", async () => {
    const trier = new Trier();
    const [list] = TARGETS.filter(({ name }) => name === "task-list");
    if (list === undefined) throw new Error("there is no such target");
    await trier.run(list, { seed: 1, inputs: 2, minutes: 10, growth: false });
    expect(readdirSync(trier.folder)).toHaveLength(1);
    trier[Symbol.dispose]();
    expect(existsSync(trier.folder)).toBe(false);
  });

  test("ends an input that hangs, and tells of its seed", async () => {
    const [found] = await faultsOf("hangs", 100_000, false);
    expect(found?.fault).toBe("hangs: it is not through after 0.5 s");
    expect(faulty("hangs").show(found?.seed ?? 0)).toContain("__proto__");
  });

  test("accuses what takes four times as long for twice as much, and not what takes twice as long", async () => {
    const [found] = await faultsOf("square", 1);
    expect(found?.fault).toStartWith("time grows faster than the input: ");
    expect(await faultsOf("linear", 20)).toEqual([]);
  });
});

describe("docs/fuzzing.md", () => {
  test("has every target, and no other", () => {
    const told = [...PAGE.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, name]) => name);
    expect(told.toSorted()).toEqual(TARGETS.map(({ name }) => name).toSorted());
  });

  test("names no file that is not there", () => {
    const files = new Set(readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" }));
    const named = [...PAGE.matchAll(/`([a-z-]+(?:\/[a-z-]+)*\.ts)`/g)].map(([, path]) => path ?? "");
    expect(named.length).toBeGreaterThan(15);
    expect(named.filter((path) => !files.has(path))).toEqual([]);
  });
});
