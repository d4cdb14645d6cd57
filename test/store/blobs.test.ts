/** Files of evidence: where they lie, what stands in their way, and what is left of a failure. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { evidenceFolder } from "../../src/store/blobs.ts";
import { refusalOf } from "../support/turn.ts";

const PLACE = { workspace: "me", brief: "b", ac_id: "AC-1", name: "00000000-0000-4000-8000-000000000001.log" };
const PARTS = ["evidence", "me", "b", "AC-1"];

let base = "";
let data = "";
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "writ-blobs-")));
  data = join(base, "data");
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const folder = () => evidenceFolder(data, join(base, "home"));
const pieces = (...texts: string[]) => texts.map((text) => new TextEncoder().encode(text));
const all = (path = base) => readdirSync(path, { recursive: true, encoding: "utf8" }).sort();

describe("keep()", () => {
  test("writes all pieces into their place, for the owner alone", () => {
    const kept = folder().keep(PLACE, pieces("3 ", "pass\n"));
    expect(kept).toMatchObject({ path: join(data, ...PARTS, PLACE.name), size_bytes: 7 });
    expect(readFileSync(kept.path, "utf8")).toBe("3 pass\n");
    expect(statSync(kept.path).mode & 0o777).toBe(0o600);
    let at = data;
    for (const part of ["", ...PARTS]) {
      at = join(at, part);
      expect(statSync(at).mode & 0o777).toBe(0o700);
    }
    expect(readdirSync(join(data, ...PARTS))).toEqual([PLACE.name]);
  });

  test("discard() takes back the file and every folder that was made for it", () => {
    folder().keep(PLACE, pieces("x")).discard();
    expect(all()).toEqual([]);
  });

  test("discard() leaves folders that were there before", () => {
    mkdirSync(join(data, "evidence", "me"), { recursive: true });
    folder().keep(PLACE, pieces("x")).discard();
    expect(all(data)).toEqual(["evidence", "evidence/me"]);
  });

  test("discard() leaves what another process put into the folders meanwhile", () => {
    const first = folder().keep(PLACE, pieces("x"));
    const second = folder().keep({ ...PLACE, name: "other.log" }, pieces("y"));
    first.discard();
    expect(existsSync(second.path)).toBe(true);
    expect(existsSync(first.path)).toBe(false);
  });

  test("pieces that throw leave neither file nor folder", () => {
    function* broken() {
      yield* pieces("x");
      throw new Error("the disk of the source broke");
    }
    expect(refusalOf(() => folder().keep(PLACE, broken()))).toMatchObject({ code: "store_failed" });
    expect(all()).toEqual([]);
  });

  test("processes that make, use and take back the same folders lose no file", async () => {
    const keeper = join(import.meta.dir, "..", "support", "blob-keeper.ts");
    const children = ["a", "b", "c"].map((name) =>
      Bun.spawn([process.execPath, keeper, data, name, "64"], { stdout: "pipe", stderr: "pipe" }),
    );
    const kept: string[] = [];
    for (const child of children) {
      const [stdout, stderr] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
      ]);
      expect({ exit: await child.exited, stderr }).toEqual({ exit: 0, stderr: "" });
      kept.push(...stdout.trim().split("\n"));
    }
    expect(kept).toHaveLength(24);
    for (const path of kept) expect(readFileSync(path, "utf8")).toBe(path.slice(path.lastIndexOf("/") + 1));
    expect(all(data).filter((file) => file.endsWith(".log"))).toHaveLength(24);
  });

  test("a folder that another process removes meanwhile is made again", async () => {
    // What a process that takes its own folders back does, over and over.
    const script = `import { rmdirSync } from "node:fs";
      console.log("begun");
      for (;;) { try { rmdirSync(process.env.FOLDER); } catch {} Bun.sleepSync(1); }`;
    const env = { ...process.env, FOLDER: join(data, ...PARTS) };
    const remover = Bun.spawn([process.execPath, "-e", script], { env, stdout: "pipe" });
    try {
      await remover.stdout.getReader().read();
      for (let round = 0; round < 100; round++) folder().keep(PLACE, pieces("x")).discard();
    } finally {
      remover.kill();
      await remover.exited;
    }
    expect(all().filter((name) => name.endsWith(".log") || name.endsWith(".tmp"))).toEqual([]);
  });

  test.each(PARTS)("a link at %j is not followed, and nothing is left behind it", (part) => {
    const outside = join(base, "outside");
    mkdirSync(outside);
    const depth = PARTS.indexOf(part);
    mkdirSync(join(data, ...PARTS.slice(0, depth)), { recursive: true });
    symlinkSync(outside, join(data, ...PARTS.slice(0, depth + 1)));
    const before = all();
    const error = refusalOf(() => folder().keep(PLACE, pieces("x")));
    expect(error).toMatchObject({ code: "evidence_refused", path: join(data, ...PARTS.slice(0, depth + 1)) });
    expect(error.message).toContain("is a link");
    expect(all()).toEqual(before);
  });

  test("a file where a folder should be is refused", () => {
    mkdirSync(join(data, "evidence"), { recursive: true });
    writeFileSync(join(data, "evidence", "me"), "");
    const error = refusalOf(() => folder().keep(PLACE, pieces("x")));
    expect(error).toMatchObject({ code: "evidence_refused", path: join(data, "evidence", "me") });
    expect(all(data)).toEqual(["evidence", "evidence/me"]);
  });

  test("the data folder itself may be a link: the path that is kept is the real one", () => {
    const real = join(base, "real");
    mkdirSync(real);
    symlinkSync(real, data);
    const kept = folder().keep(PLACE, pieces("x"));
    expect(kept.path).toBe(join(real, ...PARTS, PLACE.name));
    expect(folder().resolveArtifactPath(join(data, ...PARTS, PLACE.name))).toMatchObject({ ok: true, path: kept.path });
  });

  test.skipIf(process.getuid?.() === 0)("a folder that cannot be written is said, and nothing is left", () => {
    mkdirSync(data, { mode: 0o500 });
    try {
      expect(refusalOf(() => folder().keep(PLACE, pieces("x")))).toMatchObject({ code: "store_failed" });
    } finally {
      chmodSync(data, 0o700);
    }
    expect(all(data)).toEqual([]);
  });
});

describe("resolveArtifactPath()", () => {
  test("is the real path and the size of a kept file", () => {
    const { path } = folder().keep(PLACE, pieces("12345"));
    expect(folder().resolveArtifactPath(path)).toEqual({ ok: true, path, size_bytes: 5 });
    const winding = join(data, "evidence", "me").concat("/../me/./b/AC-1/", PLACE.name);
    expect(folder().resolveArtifactPath(winding)).toEqual({ ok: true, path, size_bytes: 5 });
  });

  test("~/ stands for the home folder", () => {
    const home = evidenceFolder(join(base, ".writ"), base);
    const { path } = home.keep(PLACE, pieces("x"));
    expect(home.resolveArtifactPath(`~/.writ/evidence/me/b/AC-1/${PLACE.name}`)).toMatchObject({ ok: true, path });
  });

  test("a link inside that stays inside is its target", () => {
    const { path } = folder().keep(PLACE, pieces("x"));
    symlinkSync(path, join(data, "evidence", "short"));
    expect(folder().resolveArtifactPath(join(data, "evidence", "short"))).toMatchObject({ ok: true, path });
  });

  test.each([
    ["a blank path", () => " ", "is blank"],
    ["a path with a NUL", () => `${data}/evidence/x\0`, "holds a NUL"],
    ["a relative path", () => "evidence/me/b/AC-1/x", "is not absolute"],
    ["a path that begins with a name", () => "~root/x", "is not absolute"],
    ["a path that is missing", () => join(data, "evidence", "none"), "names no file"],
    ["another file", () => join(base, "outside.log"), "lies outside of"],
    ["a path that leads out", () => `${data}/evidence/../../outside.log`, "outside of"],
    ["a link that leads out", () => join(data, "evidence", "link"), "outside of"],
    ["a folder that begins alike", () => join(data, "evidence-not", "x"), "lies outside of"],
    ["the folder of evidence", () => join(data, "evidence"), "lies outside of"],
    ["a folder in it", () => join(data, "evidence", "me"), "is no regular file"],
    ["a file under a file", () => join(data, ...PARTS, PLACE.name, "x"), "cannot be looked up"],
  ])("%s is refused by name", (_, path, why) => {
    folder().keep(PLACE, pieces("x"));
    writeFileSync(join(base, "outside.log"), "x");
    symlinkSync(join(base, "outside.log"), join(data, "evidence", "link"));
    mkdirSync(join(data, "evidence-not"));
    writeFileSync(join(data, "evidence-not", "x"), "x");
    const resolved = folder().resolveArtifactPath(path());
    expect(resolved).toMatchObject({ ok: false, why: expect.stringContaining(why) });
  });

  test("a folder of evidence that is a link leads out", () => {
    mkdirSync(data);
    mkdirSync(join(base, "outside"));
    writeFileSync(join(base, "outside", "x"), "x");
    symlinkSync(join(base, "outside"), join(data, "evidence"));
    expect(folder().resolveArtifactPath(join(data, "evidence", "x"))).toMatchObject({ ok: false });
  });

  test("nothing is refused with an error of its own where there is no data folder", () => {
    expect(folder().resolveArtifactPath(join(data, "evidence", "x"))).toMatchObject({
      ok: false,
      why: "names no file",
    });
  });
});

test("what a killed process left beside a place goes with the next write, once it is an hour old", () => {
  const kept = folder().keep(PLACE, pieces("x"));
  const beside = join(data, ...PARTS);
  const old = join(beside, ".a.log.1.tmp");
  const young = join(beside, ".b.log.2.tmp");
  const ahead = join(beside, ".c.log.3.tmp");
  for (const path of [old, young, ahead]) writeFileSync(path, "half");
  const now = Date.now() / 1000;
  utimesSync(old, now - 7200, now - 7200);
  // Made while the clock was ahead.
  utimesSync(ahead, now + 7200, now + 7200);
  folder().keep({ ...PLACE, name: "00000000-0000-4000-8000-000000000002.log" }, pieces("y"));
  expect([old, ahead, young, kept.path].map((path) => existsSync(path))).toEqual([false, false, true, true]);
});
