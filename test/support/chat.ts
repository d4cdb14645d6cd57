/** Chat requests as tests make them: a seat, a world with a real clock, and a watch that allows nothing to be silent. */
import type { Seat } from "../../src/core/config/seat.ts";
import { RequestGate } from "../../src/core/request-gate.ts";
import type { ChatPhase, ChatProgress, ChatRequest, Watch } from "../../src/core/seat/endpoint.ts";
import { SeatMemory } from "../../src/core/seat/modes.ts";
import { openEndpoint } from "../../src/llm/endpoint.ts";
import type { EndpointWorld } from "../../src/llm/world.ts";
import { seatOf } from "./seat.ts";

export const ASK: ChatRequest = {
  messages: [{ role: "user", content: "hi é" }],
  tools: [],
  max_tokens: 100,
  thinking: "auto",
  constraint: null,
};

/** An endpoint of a world of its own: nothing that one test finds out is known to the next. */
export function endpointOf(seat: Partial<Seat>, world: Partial<EndpointWorld> = {}) {
  return openEndpoint(seatOf(seat), {
    environment: () => undefined,
    clock: { ms: () => performance.now() },
    gate: new RequestGate(),
    refused: new SeatMemory(),
    ...world,
  });
}

export type Watched = Watch & {
  readonly looks: readonly { readonly silent_ms: number; readonly phase: ChatPhase }[];
  readonly progress: readonly ChatProgress[];
};

/** A watch that keeps what it was told. Half a minute of silence is allowed, which no test of its own waits for. */
export function watching(more: Partial<Watch> & { readonly say?: readonly ("wait" | "abort")[] } = {}): Watched {
  const looks: { silent_ms: number; phase: ChatPhase }[] = [];
  const progress: ChatProgress[] = [];
  const { say = [], ...rest } = more;
  return {
    signal: new AbortController().signal,
    allowance_ms: () => 30_000,
    look: async (silent_ms, phase) => {
      looks.push({ silent_ms, phase });
      return say[looks.length - 1] ?? "abort";
    },
    onProgress: (each) => progress.push(each),
    ...rest,
    looks,
    progress,
  };
}
