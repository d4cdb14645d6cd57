/** A model seat as the config names it: one model behind one base URL. Every key is there; see `config.ts` for reading it. */
import type { JsonObject } from "../json/value.ts";

export const ENGINES = ["llama.cpp", "vllm", "ollama", "openai"] as const;
export type Engine = (typeof ENGINES)[number];

export type Seat = {
  /** What results report. */
  readonly name: string;
  /** Without a trailing `/` or `/v1`: requests go to `<base_url>/v1/…`. */
  readonly base_url: string;
  readonly model: string;
  readonly engine: Engine;
  /** A swapping proxy in front of the engine, or "". */
  readonly proxy: "" | "llama-swap";
  /** The NAME of a variable that holds the key; "" sends none. */
  readonly api_key_env: string;
  /** The window of one request, in tokens; 0: not known, asked of the server where it tells. */
  readonly ctx_tokens: number;
  /** Requests at once; 0: asked of the server, else by the engine. */
  readonly slots: number;
  readonly step_tokens: number;
  readonly final_tokens: number;
  readonly thinking: "auto" | "on" | "off";
  readonly profile: string;
  readonly tools: boolean;
  readonly stream: boolean;
  readonly seed_reads: boolean;
  /** null leaves the field out of requests. */
  readonly temperature: number | null;
  readonly seed: number | null;
  /** Merged into every chat request. */
  readonly extra_body: JsonObject;
};
