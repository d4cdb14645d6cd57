import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { changedAfter, findWorkTree } from "../../src/host/worktree.ts";

const hasGit = Bun.which("git") !== null;
const INSTANT = "2026-01-01T12:00:00Z";
const NOWHERE = { except: "/nowhere" };
const before = new Date("2026-01-01T11:00:00Z");
const after = new Date("2026-01-01T13:00:00Z");

const roots: string[] = [];
afterAll(() => {
  for (const root of roots) rmSync(root, { recursive: true, force: true });
});

let tree: string;

function git(cwd: string, ...args: string[]): void {
  const words = ["git", "-C", cwd, "-c", "user.name=t", "-c", "user.email=t@t", ...args];
  const { exitCode, stderr } = Bun.spawnSync(words);
  if (exitCode !== 0) throw new Error(stderr.toString());
}

function newTree(): string {
  const root = mkdtempSync(join(tmpdir(), "writ-tree-"));
  roots.push(root);
  git(root, "init", "-q");
  return root;
}

function file(path: string, at: Date, root = tree): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), "text\n");
  utimesSync(join(root, path), at, at);
}

describe.skipIf(!hasGit)("changedAfter() (needs git)", () => {
  beforeEach(() => {
    tree = newTree();
  });

  test("names tracked and untracked files that are newer, and neither older nor ignored ones", () => {
    file("tracked-new", after);
    file("tracked-old", before);
    file(".gitignore", before);
    writeFileSync(join(tree, ".gitignore"), "*.log\nbuild/\n");
    utimesSync(join(tree, ".gitignore"), before, before);
    git(tree, "add", ".");
    git(tree, "commit", "-qm", "first");
    file("untracked-new", after);
    file("untracked-old", before);
    file("some.log", after);
    file("build/out", after);
    file("src/deep/new", after);
    const changed = changedAfter(tree, INSTANT, NOWHERE);
    expect([...changed].sort()).toEqual(["src/deep/new", "tracked-new", "untracked-new"]);
  });

  test("names paths from the root of the tree, whichever of its folders is asked", () => {
    file("src/a/one", after);
    file("two", after);
    expect(changedAfter(join(tree, "src", "a"), INSTANT, NOWHERE)).toEqual(["src/a/one", "two"]);
  });

  test("names files whose names need quoting elsewhere", () => {
    const names = [" lead", "a b", "new\nline", "tab\t", 'quote"', "é🗸", "-dash"].sort();
    for (const name of names.slice(0, 4)) file(name, after);
    expect([...changedAfter(tree, INSTANT, NOWHERE)].sort()).toEqual(names.slice(0, 4));
    for (const name of names.slice(0, 4)) unlinkSync(join(tree, name));
    for (const name of names.slice(4)) file(name, after);
    expect([...changedAfter(tree, INSTANT, NOWHERE)].sort()).toEqual(names.slice(4));
  });

  test("counts the second of the instant as before: the run itself may have written in it", () => {
    file("within", new Date("2026-01-01T12:00:00.999Z"));
    file("behind", new Date("2026-01-01T12:00:01.000Z"));
    expect(changedAfter(tree, INSTANT, NOWHERE)).toEqual(["behind"]);
  });

  test("names five at most", () => {
    for (let number = 0; number < 9; number++) file(`f${number}`, after);
    expect(changedAfter(tree, INSTANT, NOWHERE)).toEqual(["f0", "f1", "f2", "f3", "f4"]);
  });

  test("looks at a link itself, not at what it points to", () => {
    const outside = newTree();
    file("target", after, outside);
    symlinkSync(join(outside, "target"), join(tree, "link"));
    // The link was made now, which is before the instant of this question.
    expect(changedAfter(tree, "2100-01-01T00:00:00Z", NOWHERE)).toEqual([]);
    symlinkSync("nowhere", join(tree, "dangling"));
    expect(changedAfter(tree, "2000-01-01T00:00:00Z", NOWHERE)).toEqual(["dangling", "link"]);
  });

  test("passes over files that are tracked and gone, and repositories inside", () => {
    file("gone", after);
    git(tree, "add", ".");
    unlinkSync(join(tree, "gone"));
    mkdirSync(join(tree, "inner"));
    git(join(tree, "inner"), "init", "-q");
    file("inner/file", after);
    expect(changedAfter(tree, INSTANT, NOWHERE)).toEqual([]);
    expect(changedAfter(join(tree, "inner"), INSTANT, NOWHERE)).toEqual(["file"]);
  });

  test("does not count the files of the data folder, by whichever path it is named", () => {
    file("data/writ.db", after);
    file("database", after);
    const other = newTree();
    symlinkSync(join(tree, "data"), join(other, "alias"));
    expect(changedAfter(tree, INSTANT, { except: join(tree, "data") })).toEqual(["database"]);
    expect(changedAfter(tree, INSTANT, { except: join(other, "alias") })).toEqual(["database"]);
  });

  test("finds the tree by the folder, not by the variables that git sets in its hooks", () => {
    file("here", after);
    const other = newTree();
    file("elsewhere", after, other);
    const script = `import { changedAfter, findWorkTree } from ${JSON.stringify(join(import.meta.dir, "../../src/host/worktree.ts"))};
      console.log(JSON.stringify(changedAfter(process.argv[2], ${JSON.stringify(INSTANT)}, { except: "/nowhere" })));`;
    file("ask.ts", before, other);
    writeFileSync(join(other, "ask.ts"), script);
    const { stdout } = Bun.spawnSync([process.execPath, join(other, "ask.ts"), tree], {
      env: { ...process.env, GIT_DIR: join(other, ".git"), GIT_WORK_TREE: other, GIT_INDEX_FILE: join(other, "index") },
    });
    expect(stdout.toString()).toBe('["here"]\n');
  });

  test("is empty in a folder that is in no tree, is not there, or for an instant that is none", () => {
    const bare = mkdtempSync(join(tmpdir(), "writ-bare-"));
    roots.push(bare);
    file("new", after, bare);
    expect(changedAfter(bare, INSTANT, NOWHERE)).toEqual([]);
    expect(changedAfter(join(bare, "gone"), INSTANT, NOWHERE)).toEqual([]);
    file("new", after);
    expect(changedAfter(tree, "yesterday", NOWHERE)).toEqual([]);
  });

  test("is empty for a tree of more than 20,000 files", () => {
    // Entries of the index whose files are not there count as well, and cost no file each.
    const blob = Bun.spawnSync(["git", "-C", tree, "hash-object", "-w", "--stdin"], { stdin: new Uint8Array() });
    const id = blob.stdout.toString().trim();
    const index = (count: number) => {
      const lines = Array.from({ length: count }, (_, number) => `100644 ${id}\tmany/${number}\n`).join("");
      const { exitCode } = Bun.spawnSync(["git", "-C", tree, "update-index", "--index-info"], {
        stdin: new TextEncoder().encode(lines),
      });
      expect(exitCode).toBe(0);
    };
    file("new", after);
    index(19_999);
    expect(changedAfter(tree, INSTANT, NOWHERE)).toEqual(["new"]);
    index(20_000);
    expect(changedAfter(tree, INSTANT, NOWHERE)).toEqual([]);
  });
});

test("changedAfter() is empty where there is no git on PATH", () => {
  const folder = mkdtempSync(join(tmpdir(), "writ-no-git-"));
  roots.push(folder);
  const path = process.env.PATH;
  process.env.PATH = folder;
  try {
    expect(changedAfter(folder, INSTANT, NOWHERE)).toEqual([]);
  } finally {
    process.env.PATH = path;
  }
});

describe("findWorkTree()", () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "writ-find-")));
  roots.push(folder);
  mkdirSync(join(folder, "tree", ".git"), { recursive: true });
  mkdirSync(join(folder, "tree", "src", "deep"), { recursive: true });
  mkdirSync(join(folder, "linked"));
  writeFileSync(join(folder, "linked", ".git"), "gitdir: elsewhere\n"); // a work tree of its own, or a submodule

  test.each([
    { asked: "tree", found: "tree" },
    { asked: "tree/src/deep", found: "tree" },
    { asked: "linked", found: "linked" },
    { asked: ".", found: null },
  ])("finds $found from $asked", ({ asked, found }) => {
    expect(findWorkTree(join(folder, asked))).toBe(found === null ? null : join(folder, found));
  });
});
