import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { type AppliedPatch, applyPatch, type PatchOptions } from "../../src/host/apply-patch.ts";
import { interruptible } from "../../src/host/interrupt.ts";
import { makeTree, patchOf, readTree, sorted, type Tree, treePair } from "../support/patch-trees.ts";

const top = realpathSync(mkdtempSync(join(tmpdir(), "writ-apply-test-")));
afterAll(() => rmSync(top, { recursive: true, force: true }));
let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(top, "tree-"));
});

const encoder = new TextEncoder();
const apply = (diff: string, options?: PatchOptions) => applyPatch(folder, encoder.encode(diff), options);

function reasons(applied: AppliedPatch): readonly string[] {
  return applied.ok ? [] : applied.refusals.map(({ file, reason }) => `${file}: ${reason}`);
}

/** Everything below a folder; Bun's own recursive listing walks through links. */
function namesIn(place: string, inside = ""): readonly string[] {
  const names = readdirSync(join(place, inside), { withFileTypes: true }).flatMap((entry) => {
    const name = join(inside, entry.name);
    return entry.isDirectory() ? [name, ...namesIn(place, name)] : [name];
  });
  return names.sort();
}

const BEFORE: Tree = { "src/a.ts": "1\n2\n3\n", "src/b.ts": "x\n", "keep me": "k" };
const AFTER: Tree = { "src/a.ts": "1\ntwo\n3\n", "src/b.ts": "y\n", "new/deep/c": "c", "keep me": "k" };
const DIFF = patchOf(BEFORE, AFTER).diff;

describe("applyPatch()", () => {
  beforeEach(() => makeTree(folder, BEFORE));

  test("writes every file and says which, and leaves nothing beside them", async () => {
    const applied = await apply(DIFF);
    expect(applied.ok ? applied.files.map(({ path }) => path) : applied.refusals).toEqual([
      "new/deep/c",
      "src/a.ts",
      "src/b.ts",
    ]);
    expect(readTree(folder)).toEqual(sorted(AFTER));
  });

  test("keeps the mode of a file, and makes a new one 0644 where the mask allows it", async () => {
    chmodSync(join(folder, "src/a.ts"), 0o751);
    expect(reasons(await apply(DIFF))).toEqual([]);
    expect(statSync(join(folder, "src/a.ts")).mode & 0o777).toBe(0o751);
    expect(statSync(join(folder, "new/deep/c")).mode & 0o777).toBe(0o644 & ~process.umask());
  });

  test("takes files away that a patch deletes", async () => {
    expect(reasons(await apply(patchOf(BEFORE, { "keep me": "k" }).diff))).toEqual([]);
    expect(readTree(folder)).toEqual({ "keep me": "k" });
  });

  test("writes nothing in a dry run", async () => {
    expect(await apply(DIFF, { dryRun: true })).toMatchObject({ ok: true, files: [{}, {}, {}] });
    expect(readTree(folder)).toEqual(sorted(BEFORE));
    expect(readdirSync(folder).sort()).toEqual(["keep me", "src"]);
  });

  test("holds paths against a write root", async () => {
    expect(reasons(await apply(DIFF, { writeRoot: "src" }))).toEqual([
      'new/deep/c: the path "new/deep/c" is outside of the write root "src"',
    ]);
  });

  test("takes a folder that is reached through a link", async () => {
    symlinkSync(folder, `${folder}-link`);
    expect(await applyPatch(`${folder}-link`, encoder.encode(DIFF))).toMatchObject({ ok: true });
    expect(readTree(folder)).toEqual(sorted(AFTER));
  });

  test("leaves another name of the same file alone", async () => {
    linkSync(join(folder, "src/a.ts"), join(folder, "other"));
    expect(reasons(await apply(DIFF))).toEqual([]);
    expect(readFileSync(join(folder, "other"), "utf8")).toBe("1\n2\n3\n");
  });

  test.each<{ what: string; plant: () => void; says: readonly string[] }>([
    {
      what: "a parent is a link",
      plant: () => {
        renameSync(join(folder, "src"), join(folder, "moved"));
        symlinkSync("moved", join(folder, "src"));
      },
      says: ['src/a.ts: "src" is a link', 'src/b.ts: "src" is a link'],
    },
    {
      what: "a parent of a new file is a link that leads outside",
      plant: () => symlinkSync(top, join(folder, "new")),
      says: ['new/deep/c: "new" is a link'],
    },
    {
      what: "a parent is a file",
      plant: () => writeFileSync(join(folder, "new"), ""),
      says: ['new/deep/c: "new" is a file, no folder'],
    },
    {
      what: "the file is a link",
      plant: () => {
        renameSync(join(folder, "src/b.ts"), join(folder, "moved"));
        symlinkSync("../moved", join(folder, "src/b.ts"));
      },
      says: ['src/b.ts: "src/b.ts" is a link'],
    },
    {
      what: "the file is a pipe",
      plant: () => {
        rmSync(join(folder, "src/b.ts"));
        Bun.spawnSync(["mkfifo", join(folder, "src/b.ts")]);
      },
      says: ["src/b.ts: it is no regular file"],
    },
    {
      what: "the file is a folder",
      plant: () => mkdirSync(join(folder, "new/deep/c"), { recursive: true }),
      says: ["new/deep/c: it is no regular file"],
    },
    {
      what: "a dangling link is where a new file is due",
      plant: () => {
        mkdirSync(join(folder, "new/deep"), { recursive: true });
        symlinkSync("nowhere", join(folder, "new/deep/c"));
      },
      says: ['new/deep/c: "new/deep/c" is a link'],
    },
    {
      what: "a folder is there in other letters",
      plant: () => mkdirSync(join(folder, "New")),
      says: ['new/deep/c: "new" differs from "New" in case or Unicode form alone'],
    },
    {
      what: "one file of three has moved on",
      plant: () => writeFileSync(join(folder, "src/b.ts"), "z\n"),
      says: ['src/b.ts: line 1 of the file is "z", and "x" is due'],
    },
  ])("leaves every file as it was when $what", async ({ plant, says }) => {
    plant();
    const before = namesIn(folder);
    expect(reasons(await apply(DIFF))).toEqual([...says]);
    expect(namesIn(folder)).toEqual(before);
    const kept = join(folder, before.includes("moved/a.ts") ? "moved/a.ts" : "src/a.ts");
    expect(readFileSync(kept, "utf8")).toBe("1\n2\n3\n");
  });

  test.each([1, 2, 3])("puts everything back when rename %p fails, with the modes", async (fails) => {
    chmodSync(join(folder, "src/a.ts"), 0o640);
    let count = 0;
    const rename = (from: string, to: string) => {
      count += 1;
      if (count === fails) throw new Error("EIO: i/o error, rename");
      renameSync(from, to);
    };
    const applied = await apply(DIFF, { rename });
    expect(reasons(applied)).toEqual([
      `${["new/deep/c", "src/a.ts", "src/b.ts"][fails - 1]}: EIO: i/o error; nothing was changed`,
    ]);
    expect(readTree(folder)).toEqual(sorted(BEFORE));
    expect(readdirSync(folder).sort()).toEqual(["keep me", "src"]);
    expect(lstatSync(join(folder, "src/a.ts")).mode & 0o777).toBe(0o640);
  });

  test("names what it could not put back", async () => {
    let count = 0;
    const rename = (from: string, to: string) => {
      count += 1;
      if (count > 2) throw new Error("EIO: i/o error, rename");
      renameSync(from, to);
    };
    expect(reasons(await apply(DIFF, { rename }))).toEqual([
      'src/b.ts: EIO: i/o error; and these could not be put back: "src/a.ts"',
    ]);
  });

  test("does not replace a file that somebody else changed meanwhile", async () => {
    const rename = (from: string, to: string) => {
      if (to.endsWith("/c")) writeFileSync(join(folder, "src/b.ts"), "theirs\n");
      renameSync(from, to);
    };
    expect(reasons(await apply(DIFF, { rename }))).toEqual([
      "src/b.ts: it changed while the patch was applied; nothing was changed",
    ]);
    expect(readTree(folder)).toEqual(sorted({ ...BEFORE, "src/b.ts": "theirs\n" }));
  });

  test.each([0, 1, 2])("leaves nothing when it is asked to stop with %p files staged", async (staged) => {
    const stop = new AbortController();
    // Looks in each turn of the event loop, as a signal may come in each.
    const look = () => {
      const there = namesIn(folder).filter((name) => name.endsWith(".tmp"));
      if (there.length >= staged) stop.abort(new Error("asked"));
      else setImmediate(look);
    };
    look();
    const ended = await apply(DIFF, { signal: stop.signal }).catch((error: unknown) => error);
    expect(ended).toBe(stop.signal.reason);
    expect(readTree(folder)).toEqual(sorted(BEFORE));
    expect(readdirSync(folder).sort()).toEqual(["keep me", "src"]);
  });

  test("ends what it began when a signal comes between two renames, and the listener knows of it", async () => {
    using interrupt = interruptible();
    const rename = (from: string, to: string) => {
      if (to.endsWith("/a.ts")) process.kill(process.pid, "SIGHUP");
      renameSync(from, to);
    };
    expect(reasons(await apply(DIFF, { rename, signal: interrupt.signal }))).toEqual([]);
    expect(interrupt.received()).toEqual({ name: "SIGHUP", status: 129 });
    expect(readTree(folder)).toEqual(sorted(AFTER));
  });

  test("goes on where a killed call had come to, sweeps what that had staged, and fits no third time", async () => {
    const ended = Bun.spawn(["true"]);
    await ended.exited;
    writeFileSync(join(folder, "src/a.ts"), AFTER["src/a.ts"] ?? "");
    writeFileSync(join(folder, `src/.writ-${ended.pid}-0123456789abcdef.tmp`), "y\n");
    const applied = await apply(DIFF);
    expect(applied.ok && [...applied.already]).toEqual(["src/a.ts"]);
    expect(readTree(folder)).toEqual(sorted(AFTER));
    expect(reasons(await apply(DIFF))).toHaveLength(3);
  });

  test("refuses what is no patch, and a folder that is none", async () => {
    expect(await apply("prose\n")).toMatchObject({ ok: false, patch: null, refusals: [{ file: null, line: 1 }] });
    const nowhere = join(folder, "nowhere");
    expect(reasons(await applyPatch(nowhere, encoder.encode(DIFF)))).toEqual([`null: "${nowhere}" is no folder`]);
    expect(reasons(await applyPatch(join(folder, "keep me"), encoder.encode(DIFF)))[0]).toContain("is no folder");
  });
});

test("applyPatch() makes the new tree of the old one, whatever the trees", async () => {
  await fc.assert(
    fc.asyncProperty(treePair({ deletes: true }), async ([before, after]) => {
      const { diff } = patchOf(before, after);
      if (diff === "") return;
      const place = mkdtempSync(join(top, "any-"));
      makeTree(place, before);
      expect(reasons(await applyPatch(place, encoder.encode(diff)))).toEqual([]);
      expect(readTree(place)).toEqual(sorted(after));
    }),
    { numRuns: 40 },
  );
});
