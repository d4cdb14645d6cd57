import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../src/cli/config-world.ts";
import type { FoundSeat } from "../../src/core/config/seat.ts";
import { WritError } from "../../src/core/error.ts";

const folder = mkdtempSync(join(tmpdir(), "writ-config-world-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const data = join(folder, "data");
mkdirSync(data);
const FOUND: FoundSeat = { engine: "llama.cpp", proxy: "llama-swap", models: ["m"], ctx_tokens: null };
const SEAT = { WRIT_SEAT_URL: "http://127.0.0.1:9" };

async function failure(ask: Parameters<typeof loadConfig>[0]) {
  try {
    await loadConfig(ask);
  } catch (error) {
    if (error instanceof WritError) return { code: error.code, issues: error.details.issues, message: error.message };
    throw error;
  }
  throw new Error("it was loaded");
}

test("without a file the built-in config is in effect, and no file is named", async () => {
  const { file, config } = await loadConfig({ config: undefined, environment: { WRIT_DATA_DIR: data } });
  expect([file, config.seats, config.limits.width]).toEqual([null, [], 8]);
});

test("the file of the data folder is read, and a named one in its place", async () => {
  const own = join(folder, "own");
  mkdirSync(own);
  writeFileSync(join(own, "config.json"), '{"limits": {"width": 3}}');
  writeFileSync(join(own, "other.json"), '{"limits": {"width": 2}}');
  const load = (config: string | undefined, more = {}) =>
    loadConfig({ config, environment: { WRIT_DATA_DIR: own, ...more } });
  const widthOf = async (config: string | undefined, more = {}) => (await load(config, more)).config.limits.width;
  expect((await load(undefined)).file).toBe(join(own, "config.json"));
  expect(await widthOf(undefined)).toBe(3);
  expect(await widthOf(undefined, { WRIT_CONFIG: join(own, "other.json") })).toBe(2);
  expect(await widthOf(join(own, "config.json"), { WRIT_CONFIG: join(own, "other.json") })).toBe(3);
});

test("every issue of file, environment and options is told in one error", async () => {
  const path = join(folder, "bad.json");
  writeFileSync(path, '{"limits": {"width": 0}}');
  const environment = { WRIT_DATA_DIR: data, WRIT_NODE_ID: "local" };
  const { code, issues, message } = await failure({ config: path, environment, options: { listen: "x" } });
  expect([code, message]).toEqual(["bad_config", `The config "${path}" is not valid: 3 issues`]);
  expect((issues as { path: string }[]).map((issue) => issue.path)).toEqual([
    "limits.width",
    "WRIT_NODE_ID",
    "--listen",
  ]);
});

test("the server of WRIT_SEAT_URL is asked for what is not said", async () => {
  const asked: string[] = [];
  const find = async (url: string) => {
    asked.push(url);
    return FOUND;
  };
  const environment = { WRIT_DATA_DIR: data, ...SEAT };
  const { config } = await loadConfig({ config: undefined, environment, find });
  expect(config.seats[0]).toMatchObject({ name: "env", model: "m", proxy: "llama-swap" });
  await loadConfig({
    config: undefined,
    environment: { ...environment, WRIT_SEAT_MODEL: "x", WRIT_SEAT_ENGINE: "vllm" },
    find,
  });
  expect(asked).toEqual(["http://127.0.0.1:9"]);
});

test.each([
  [null, "nothing there answers as a model server"],
  [{ ...FOUND, models: [] }, "it lists no model"],
])("where its server says %j, it is unavailable", async (found, why) => {
  const environment = { WRIT_DATA_DIR: data, ...SEAT };
  const { code, message } = await failure({ config: undefined, environment, find: async () => found });
  expect([code, message]).toEqual([
    "seat_unavailable",
    `Cannot find out what the server of WRIT_SEAT_URL serves: ${why}`,
  ]);
});

test("who asks no server gets the seat with what is said, and no error", async () => {
  const environment = { WRIT_DATA_DIR: data, ...SEAT };
  const { config } = await loadConfig({ config: undefined, environment, find: null });
  expect(config.seats[0]).toMatchObject({ name: "env", model: "" });
});
