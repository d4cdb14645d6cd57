/** How many requests a seat serves at once where neither its config nor its server says. */
import type { Engine } from "../config/seat.ts";

/** Source: delegation run, section 2.3 */
export const PRESUMED_SLOTS: Readonly<Record<Engine, number>> = { "llama.cpp": 1, ollama: 1, vllm: 8, openai: 4 };
