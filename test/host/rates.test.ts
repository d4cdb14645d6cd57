import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openRates } from "../../src/host/rates.ts";

const KEY = "http://127.0.0.1:8080|m";
const NONE = { decode_tok_s: null, prefill_tok_s: null, cold_load_sec: null };

let state: string;
let path: string;
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), "writ-rates-"));
  path = join(state, "rates.json");
});
afterEach(() => rmSync(state, { recursive: true }));

test("what one process measures another one reads", () => {
  openRates(state).add(KEY, { decode_tok_s: 30 });
  openRates(state).add(KEY, { decode_tok_s: 10, cold_load_sec: 4 });
  expect(openRates(state).read(KEY)).toEqual({ decode_tok_s: 20, prefill_tok_s: null, cold_load_sec: 4 });
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("samples of runs that end at once all count", async () => {
  const script = `import { openRates } from ${JSON.stringify(join(import.meta.dir, "..", "..", "src", "host", "rates.ts"))};
    openRates(process.argv[1]).add(process.argv[2], { decode_tok_s: 1 });`;
  const children = Array.from({ length: 4 }, (_, index) =>
    Bun.spawn([process.execPath, "-e", script, state, `seat ${index}|m`], { stderr: "inherit" }),
  );
  await Promise.all(children.map(({ exited }) => exited));
  const rates = openRates(state);
  expect(children.map((_, index) => rates.read(`seat ${index}|m`).decode_tok_s)).toEqual([1, 1, 1, 1]);
});

test.each(["{", "", '{"schema_version":9}', "x".repeat(2 * 1024 * 1024)])(
  "a file that is none is moved aside (%#)",
  (text) => {
    writeFileSync(path, text);
    const rates = openRates(state);
    expect(rates.read(KEY)).toEqual(NONE);
    expect(readFileSync(path, "utf8")).toBe(text);
    rates.add(KEY, { decode_tok_s: 5 });
    expect(rates.read(KEY).decode_tok_s).toBe(5);
    expect(readFileSync(`${path}.broken`, "utf8")).toBe(text);
  },
);

test("a sample that is none writes nothing", () => {
  openRates(state).add(KEY, { decode_tok_s: 0 });
  expect(readdirSync(state)).toEqual(["rates.json.lock"]);
});

test("what cannot be kept is lost without a word", () => {
  const rates = openRates(join(state, "gone"));
  rates.add(KEY, { decode_tok_s: 5 });
  expect(rates.read(KEY)).toEqual(NONE);
  mkdirSync(path);
  openRates(state).add(KEY, { decode_tok_s: 5 });
  expect(openRates(state).read(KEY).decode_tok_s).toBe(5);
});
