/** The checks of what an ollama really reads: it cuts a prompt that is too long, and says nothing. */
import type { Seat } from "../core/config/seat.ts";
import type { Endpoint } from "../core/seat/endpoint.ts";
import type { Finding } from "./check.ts";
import { ASK_MS, ask, faultOf, type Say } from "./seat-chat.ts";
import type { World } from "./world.ts";

/** More numbers than this are not sent. */
const MOST_NUMBERS = 250_000;

/** Every tokenizer needs a token or more for a number of three digits; one that was not read was cut. */
export async function* ollamaFindings(world: World, endpoint: Endpoint, seat: Seat, say: Say): AsyncGenerator<Finding> {
  const count = Math.min(MOST_NUMBERS, Math.floor(seat.ctx_tokens / 2));
  const numbers = Array.from({ length: count }, (_, index) => 100 + (index % 900)).join(" ");
  const answer = await ask(world, endpoint, { messages: [{ role: "user", content: numbers }], max_tokens: 1 });
  if (answer.kind !== "answered") yield faultOf("long prompt", answer, say);
  else {
    const read = answer.completion.usage?.prompt_tokens ?? null;
    if (read === null) yield say.warn("long prompt", "It does not say how many tokens it read");
    else if (read >= count) yield say.pass("long prompt", `It read a prompt of half the window whole, ${read} tokens`);
    else {
      const message = `It read ${read} tokens of a prompt of ${count} or more: its window is smaller than ${seat.ctx_tokens}`;
      yield say.fail("long prompt", message, "Set OLLAMA_CONTEXT_LENGTH for its server, or a smaller ctx_tokens");
    }
  }
  const loaded = await endpoint.loadedWindowTokens(world.deadline(ASK_MS));
  if (loaded === null) yield say.warn("loaded window", "/api/ps does not list the model");
  else if (loaded >= seat.ctx_tokens) yield say.pass("loaded window", `${loaded} tokens`);
  else {
    const message = `It is loaded with ${loaded} tokens, and the config says ${seat.ctx_tokens}`;
    yield say.fail("loaded window", message, `Set ctx_tokens to ${loaded}, or OLLAMA_CONTEXT_LENGTH for its server`);
  }
}
