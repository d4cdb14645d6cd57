import { expect, test } from "bun:test";
import { join } from "node:path";
import { DEFAULT_SETTINGS } from "../../src/core/tracker/settings.ts";
import { readFlowSettings } from "../../src/host/flow-settings.ts";
import { runGit } from "../../src/host/git.ts";
import { openCheckouts } from "../support/checkout.ts";

test("git is run in the folder that is named, whatever the environment says", () => {
  using places = openCheckouts();
  const one = places.repository("one");
  const before = process.env.GIT_DIR;
  process.env.GIT_DIR = join(places.folder, "nowhere");
  try {
    expect(runGit(one.path, ["rev-parse", "--show-toplevel"])).toEqual({
      ok: true,
      stdout: `${one.path}\n`,
      stderr: "",
    });
  } finally {
    if (before === undefined) delete process.env.GIT_DIR;
    else process.env.GIT_DIR = before;
  }
});

test("a call that fails says why", () => {
  using places = openCheckouts();
  const { ok, stderr } = runGit(places.folder, ["rev-parse", "--show-toplevel"]);
  expect(ok).toBe(false);
  expect(stderr).toStartWith("fatal: not a git repository");
  expect(runGit(join(places.folder, "gone"), ["status"]).ok).toBe(false);
});

test("the configuration of a folder starts no program", () => {
  using places = openCheckouts();
  const one = places.repository("one");
  one.write("spy.sh", "#!/bin/sh\ntouch spied\n");
  one.git("config", "core.fsmonitor", `${one.path}/spy.sh`);
  runGit(one.path, ["status", "--porcelain"]);
  expect(runGit(one.path, ["status", "--porcelain"]).stdout).not.toContain("spied");
});

test.each([
  { what: "no file", files: {}, settings: DEFAULT_SETTINGS, warned: false },
  {
    what: "its own file",
    files: { ".writ/settings.json": '{"flowGuards":{"enforce":false}}', ".pi/settings.json": "[" },
    settings: { ...DEFAULT_SETTINGS, guards: false },
    warned: false,
  },
  {
    what: "the older file",
    files: { ".pi/settings.json": '{"other":1,"piGauntlet":{"closureReview":{"enforce":false}}}' },
    settings: { ...DEFAULT_SETTINGS, closureReview: false },
    warned: false,
  },
  {
    what: "the older file of another program",
    files: { ".pi/settings.json": "{}" },
    settings: DEFAULT_SETTINGS,
    warned: false,
  },
  { what: "no JSON", files: { ".writ/settings.json": "a: 1" }, settings: DEFAULT_SETTINGS, warned: true },
  {
    what: "a key given twice",
    files: { ".writ/settings.json": '{"flowGuards":{"enforce":false},"flowGuards":{}}' },
    settings: DEFAULT_SETTINGS,
    warned: true,
  },
  { what: "a list", files: { ".writ/settings.json": "[]" }, settings: DEFAULT_SETTINGS, warned: true },
  { what: "a folder", files: { ".writ/settings.json/x": "" }, settings: DEFAULT_SETTINGS, warned: true },
])("settings from $what", ({ files, settings, warned }) => {
  using places = openCheckouts();
  const { path } = places.repository("one", { a: "", ...files });
  const read = readFlowSettings(path);
  expect(read.settings).toEqual(settings);
  const file = join(path, ".writ", "settings.json");
  expect(read.warning).toBe(warned ? `Warning: settings unreadable, using defaults: ${file}` : null);
});
