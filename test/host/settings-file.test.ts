import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { changeSettingsFile, readSettingsFile } from "../../src/host/settings-file.ts";
import { refusalOf } from "../support/turn.ts";

const isRoot = process.getuid?.() === 0;

let root = "";
let places = 0;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "writ-settings-"));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function place(text?: string): string {
  places += 1;
  const path = join(root, String(places), "settings.json");
  if (text !== undefined) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return path;
}

const to = (text: string) => () => ({ text });

describe("changeSettingsFile()", () => {
  test("makes the file and its folder where they are missing", () => {
    const path = place();
    expect(readSettingsFile(path)).toBeNull();
    changeSettingsFile(path, (text) => ({ text: `${text}` }));
    expect(readFileSync(path, "utf8")).toBe("null");
    expect(statSync(path).mode & 0o777 & ~0o644).toBe(0);
  });

  test.each([0o600, 0o640, 0o664])("keeps mode %o, and leaves nothing beside the file", (mode) => {
    const path = place("a");
    chmodSync(path, mode);
    changeSettingsFile(path, to("b"));
    expect(statSync(path).mode & 0o777).toBe(mode);
    expect(readdirSync(dirname(path))).toEqual(["settings.json"]);
    expect(readFileSync(path, "utf8")).toBe("b");
  });

  test.skipIf(!isRoot)("keeps the owner of a file (as root)", () => {
    const path = place("a");
    chownSync(path, 12345, 12346);
    changeSettingsFile(path, to("b"));
    expect(statSync(path)).toMatchObject({ uid: 12345, gid: 12346 });
  });

  test("writes nothing where nothing changes", () => {
    const path = place("a");
    const before = statSync(path);
    changeSettingsFile(path, to("a"));
    changeSettingsFile(path, () => ({ text: null }));
    expect(statSync(path)).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs });
    const none = place();
    changeSettingsFile(none, () => ({ text: null }));
    expect(existsSync(dirname(none))).toBe(false);
  });

  test("a change that throws leaves the file as it was", () => {
    const path = place("a");
    const change = () => {
      throw new Error("no");
    };
    expect(() => changeSettingsFile(path, change)).toThrow("no");
    expect(readFileSync(path, "utf8")).toBe("a");
  });

  test("somebody who was quicker is not written over: the change is made again on what lies there", () => {
    const path = place("a");
    let calls = 0;
    changeSettingsFile(path, (text) => {
      calls += 1;
      // The second call is under the lock; this one takes none.
      if (calls === 2) writeFileSync(path, "theirs");
      return { text: `${text}+ours` };
    });
    expect(readFileSync(path, "utf8")).toBe("theirs+ours");
  });

  test("a file that others change all the time is given up", () => {
    const path = place("a");
    let calls = 0;
    const error = refusalOf(() =>
      changeSettingsFile(path, (text) => {
        calls += 1;
        writeFileSync(path, `theirs ${calls}`);
        return { text: `${text}+ours` };
      }),
    );
    expect(error.code).toBe("settings_busy");
    expect(readFileSync(path, "utf8")).toBe(`theirs ${calls}`);
    expect(readdirSync(dirname(path))).toEqual(["settings.json"]);
  });

  test("a link stays a link, and its target is changed", () => {
    const target = place("a");
    const path = place();
    mkdirSync(dirname(path));
    symlinkSync(target, path);
    changeSettingsFile(path, to("b"));
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
    expect(readFileSync(target, "utf8")).toBe("b");
    expect(readdirSync(dirname(path))).toEqual(["settings.json"]);
  });

  test.each<[string, (path: string) => void]>([
    ["a folder", (path) => mkdirSync(path, { recursive: true })],
    ["a link to nothing", (path) => linked(path, "/nowhere/at/all")],
    ["a link to a folder", (path) => linked(path, root)],
    ["a link to a device", (path) => linked(path, "/dev/null")],
    ["a link in a circle", (path) => linked(path, path)],
    ["in a folder that is a file", (path) => writeFileSync(dirname(path), "")],
  ])("refuses %s", (_, make) => {
    const path = place();
    make(path);
    for (const act of [() => readSettingsFile(path), () => changeSettingsFile(path, to("b"))]) {
      const error = refusalOf(act);
      expect(error).toMatchObject({ code: "settings_refused", path });
      expect(error.message).toEndWith("nothing was changed");
    }
  });

  test.skipIf(!isRoot)("refuses a link to a file of somebody else (as root)", () => {
    const target = place("a");
    chownSync(target, 12345, 12345);
    const path = place();
    linked(path, target);
    expect(refusalOf(() => changeSettingsFile(path, to("b")))).toMatchObject({ code: "settings_refused" });
    expect(readFileSync(target, "utf8")).toBe("a");
  });

  test.skipIf(isRoot)(
    "a file that is read-only stays as it is, although its folder could be written (not as root)",
    () => {
      const path = place("a");
      chmodSync(path, 0o444);
      expect(refusalOf(() => changeSettingsFile(path, to("b")))).toMatchObject({ code: "file_unwritable" });
      expect(readFileSync(path, "utf8")).toBe("a");
    },
  );

  test("a file that is no UTF-8 is not read as something else", () => {
    const path = place();
    mkdirSync(dirname(path));
    writeFileSync(path, Buffer.from([0x7b, 0xff, 0x7d]));
    expect(refusalOf(() => readSettingsFile(path))).toMatchObject({ code: "file_unreadable", path });
  });
});

test("processes that change one file at once lose nothing", async () => {
  const path = place();
  const writer = join(import.meta.dir, "..", "support", "settings-writer.ts");
  const names = ["a", "b", "c", "d"];
  const children = names.map((name) =>
    Bun.spawn([process.execPath, writer, path, name, "10"], { stdio: ["ignore", "inherit", "inherit"] }),
  );
  expect(await Promise.all(children.map((child) => child.exited))).toEqual(names.map(() => 0));
  const lines = readFileSync(path, "utf8").trimEnd().split("\n").sort();
  expect(lines).toEqual(names.flatMap((name) => Array.from({ length: 10 }, (_, n) => `${name}-${n}`)).sort());
});

function linked(path: string, target: string): void {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
}
