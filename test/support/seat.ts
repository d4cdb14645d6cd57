import type { Seat } from "../../src/core/config/seat.ts";

/** A seat with every key at its default but what is given. */
export function seatOf(more: Partial<Seat> = {}): Seat {
  return {
    name: "seat",
    base_url: "http://127.0.0.1:1",
    model: "m",
    engine: "llama.cpp",
    proxy: "",
    api_key_env: "",
    ctx_tokens: 0,
    slots: 0,
    step_tokens: 4096,
    final_tokens: 8192,
    thinking: "auto",
    profile: "research",
    tools: true,
    stream: true,
    seed_reads: true,
    temperature: 0,
    seed: 42,
    extra_body: {},
    ...more,
  };
}
