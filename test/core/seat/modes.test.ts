import { expect, test } from "bun:test";
import type { Engine } from "../../../src/core/config/seat.ts";
import type { StructuredMode } from "../../../src/core/seat/endpoint.ts";
import { modesFor, SeatMemory } from "../../../src/core/seat/modes.ts";

test.each<{ engine: Engine; modes: StructuredMode[] }>([
  { engine: "llama.cpp", modes: ["grammar", "json_schema", "json_object", "prompt"] },
  { engine: "vllm", modes: ["json_schema", "structured_outputs", "prompt"] },
  { engine: "ollama", modes: ["json_schema", "json_object", "prompt"] },
  { engine: "openai", modes: ["json_schema", "json_object", "prompt"] },
])("$engine is asked for form in its order", ({ engine, modes }) => {
  expect(modesFor(engine, true)).toEqual(modes);
  expect(modesFor(engine, false)).toEqual(modes.filter((mode) => mode !== "grammar"));
});

test("what worked last comes first, where it can be asked at all", () => {
  expect(modesFor("llama.cpp", true, "json_object")).toEqual(["json_object", "grammar", "json_schema", "prompt"]);
  expect(modesFor("llama.cpp", false, "grammar")).toEqual(["json_schema", "json_object", "prompt"]);
  expect(modesFor("vllm", true, "json_object")).toEqual(["json_schema", "structured_outputs", "prompt"]);
});

test("a memory holds for 30 minutes", () => {
  const memory = new SeatMemory<string>();
  expect(memory.get("a", 0)).toBeNull();
  memory.set("a", "x", 1000);
  expect(memory.get("a", 1000 + 30 * 60_000 - 1)).toBe("x");
  expect(memory.get("a", 1000 + 30 * 60_000)).toBeNull();
  expect(memory.get("b", 1000)).toBeNull();
});

test("a memory holds a thousand seats, and forgets the ones that were set longest ago", () => {
  const memory = new SeatMemory<number>();
  for (let index = 0; index < 1001; index += 1) memory.set(`seat ${index}`, index, 0);
  expect([memory.get("seat 0", 0), memory.get("seat 1", 0), memory.get("seat 1000", 0)]).toEqual([null, 1, 1000]);
});
