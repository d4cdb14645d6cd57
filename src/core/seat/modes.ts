/**
 * In which order a seat is asked for form, and which way of asking worked last.
 *
 * Source: delegation run, section 5.9 (structured step, preferred; fall-backs, in order)
 */
import type { Engine } from "../config/seat.ts";
import type { StructuredMode } from "./endpoint.ts";

const ORDER: Readonly<Record<Engine, readonly StructuredMode[]>> = {
  "llama.cpp": ["grammar", "json_schema", "json_object", "prompt"],
  // Servers before 0.12 ignore "structured_outputs"; a mode that was ignored shows in the answer.
  vllm: ["json_schema", "structured_outputs", "prompt"],
  ollama: ["json_schema", "json_object", "prompt"],
  openai: ["json_schema", "json_object", "prompt"],
};

/** How long a way that worked is asked first, in milliseconds. */
const MEMORY_MS = 30 * 60 * 1000;
const MOST_SEATS = 1000;

/**
 * The ways to ask for form, the best one first; "prompt" is always the last.
 *
 * @param hasGrammar the schema makes a grammar
 * @param worked     the way that worked last, which is asked first; the others follow in their order
 */
export function modesFor(
  engine: Engine,
  hasGrammar: boolean,
  worked: StructuredMode | null = null,
): readonly StructuredMode[] {
  const modes = ORDER[engine].filter((mode) => mode !== "grammar" || hasGrammar);
  return worked === null || !modes.includes(worked) ? modes : [worked, ...modes.filter((mode) => mode !== worked)];
}

/** Something that was found out about a seat, kept for 30 minutes by its key (`seatKey`). One for a process. */
export class SeatMemory<T> {
  private readonly entries = new Map<string, { readonly value: T; readonly at_ms: number }>();

  /** @param now_ms from a monotonic clock, the same one as in `set` */
  get(key: string, now_ms: number): T | null {
    const entry = this.entries.get(key);
    return entry === undefined || now_ms - entry.at_ms >= MEMORY_MS ? null : entry.value;
  }

  set(key: string, value: T, now_ms: number): void {
    this.entries.delete(key);
    this.entries.set(key, { value, at_ms: now_ms });
    for (const oldest of this.entries.keys()) {
      if (this.entries.size <= MOST_SEATS) break;
      this.entries.delete(oldest);
    }
  }
}
