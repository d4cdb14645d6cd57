import { expect, test } from "bun:test";
import fc from "fast-check";
import { draftConfig, PORTS } from "../../src/config/init.ts";
import { mergeConfig } from "../../src/core/config/merge.ts";
import { readConfig } from "../../src/core/config/read.ts";
import { ENGINES, type FoundSeat } from "../../src/core/config/seat.ts";

const found = (more: Partial<FoundSeat> = {}): FoundSeat => ({
  engine: "llama.cpp",
  proxy: "",
  models: ["qwen3-8b"],
  ctx_tokens: null,
  ...more,
});

const draft = (byPort: Partial<Record<(typeof PORTS)[number], FoundSeat>>) =>
  draftConfig({ find: async (url) => byPort[Number(new URL(url).port) as (typeof PORTS)[number]] ?? null });

test("each server that answers is a seat, in the order of the ports, and the first is the default", async () => {
  const { seats, text } = await draft({
    11434: found({ engine: "ollama", models: ["qwen3:8b", "other"], ctx_tokens: 8192 }),
    8080: found({ proxy: "llama-swap", models: ["org/Qwen3-8B"] }),
    8000: found({ engine: "vllm", ctx_tokens: 32_768 }),
  });
  expect(
    seats.map(({ name, base_url, model, engine, proxy, ctx_tokens }) =>
      [name, base_url, model, engine, proxy, ctx_tokens].join(" "),
    ),
  ).toEqual([
    "Qwen3-8B http://127.0.0.1:8080 org/Qwen3-8B llama.cpp llama-swap 0",
    "qwen3-8b http://127.0.0.1:8000 qwen3-8b vllm  0",
    "qwen3-8b-2 http://127.0.0.1:11434 qwen3:8b ollama  8192",
  ]);
  expect(JSON.parse(text).default_seat).toBe("Qwen3-8B");
});

test("an ollama that has nothing loaded has the window that it will load", async () => {
  const { seats } = await draft({ 11434: found({ engine: "ollama" }) });
  expect(seats[0]?.ctx_tokens).toBe(4096);
});

test("a server whose chat template drops tools is a seat without them", async () => {
  const { seats } = await draft({ 8080: found({ takes_tools: false }), 8000: found() });
  expect(seats.map(({ tools }) => tools)).toEqual([false, true]);
});

test("a server without a model that a request can name is told, and is no seat", async () => {
  const drafted = await draft({ 8080: found({ models: [] }), 8000: found({ models: ["a\nb"] }) });
  expect(drafted.seats).toEqual([]);
  expect(drafted.without_model).toEqual(["http://127.0.0.1:8080", "http://127.0.0.1:8000"]);
});

test("where nothing answers the config has no seat, and every other key", async () => {
  const { text } = await draft({});
  expect(Object.keys(JSON.parse(text))).toEqual([
    "delegation_enabled",
    "remotes",
    "seats",
    "default_seat",
    "agent_allow_write",
    "node",
    "limits",
    "quarantine",
    "env_rules",
    "runs",
  ]);
});

test("what it writes reads without an issue, whatever the servers say", async () => {
  const anyFound = fc.record({
    engine: fc.constantFrom(...ENGINES),
    proxy: fc.constantFrom("" as const, "llama-swap" as const),
    models: fc.array(fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("a", "org/a", "..", "-", "/")), {
      maxLength: 3,
    }),
    ctx_tokens: fc.option(fc.integer({ min: 1, max: 1_000_000 })),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.option(anyFound), { minLength: 5, maxLength: 5 }), async (all) => {
      const { text, seats } = await draftConfig({
        find: async (url) => all[PORTS.findIndex((port) => url.endsWith(`:${port}`))] ?? null,
      });
      const effective = mergeConfig(readConfig(text), {});
      expect(effective).toMatchObject({ ok: true });
      expect(effective.ok && effective.config.seats).toEqual(seats);
    }),
  );
});
