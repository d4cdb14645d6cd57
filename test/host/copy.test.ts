import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { WritError } from "../../src/core/error.ts";
import type { FreshCopy } from "../../src/core/prove/fresh-copy.ts";
import { type CopyOptions, copyFolder } from "../../src/host/copy.ts";
import { outsideOfGit } from "../../src/host/git-call.ts";

const top = realpathSync(mkdtempSync(join(tmpdir(), "writ-copy-test-")));
afterAll(() => rmSync(top, { recursive: true, force: true }));
let source = "";
beforeEach(() => {
  source = mkdtempSync(join(top, "tree-"));
});

const noGit = Bun.which("git") === null;

/** Makes files; a text that begins with "-> " is a link. */
function make(files: Readonly<Record<string, string>>, root = source): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    if (text.startsWith("-> ")) symlinkSync(text.slice(3), join(root, path));
    else writeFileSync(join(root, path), text);
  }
}

/** All files and links under a folder, as `make` takes them; an empty folder has the text "/". */
function tree(root: string, inside = ""): Record<string, string> {
  // Bun's own recursive listing walks through links.
  const names = readdirSync(join(root, inside)).toSorted();
  if (names.length === 0 && inside !== "") return { [inside]: "/" };
  const found: Record<string, string> = {};
  for (const name of names) {
    const path = inside === "" ? name : `${inside}/${name}`;
    const stat = lstatSync(join(root, path));
    if (stat.isSymbolicLink()) found[path] = `-> ${readlinkSync(join(root, path))}`;
    else if (stat.isFile()) found[path] = readFileSync(join(root, path), "utf8");
    else Object.assign(found, tree(root, path));
  }
  return found;
}

function git(...args: readonly string[]): string {
  const config = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"];
  const ran = Bun.spawnSync(["git", "-C", source, ...config, ...args], { env: outsideOfGit(process.env) });
  if (!ran.success) throw new Error(ran.stderr.toString());
  return ran.stdout.toString().trim();
}

async function copyOf(folder = source, more: Partial<CopyOptions> = {}): Promise<FreshCopy> {
  return await copyFolder(folder, { signal: new AbortController().signal, onProgress: () => {}, ...more });
}

async function refusalOf(copying: Promise<FreshCopy>): Promise<WritError> {
  const error = await copying.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (error instanceof WritError) return error;
  throw new Error(`it was not refused: ${error}`);
}

describe("copyFolder() of a folder", () => {
  test("copies all of it, with permissions, times and empty folders, and removes it again", async () => {
    make({ "a.txt": "a", "deep/down/b.sh": "b", ".hidden": "h", empty: "" });
    mkdirSync(join(source, "none"));
    chmodSync(join(source, "deep/down/b.sh"), 0o755);
    chmodSync(join(source, "a.txt"), 0o444);
    utimesSync(join(source, "a.txt"), 1_000_000, 2_000_000);
    const copy = await copyOf();
    expect(copy).toMatchObject({
      kind: "folder",
      source,
      commit: null,
      dirty: null,
      files: 4,
      bytes: 3,
      skipped: [],
      ignored: [],
    });
    expect(tree(copy.root)).toEqual(tree(source));
    expect(copy.folder).toBe(copy.root);
    expect(statSync(join(copy.root, "deep/down/b.sh")).mode & 0o777).toBe(0o755);
    expect(statSync(join(copy.root, "a.txt")).mode & 0o777).toBe(0o644); // its owner, the proof, may write it
    expect(statSync(join(copy.root, "a.txt")).mtimeMs).toBe(2_000_000_000);
    expect(copy.remove()).toBeNull();
    expect(existsSync(dirname(copy.root))).toBe(false);
    expect(tree(source)["a.txt"]).toBe("a");
  });

  test("keeps links inside it as they are, and nothing written through them reaches the original", async () => {
    make({
      "real/file": "old",
      link: "-> real/file",
      "sub/up": "-> ../real",
      dangling: "-> none/../nowhere",
      self: "-> self",
    });
    const copy = await copyOf();
    expect(tree(copy.root)).toEqual(tree(source));
    writeFileSync(join(copy.root, "link"), "new");
    writeFileSync(join(copy.root, "sub/up/more"), "new");
    expect(readFileSync(join(source, "real/file"), "utf8")).toBe("old");
    expect(existsSync(join(source, "real/more"))).toBe(false);
    copy.remove();
  });

  test.each([
    { what: "to an absolute path", files: { link: "-> /etc/passwd" }, named: "link" },
    { what: "above it", files: { link: "-> .." }, named: "link" },
    { what: "above it and back", files: { "d/link": "-> ../../x/y" }, named: "d/link" },
    { what: "above it, to nothing", files: { link: "-> ../nowhere" }, named: "link" },
    // Read as a text, "d/e/x/../.." is "d"; followed, it is above the root.
    {
      what: "through another link",
      files: { "d/e/x": "-> ../../s", "s/f": "", link: "-> d/e/x/../.." },
      named: "link",
    },
    { what: "through a folder that is not there", files: { link: "-> none/../.." }, named: "link" },
  ])("refuses a link that leaves it $what", async ({ files, named }) => {
    make(files as unknown as Record<string, string>);
    const before = readdirSync(tmpdir()).filter((name) => name.startsWith("writ-prove-"));
    const { code, message } = await refusalOf(copyOf());
    expect(code).toBe("copy_failed");
    expect(message).toContain(`the link "${named}" leaves it`);
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith("writ-prove-"))).toEqual(before);
  });

  test("refuses an absolute link back into the original", async () => {
    make({ a: "a", link: `-> ${join(source, "a")}` });
    expect((await refusalOf(copyOf())).message).toContain('the link "link" leaves it');
  });

  test("leaves out named pipes, sockets and a .git file that leads elsewhere, and says so", async () => {
    make({ a: "a", ".git": "gitdir: /elsewhere\n", "sub/.git": "gitdir: ../../x\n" });
    Bun.spawnSync(["mkfifo", join(source, "pipe")]);
    using server = Bun.serve({ unix: join(source, "socket"), fetch: () => new Response() });
    const copy = await copyOf();
    expect(copy.skipped.toSorted()).toEqual([
      ".git: it leads to a repository elsewhere",
      "pipe: a named pipe",
      "socket: a socket",
      "sub/.git: it leads to a repository elsewhere",
    ]);
    expect(tree(copy.root)).toEqual({ a: "a", sub: "/" });
    copy.remove();
    await server.stop(true);
  });

  test.each([
    {
      what: "files",
      limits: { files: 2, bytes: 100 },
      why: "its tree has more than 2 files, too much for a fresh copy",
    },
    { what: "bytes", limits: { files: 9, bytes: 2 }, why: "its tree has more than 0 MiB, too much for a fresh copy" },
  ])("refuses too many $what", async ({ limits, why }) => {
    make({ a: "1", b: "2", "c/d": "3" });
    const { code, message } = await refusalOf(copyOf(source, { limits }));
    expect([code, message]).toEqual([
      "copy_failed",
      `Cannot make a fresh copy of "${source}": ${why}; nothing was run`,
    ]);
  });

  test("copies what just fits", async () => {
    make({ a: "1", b: "2" });
    const copy = await copyOf(source, { limits: { files: 2, bytes: 2 } });
    expect(copy.files).toBe(2);
    copy.remove();
  });

  test.each([
    { what: "that is not there", path: "none", why: "it is not there" },
    { what: "below a file", path: "file/x", why: "it is not there" },
    { what: "that is a file", path: "file", why: "it is no folder" },
  ])("refuses a folder $what", async ({ path, why }) => {
    make({ file: "" });
    expect((await refusalOf(copyOf(join(source, path)))).message).toContain(why);
  });

  test("a name that a shell would read more into becomes another one; a plain one stays", async () => {
    const odd = join(source, "my app; rm");
    make({ "my app; rm/a": "a", "plain-1.2/a": "a" });
    const copies = [await copyOf(odd), await copyOf(join(source, "plain-1.2"))];
    expect(copies.map(({ root }) => root.split("/").at(-1))).toEqual(["copy", "plain-1.2"]);
    for (const copy of copies) copy.remove();
  });

  test("ends when it is told to, with the reason, and leaves nothing", async () => {
    make(Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`f${index}`, "x"])));
    const controller = new AbortController();
    const reason = new Error("enough");
    const before = readdirSync(tmpdir()).filter((name) => name.startsWith("writ-prove-"));
    const copying = copyOf(source, {
      signal: controller.signal,
      onProgress: (text) => {
        if (text.startsWith("copying: 10 ")) controller.abort(reason);
      },
    });
    expect(await copying.catch((error: unknown) => error)).toBe(reason);
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith("writ-prove-"))).toEqual(before);
  });

  test("a copy whose folders were closed is removed all the same", async () => {
    make({ "a/b/c": "" });
    const copy = await copyOf();
    chmodSync(join(copy.root, "a/b"), 0o000);
    chmodSync(join(copy.root, "a"), 0o500);
    expect(copy.remove()).toBeNull();
    expect(existsSync(copy.root)).toBe(false);
  });

  test("its removal goes through no link that was made in it", async () => {
    make({ "a/b": "", "kept/file": "k" });
    const copy = await copyOf(join(source, "a"));
    symlinkSync(join(source, "kept"), join(copy.root, "out"));
    mkdirSync(join(copy.root, "shut"), { mode: 0o000 });
    symlinkSync(join(source, "kept"), join(copy.root, "out2"));
    expect(copy.remove()).toBeNull();
    expect(tree(source)).toEqual({ "a/b": "", "kept/file": "k" });
  });

  test("any tree of files is the same tree in the copy", async () => {
    const name = fc.stringMatching(/^[a-z .$'é-]{1,4}$/).filter((one) => one !== "." && one !== "..");
    const paths = fc.dictionary(
      fc.array(name, { minLength: 1, maxLength: 3 }).map((all) => all.join("/")),
      fc.string(),
      {
        maxKeys: 6,
      },
    );
    await fc.assert(
      fc.asyncProperty(paths, async (files) => {
        const root = mkdtempSync(join(source, "tree-"));
        for (const [path, text] of Object.entries(files)) {
          try {
            make({ [path]: `.${text}` }, root);
          } catch {
            // a file where another path has a folder
          }
        }
        const copy = await copyOf(root);
        expect(tree(copy.root)).toEqual(tree(root));
        copy.remove();
      }),
      { numRuns: 30 },
    );
  });
});

describe.skipIf(noGit)("copyFolder() of a git work tree (needs git)", () => {
  test("copies the present state: tracked and untracked files as they are, not what is ignored or deleted", async () => {
    make({ ".gitignore": "built/\n*.log\n", "a.txt": "a", "gone.txt": "g", "sub/run.sh": "r", link: "-> a.txt" });
    chmodSync(join(source, "sub/run.sh"), 0o755);
    git("init");
    git("add", "-A");
    git("commit", "-m", "one");
    make({ "a.txt": "changed", "new.txt": "n", "built/out": "o", "x.log": "l" });
    rmSync(join(source, "gone.txt"));
    const copy = await copyOf();
    expect(copy).toMatchObject({
      kind: "git",
      source,
      commit: git("rev-parse", "HEAD"),
      dirty: true,
      files: 5,
      skipped: [],
      ignored: ["built/", "x.log"],
    });
    expect(tree(copy.root)).toEqual({
      ".gitignore": "built/\n*.log\n",
      "a.txt": "changed",
      link: "-> a.txt",
      "new.txt": "n",
      "sub/run.sh": "r",
    });
    expect(statSync(join(copy.root, "sub/run.sh")).mode & 0o777).toBe(0o755);
    copy.remove();
  });

  test("a folder in a work tree brings the whole tree, and is found in it", async () => {
    make({ "a.txt": "a", "sub/b.txt": "b" });
    git("init");
    git("add", "-A");
    git("commit", "-m", "one");
    const copy = await copyOf(join(source, "sub"));
    expect(copy).toMatchObject({ kind: "git", source, dirty: false, ignored: [] });
    expect(copy.folder).toBe(join(copy.root, "sub"));
    expect(tree(copy.root)).toEqual({ "a.txt": "a", "sub/b.txt": "b" });
    copy.remove();
  });

  test("before the first commit there is no commit, and the tree is dirty", async () => {
    make({ a: "a" });
    git("init");
    const copy = await copyOf();
    expect(copy).toMatchObject({ kind: "git", commit: null, dirty: true, files: 1 });
    copy.remove();
  });

  test("a folder that git ignores is copied as a folder", async () => {
    make({ ".gitignore": "out\n", "a.txt": "a", "out/b.txt": "b" });
    git("init");
    const copy = await copyOf(join(source, "out"));
    expect(copy).toMatchObject({ kind: "folder", source: join(source, "out"), files: 1 });
    copy.remove();
  });

  test("a tracked folder that became a link is the link, and nothing behind it", async () => {
    make({ "d/file": "tracked", "e/file": "elsewhere" });
    git("init");
    git("add", "-A");
    git("commit", "-m", "one");
    rmSync(join(source, "d"), { recursive: true });
    symlinkSync("e", join(source, "d"));
    const copy = await copyOf();
    expect(tree(copy.root)).toEqual({ d: "-> e", "e/file": "elsewhere" });
    writeFileSync(join(copy.root, "d/file"), "new");
    expect(readFileSync(join(source, "e/file"), "utf8")).toBe("elsewhere");
    copy.remove();
  });

  test("a repository inside comes with its files, without its .git", async () => {
    make({ "a.txt": "a", "inner/b.txt": "b", "inner/.gitignore": "c\n", "inner/c": "c" });
    git("init");
    git("init", "inner");
    const copy = await copyOf();
    expect(tree(copy.root)).toEqual({ "a.txt": "a", "inner/.gitignore": "c\n", "inner/b.txt": "b" });
    copy.remove();
  });

  test("names with blanks, quotes, new lines and letters of other scripts are kept", async () => {
    make({ 'a "b"\n\t$c é 日本': "x" });
    git("init");
    const copy = await copyOf();
    expect(tree(copy.root)).toEqual({ 'a "b"\n\t$c é 日本': "x" });
    copy.remove();
  });

  test("a name that is no UTF-8 is left out aloud", async () => {
    make({ a: "a" });
    const odd = Buffer.concat([Buffer.from(`${source}/`), Buffer.from([0x62, 0xff])]);
    writeFileSync(odd, "x");
    git("init");
    const copy = await copyOf();
    expect(copy.skipped).toEqual(["b\ufffd: its name is no UTF-8"]);
    copy.remove();
    rmSync(odd);
  });

  test("the variables of a git hook do not lead it to another repository", async () => {
    make({ a: "a" });
    git("init");
    process.env.GIT_DIR = join(source, "none");
    try {
      const copy = await copyOf();
      expect(copy.kind).toBe("git");
      copy.remove();
    } finally {
      delete process.env.GIT_DIR;
    }
  });
});
