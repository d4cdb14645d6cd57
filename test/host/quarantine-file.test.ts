import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { strikePlace } from "../../src/core/placement/quarantine.ts";
import { openQuarantine } from "../../src/host/quarantine-file.ts";

const RULES = { strikes: 2, window_sec: 1800, duration_sec: 1800 };

let state: string;
let path: string;
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), "writ-quarantine-"));
  path = join(state, "quarantine.json");
});
afterEach(() => rmSync(state, { recursive: true }));

describe("the file of the quarantine", () => {
  test("is empty where there is none, and shared by those who open it", () => {
    const [one, other] = [openQuarantine(state), openQuarantine(state)];
    expect(one.read()).toEqual({});
    one.change((marks) => strikePlace(marks, "b", 1000, RULES));
    other.change((marks) => strikePlace(marks, "b", 2000, RULES));
    expect(one.read()).toEqual({ b: { strikes: [], until: 1_802_000 } });
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test.each([
    "",
    "{",
    "[]",
    '{"schema_version":2,"places":{}}',
    '{"schema_version":1,"places":{"b":{"strikes":"no"}}}',
  ])("a corrupt one (%p) counts as empty and is moved aside", (text) => {
    writeFileSync(path, text);
    const quarantine = openQuarantine(state);
    expect(quarantine.read()).toEqual({});
    quarantine.change((marks) => strikePlace(marks, "b", 1000, RULES));
    expect(quarantine.read()).toEqual({ b: { strikes: [1000], until: null } });
    expect(readFileSync(`${path}.broken`, "utf8")).toBe(text);
  });

  test("a place that cannot be kept is no error", () => {
    const gone = openQuarantine(join(state, "nowhere"));
    gone.change((marks) => strikePlace(marks, "b", 1000, RULES));
    expect(gone.read()).toEqual({});
    expect(existsSync(join(state, "nowhere"))).toBe(false);
  });
});
