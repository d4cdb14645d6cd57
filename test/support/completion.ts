/** What a model answers, as a test writes it: the rest is as it mostly is. */
import type { Completion, ReceivedCall } from "../../src/core/seat/endpoint.ts";

export function completion(said: Partial<Completion> = {}): Completion {
  return {
    content: "",
    reasoning: "",
    calls: [],
    finish_reason: "stop",
    is_cut: false,
    usage: { prompt_tokens: 100, completion_tokens: 20, reasoning_tokens: 0, cached_tokens: 0 },
    first_byte_ms: 5,
    prefill_ms: 10,
    decode_ms: 100,
    ...said,
  };
}

let minted = 0;

/** A call as it arrives: arguments as an object, or as the text that the model wrote. */
export function received(name: string, given: object | string, id: string | null = `c${++minted}`): ReceivedCall {
  return { id, name, arguments: typeof given === "string" ? given : JSON.stringify(given) };
}
