import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { WritError } from "../../src/core/error.ts";
import { writeSet } from "../../src/core/patch/write-set.ts";
import type { Refusal, Workspace } from "../../src/core/seat/workspace.ts";
import { jobFolder, sweepJobFolders } from "../../src/host/job-folder.ts";

const top = realpathSync(mkdtempSync(join(tmpdir(), "writ-job-test-")));
afterAll(() => rmSync(top, { recursive: true, force: true }));

const JOB = "wrt-5f0c9a31b7e24d6688aa01c2";
let work = "";
let job: Workspace;
beforeEach(() => {
  work = join(mkdtempSync(join(top, "state-")), "work");
  job = jobFolder(work, JOB);
});

const ctx = (...path: string[]) => join(work, JOB, "ctx", ...path);
const bytes = (text: string) => new TextEncoder().encode(text);
const mode = (path: string) => lstatSync(path).mode & 0o777;
const textAt = (...path: string[]) => readFileSync(ctx(...path), "utf8");

function fill(files: Readonly<Record<string, string>> = {}): void {
  job.fill(Object.entries(files).map(([name, text]) => ({ name, text })));
}

/** What a call was refused with. */
function refused(answer: { readonly ok: true } | Refusal): string {
  return answer.ok ? "it was not refused" : `${answer.kind}: ${answer.message}`;
}

function thrownBy(act: () => void): Partial<WritError> {
  try {
    act();
  } catch (error) {
    return error as WritError;
  }
  return {};
}

function pipeAt(path: string): void {
  Bun.spawnSync(["mkfifo", path]);
  expect(lstatSync(path).isFIFO()).toBe(true);
}

describe("fill()", () => {
  test("writes each document at exactly its name, for nobody else to read", () => {
    fill({ "src/port.ts": "x\r\n", "a b": "é", "src/deep/down": "" });
    expect(textAt("src", "port.ts")).toBe("x\r\n");
    expect(textAt("a b")).toBe("é");
    expect(textAt("src", "deep", "down")).toBe("");
    for (const folder of [work, join(work, JOB), ctx(), ctx("src"), ctx("src", "deep")])
      expect(mode(folder)).toBe(0o700);
    for (const file of [ctx("src", "port.ts"), ctx("a b")]) expect(mode(file)).toBe(0o600);
  });

  test.each([
    { what: "leaves the folder", names: ["../x"] },
    { what: "is absolute", names: ["/tmp/x"] },
    { what: "is a device's", names: ["nul.txt"] },
    { what: "is that of another in other letters", names: ["a", "A"] },
    { what: "is a folder of another", names: ["a", "a/b"] },
  ])("makes nothing where a name $what", ({ names }) => {
    expect(thrownBy(() => job.fill(names.map((name) => ({ name, text: "x" }))))).toMatchObject({
      code: "job_folder_failed",
    });
    expect(existsSync(join(work, JOB))).toBe(false);
  });

  test("begins anew in a folder that a dead process left", () => {
    mkdirSync(ctx("old"), { recursive: true });
    writeFileSync(join(work, JOB, "owner"), "1\n");
    fill({ a: "x" });
    expect(readdirSync(ctx())).toEqual(["a"]);
  });

  test("leaves a folder alone that is worked in", () => {
    fill({ a: "x" });
    expect(thrownBy(() => jobFolder(work, JOB).fill([]))).toMatchObject({ code: "job_folder_failed" });
    expect(textAt("a")).toBe("x");
  });

  test("fails where nothing can be made, and leaves nothing", () => {
    writeFileSync(work, "a file in its place");
    expect(thrownBy(() => fill({ a: "x" }))).toMatchObject({ code: "job_folder_failed" });
    expect(readFileSync(work, "utf8")).toBe("a file in its place");
  });
});

describe("list(), read() and walk()", () => {
  beforeEach(() => fill({ "b.txt": "text", "a/x": "1", "a/y/z": "2", "\ue000": "3", "😀": "4" }));

  test("see files and folders in the order of the names' bytes", () => {
    expect(job.list(".")).toEqual({
      ok: true,
      entries: [
        { name: "a", kind: "folder" },
        { name: "b.txt", kind: "file" },
        { name: "\ue000", kind: "file" },
        { name: "😀", kind: "file" },
      ],
    });
    expect(job.list("./a/")).toMatchObject({ ok: true, entries: [{ name: "x" }, { name: "y", kind: "folder" }] });
    expect(job.walk(".")).toEqual({ ok: true, paths: ["a/x", "a/y/z", "b.txt", "\ue000", "😀"] });
    expect(job.walk("a\\y")).toEqual({ ok: true, paths: ["a/y/z"] });
    expect(job.walk("b.txt")).toEqual({ ok: true, paths: ["b.txt"] });
    expect(job.read("./b.txt")).toEqual({ ok: true, bytes: bytes("text") });
  });

  test.each([
    ["..", 'refused: the path ".." has a segment ".."'],
    ["/etc", 'refused: the path "/etc" is absolute; paths are relative to the root, "."'],
    ["no/such", 'failed: there is no "no/such"'],
    ["b.txt/x", 'refused: "b.txt" is a file, no folder'],
  ])("say of %p: %p", (path, says) => {
    for (const answer of [job.list(path), job.read(path), job.walk(path)]) expect(refused(answer)).toBe(says);
  });

  test("say what something is that is not what was asked for", () => {
    expect(refused(job.read("a"))).toBe('failed: "a" is a folder, no file');
    expect(refused(job.list("b.txt"))).toBe('failed: "b.txt" is a file, no folder');
  });

  test("read at most 16 MiB", () => {
    writeFileSync(ctx("large"), "");
    truncateSync(ctx("large"), 16 * 1024 * 1024);
    expect(job.read("large")).toMatchObject({ ok: true, bytes: { length: 16 * 1024 * 1024 } });
    truncateSync(ctx("large"), 16 * 1024 * 1024 + 1);
    expect(refused(job.read("large"))).toBe('failed: "large" is larger than 16 MiB');
  });

  test("neither see nor follow links and special files", async () => {
    const outside = mkdtempSync(join(top, "outside-"));
    writeFileSync(join(outside, "secret"), "secret");
    symlinkSync(join(outside, "secret"), ctx("link"));
    symlinkSync(outside, ctx("a", "folder"));
    symlinkSync("b.txt", ctx("inner"));
    symlinkSync("nowhere", ctx("dangling"));
    pipeAt(ctx("a", "pipe"));
    const socket = Bun.listen({ unix: ctx("s"), socket: { data() {} } });
    expect(job.walk(".")).toEqual({ ok: true, paths: ["a/x", "a/y/z", "b.txt", "\ue000", "😀"] });
    expect(job.list("a")).toMatchObject({ entries: [{ name: "x" }, { name: "y" }] });
    expect(refused(job.read("link"))).toBe('refused: "link" is a link');
    expect(refused(job.read("inner"))).toBe('refused: "inner" is a link');
    expect(refused(job.read("dangling"))).toBe('refused: "dangling" is a link');
    expect(refused(job.read("a/folder/secret"))).toBe('refused: "a/folder" is a link');
    expect(refused(job.list("a/folder"))).toBe('refused: "a/folder" is a link');
    expect(refused(job.read("a/pipe"))).toBe('failed: "a/pipe" is a named pipe, no file');
    expect(refused(job.walk("a/pipe"))).toBe('failed: "a/pipe" is a named pipe');
    expect(refused(job.read("s"))).toBe('failed: "s" is a socket, no file');
    socket.stop(true);
  });
});

describe("write()", () => {
  beforeEach(() => fill({ "src/a.ts": "old", "README.md": "x" }));

  test("creates and replaces files, with the folders that they need", () => {
    expect(job.write("./src//new/b.ts", bytes("n"), "src")).toEqual({ ok: true, path: "src/new/b.ts" });
    expect(job.write("src\\a.ts", bytes("longer than before"), "src")).toEqual({ ok: true, path: "src/a.ts" });
    expect(job.write("src/a.ts", bytes("s"), ".")).toEqual({ ok: true, path: "src/a.ts" });
    expect([textAt("src", "new", "b.ts"), textAt("src", "a.ts")]).toEqual(["n", "s"]);
    expect([mode(ctx("src", "new")), mode(ctx("src", "new", "b.ts")), mode(ctx("src", "a.ts"))]).toEqual([
      0o700, 0o600, 0o600,
    ]);
    expect(readdirSync(join(work, JOB)).sort()).toEqual(["ctx", "owner"]);
  });

  test.each([
    ["README.md", 'refused: the path "README.md" is outside of the write root "src"'],
    ["../x", 'refused: the path "../x" has a segment ".."'],
    ["src/.git/config", 'refused: the path "src/.git/config" has the segment ".git", which is Git\'s own'],
    ["src/nul", 'refused: the path "src/nul" has a segment that names the device "nul"'],
    ['src/"x"', `refused: the path "src/"x"" contains the character '"'`],
    ["src", 'refused: the path "src" is outside of the write root "src"'],
    ["src/A.ts", 'refused: "src/A.ts" differs from "src/a.ts" in case or Unicode form alone'],
    ["src/a.ts/b", 'refused: "src/a.ts" is a file, no folder'],
  ])("does not write %p: %p", (path, says) => {
    expect(refused(job.write(path, bytes("w"), "src"))).toBe(says);
    expect(job.walk(".")).toEqual({ ok: true, paths: ["README.md", "src/a.ts"] });
    expect(textAt("src", "a.ts")).toBe("old");
  });

  test("takes folders that differ in case alone for one, and names in two Unicode forms", () => {
    expect(refused(job.write("SRC/b", bytes("w"), "."))).toBe(
      'refused: "SRC" differs from "src" in case or Unicode form alone',
    );
    expect(job.write("src/é", bytes("w"), ".")).toMatchObject({ ok: true });
    expect(refused(job.write("src/e\u0301", bytes("w"), "."))).toContain("Unicode form alone");
  });

  test("does not follow a link, wherever it leads", () => {
    const outside = mkdtempSync(join(top, "outside-"));
    writeFileSync(join(outside, "target"), "untouched");
    symlinkSync(join(outside, "target"), ctx("src", "link"));
    symlinkSync(join(outside, "fresh"), ctx("src", "dangling"));
    symlinkSync(outside, ctx("src", "folder"));
    for (const path of ["src/link", "src/dangling", "src/folder/target", "src/folder/fresh"]) {
      expect(refused(job.write(path, bytes("w"), "src"))).toContain("is a link");
    }
    expect(readdirSync(outside)).toEqual(["target"]);
    expect(readFileSync(join(outside, "target"), "utf8")).toBe("untouched");
  });

  test("does not write to what is no regular file", () => {
    pipeAt(ctx("src", "pipe"));
    mkdirSync(ctx("src", "folder"));
    expect(refused(job.write("src/pipe", bytes("w"), "src"))).toBe('refused: "src/pipe" is a named pipe, no file');
    expect(refused(job.write("src/folder", bytes("w"), "src"))).toBe('refused: "src/folder" is a folder, no file');
  });

  test.skipIf(process.getuid?.() !== 0)("does not write to a device, nor read it (as root)", () => {
    Bun.spawnSync(["mknod", ctx("src", "zero"), "c", "1", "5"]);
    if (!lstatSync(ctx("src", "zero")).isCharacterDevice()) throw new Error("mknod made no device");
    expect(refused(job.write("src/zero", bytes("w"), "src"))).toBe('refused: "src/zero" is a device, no file');
    expect(refused(job.read("src/zero"))).toBe('failed: "src/zero" is a device, no file');
    expect([...job.snapshot(".").keys()]).toEqual(["README.md", "src/a.ts"]);
  });

  test("leaves a file alone that has a second name outside", () => {
    writeFileSync(join(top, "second"), "untouched");
    linkSync(join(top, "second"), ctx("src", "hard"));
    expect(job.write("src/hard", bytes("w"), "src")).toMatchObject({ ok: true });
    expect(readFileSync(join(top, "second"), "utf8")).toBe("untouched");
  });

  test("that fails leaves the old file, and no folder that was made for it", () => {
    mkdirSync(join(work, JOB, "staged"));
    writeFileSync(join(work, JOB, "staged", "x"), "in the way");
    const answers = [job.write("src/a.ts", bytes("w"), "."), job.write("src/new/b", bytes("w"), ".")];
    for (const answer of answers) expect(answer).toMatchObject({ ok: false, kind: "failed" });
    expect(textAt("src", "a.ts")).toBe("old");
    expect(readdirSync(ctx("src"))).toEqual(["a.ts"]);
  });
});

describe("makeRoot()", () => {
  beforeEach(() => fill({ "src/a": "x", file: "x" }));

  test("makes what is missing, and takes what is there", () => {
    for (const root of [".", "src", "work/deep"]) expect(job.makeRoot(root)).toEqual({ ok: true });
    expect(mode(ctx("work", "deep"))).toBe(0o700);
  });

  test("takes nothing but a real folder", () => {
    symlinkSync("src", ctx("link"));
    expect(refused(job.makeRoot("file"))).toBe('refused: "file" is a file, no folder');
    expect(refused(job.makeRoot("file/x"))).toBe('refused: "file" is a file, no folder');
    expect(refused(job.makeRoot("link"))).toBe('refused: "link" is a link');
    expect(refused(job.makeRoot("Src"))).toBe('refused: "Src" differs from "src" in case or Unicode form alone');
  });
});

describe("snapshot()", () => {
  beforeEach(() => fill({ "src/a": "x", "src/deep/b": "y", outside: "z" }));

  test("holds every regular file below the write root, and nothing else", () => {
    symlinkSync("a", ctx("src", "link"));
    pipeAt(ctx("src", "pipe"));
    expect([...job.snapshot("src")]).toEqual([
      ["src/a", { kind: "bytes", bytes: bytes("x") }],
      ["src/deep/b", { kind: "bytes", bytes: bytes("y") }],
    ]);
    expect([...job.snapshot(".").keys()]).toEqual(["outside", "src/a", "src/deep/b"]);
    expect([...job.snapshot("none")]).toEqual([]);
  });

  test("sees what was written, and not what was changed back", () => {
    const before = job.snapshot(".");
    job.write("src/a", bytes("changed"), ".");
    job.write("src/a", bytes("x"), ".");
    job.write("src/deep/b", bytes("changed"), ".");
    job.write("src/new", bytes(""), ".");
    expect(writeSet(before, job.snapshot(".")).map(({ path }) => path)).toEqual(["src/deep/b", "src/new"]);
  });

  test("holds a file of exactly 1 MiB, and the size and digest of a larger one", () => {
    writeFileSync(ctx("src", "large"), "x".repeat(1024 * 1024));
    expect(job.snapshot("src").get("src/large")).toMatchObject({ kind: "bytes" });
    writeFileSync(ctx("src", "large"), "x".repeat(1024 * 1024 + 1));
    const digest = new Bun.CryptoHasher("sha256").update("x".repeat(1024 * 1024 + 1)).digest("hex");
    expect(job.snapshot("src").get("src/large")).toEqual({ kind: "opaque", size_bytes: 1024 * 1024 + 1, digest });
  });

  test.skipIf(process.getuid?.() === 0)("marks a file that cannot be read", () => {
    chmodSync(ctx("src", "a"), 0);
    const before = job.snapshot("src");
    expect(before.get("src/a")).toMatchObject({ kind: "opaque", size_bytes: 1 });
    expect(writeSet(before, job.snapshot("src"))).toEqual([]);
  });

  test("fails where a link took the place of the write root", () => {
    renameSync(ctx("src"), ctx("moved"));
    symlinkSync("moved", ctx("src"));
    expect(thrownBy(() => job.snapshot("src"))).toMatchObject({ code: "job_folder_failed" });
  });
});

describe("remove()", () => {
  test("takes away the folder of the job alone, and what it links to stays", () => {
    const outside = mkdtempSync(join(top, "outside-"));
    writeFileSync(join(outside, "kept"), "");
    fill({ "a/b": "x" });
    symlinkSync(outside, ctx("a", "link"));
    mkdirSync(ctx("shut"));
    chmodSync(ctx("shut"), 0o500);
    job.remove();
    expect(readdirSync(work)).toEqual([]);
    expect(existsSync(join(outside, "kept"))).toBe(true);
    expect(() => job.remove()).not.toThrow();
  });

  test("does nothing before anything was made", () => {
    job.remove();
    expect(existsSync(work)).toBe(false);
  });
});

describe("sweepJobFolders()", () => {
  const none = () => false;
  /** A folder as a process leaves it that was killed. */
  const leftBy = (jobId: string, pid = 1) => {
    mkdirSync(join(work, jobId, "ctx"), { recursive: true });
    writeFileSync(join(work, jobId, "owner"), `${pid}\n`);
  };

  test("removes the folders of dead processes and leaves those that are worked in", () => {
    fill({ a: "x" });
    leftBy("wrt-dead");
    expect(sweepJobFolders(work, none)).toEqual(["wrt-dead"]);
    expect(readdirSync(work)).toEqual([JOB]);
    job.remove();
    expect(readdirSync(work)).toEqual([]);
  });

  test("leaves the folder of a job that is said to be live", () => {
    leftBy("wrt-known");
    expect(sweepJobFolders(work, (jobId) => jobId === "wrt-known")).toEqual([]);
    expect(existsSync(join(work, "wrt-known"))).toBe(true);
  });

  test("leaves alone what is no folder of a job, and does not follow links", () => {
    const outside = mkdtempSync(join(top, "outside-"));
    writeFileSync(join(outside, "owner"), "1\n");
    mkdirSync(join(work, "something", "else"), { recursive: true });
    writeFileSync(join(work, "note"), "");
    symlinkSync(outside, join(work, "wrt-link"));
    expect(sweepJobFolders(work, none)).toEqual([]);
    expect(readdirSync(work).sort()).toEqual(["note", "something", "wrt-link"]);
    expect(existsSync(join(outside, "owner"))).toBe(true);
  });

  test("removes what was left while it was made", () => {
    mkdirSync(join(work, ".new-0190"), { recursive: true });
    expect(sweepJobFolders(work, none)).toEqual([]);
    expect(readdirSync(work)).toEqual([]);
  });

  test("says nothing where no job ever was", () => {
    expect(sweepJobFolders(join(work, "none"), none)).toEqual([]);
  });

  test("sees the folder of a process for as long as that process lives, however it ends", async () => {
    const source = join(dirname(import.meta.dir), "support", "job-holder.ts");
    const holder = Bun.spawn([process.execPath, source, work, JOB], { stdout: "pipe", stdin: "pipe" });
    const said = await holder.stdout.getReader().read();
    expect(new TextDecoder().decode(said.value)).toBe("filled\n");
    expect(sweepJobFolders(work, none)).toEqual([]);
    expect(thrownBy(() => fill({}))).toMatchObject({ code: "job_folder_failed" });
    holder.kill("SIGKILL");
    await holder.exited;
    expect(textAt("a")).toBe("x");
    expect(sweepJobFolders(work, none)).toEqual([JOB]);
  });
});
