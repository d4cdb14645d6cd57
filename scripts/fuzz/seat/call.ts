/**
 * One call of `writ delegate` on a hostile seat, drawn from a seed: how the seat is configured, which contracts are sent,
 * and what each of their requests is answered.
 */
import fc from "fast-check";
import { type HostileReply, type Probe, probe, reply, structuredReply } from "./reply.ts";

/** What a contract says of its leg; the server finds it in the request. */
export const legMark = (index: number) => `LEG-${index}.`;

const DOCUMENTS = [
  { name: "docs/a.md", text: "Rotterdam holds 412 pallets in bay QX-9.\n" },
  { name: "src/n.txt", text: "1\n2\n3" },
];
const SCHEMA = {
  type: "object",
  properties: {
    summary: { type: "string", description: "one sentence" },
    count: { type: "integer" },
    items: { type: "array", items: { type: "string" } },
  },
  required: ["summary"],
};

/** The contracts that legs have; each gets a goal, and the wall of all. */
const CONTRACTS: readonly { readonly acceptance: readonly string[]; readonly [key: string]: unknown }[] = [
  { acceptance: ["contains:412"] },
  { acceptance: [] },
  { context: DOCUMENTS, acceptance: ["contains:412", "not_contains:zebra"] },
  { context: DOCUMENTS, output_schema: SCHEMA, acceptance: ["nonempty:summary"] },
  { context: DOCUMENTS, output_schema: SCHEMA, acceptance: ["min_items:items:1", "contains:412"] },
  {
    context: DOCUMENTS,
    output_schema: SCHEMA,
    write_root: "src",
    acceptance: ["diff_touches:src/n.txt", "diff_max_files:2"],
  },
  { context: DOCUMENTS, write_root: "src", acceptance: ["diff_max_files:1"] },
];

export type HostileLeg = { readonly contract: number; readonly replies: readonly HostileReply[] };

const leg: fc.Arbitrary<HostileLeg> = fc.record({
  contract: fc.nat(CONTRACTS.length - 1),
  replies: fc.array(reply, { minLength: 1, maxLength: 6 }),
});

const PATHS = ["/health", "/slots", "/props", "/tokenize", "/v1/models", "/running", "/api/ps"] as const;

export const hostileCall = (legs: number) =>
  fc.record({
    engine: fc.constantFrom("llama.cpp", "llama.cpp", "vllm", "ollama", "openai"),
    proxy: fc.constantFrom("", "", "", "llama-swap"),
    stream: fc.constantFrom(true, true, true, false),
    tools: fc.constantFrom(true, true, true, true, false),
    seed_reads: fc.boolean(),
    ctx_tokens: fc.constantFrom(32_768, 32_768, 8192, 2048),
    /** A second seat of the same server, for what is tried once more. */
    seats: fc.constantFrom(1, 1, 2),
    strict: fc.boolean(),
    legs: fc.array(leg, { minLength: legs, maxLength: legs }),
    structured: fc.array(structuredReply, { minLength: 4, maxLength: 12 }),
    probes: fc.tuple(...PATHS.map(() => probe)),
  });
export type HostileCall = ReturnType<typeof hostileCall> extends fc.Arbitrary<infer T> ? T : never;

/** The call of a seed: the same in every run of it. */
export function callOf(seed: number, legs: number): HostileCall {
  const [call] = fc.sample(hostileCall(legs), { seed, numRuns: 1 });
  if (call === undefined) throw new Error("nothing was drawn");
  return call;
}

export function probeOf(call: HostileCall, path: string): Probe | null {
  const at = PATHS.findIndex((each) => path === each || path.endsWith(each));
  return at < 0 ? null : (call.probes[at] ?? null);
}

/** The contract files of a call: eight legs at most in each, and one wall for all. */
export function contractFiles({ legs }: HostileCall, timeout_sec: number): readonly (readonly object[])[] {
  const contracts = legs.map(({ contract }, index) => ({
    goal: `${legMark(index)} How many pallets are there?`,
    timeout_sec,
    ...CONTRACTS[contract],
  }));
  return Array.from({ length: Math.ceil(contracts.length / 8) }, (_, at) => contracts.slice(at * 8, at * 8 + 8));
}

export function checksOf({ legs }: HostileCall, index: number): readonly string[] {
  return CONTRACTS[legs[index]?.contract ?? 0]?.acceptance ?? [];
}

export function hasSchema({ legs }: HostileCall, index: number): boolean {
  return "output_schema" in (CONTRACTS[legs[index]?.contract ?? 0] ?? {});
}

/** The config of a call: every wait is short. */
export function configOf(
  { engine, proxy, stream, tools, seed_reads, ctx_tokens, seats }: HostileCall,
  url: string,
): object {
  const names = ["one", "two"].slice(0, seats);
  return {
    seats: names.map((name) => ({
      name,
      base_url: url,
      model: name === "one" ? "m" : "m2",
      engine,
      proxy,
      stream,
      tools,
      seed_reads,
      ctx_tokens,
      slots: 8,
    })),
    agent_allow_write: true,
    limits: { contention_wait_sec: 2, admission_wait_sec: 1, slot_wait_sec: 10, capacity_wait_sec: 2 },
  };
}
