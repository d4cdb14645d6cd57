/** A model seat as the config names it: one model behind one base URL. See `read.ts` for reading it. */
import * as v from "valibot";
import type { JsonObject } from "../json/value.ts";
import { integerIn, NAME_PATTERN, switchOf, VARIABLE_PATTERN } from "./field.ts";

export const ENGINES = ["llama.cpp", "vllm", "ollama", "openai"] as const;
export type Engine = (typeof ENGINES)[number];

/** What a server may be asked for at most in one completion, in tokens. */
const MOST_TOKENS = 1_048_576;

/** What a server may call a model. */
export const MODEL_PATTERN = {
  pattern: /^[^\x00-\x1f\x7f-\x9f]{1,512}$/,
  rule: "a text of 1 to 512 characters on one line",
} as const;

/** The range of a window, in tokens; 0 is "not known". */
export const WINDOW_RANGE = [0, 16_777_216] as const;

export const SeatFields = v.strictObject({
  name: v.pipe(v.string(), v.regex(NAME_PATTERN.pattern, NAME_PATTERN.rule), v.description("What results report")),
  base_url: v.pipe(
    v.string(),
    v.maxLength(2048),
    v.description("The model server; a trailing / or /v1 is taken off. Requests go to <base_url>/v1/…"),
  ),
  model: v.pipe(v.string(), v.regex(MODEL_PATTERN.pattern, MODEL_PATTERN.rule), v.description("Sent as model")),
  engine: v.pipe(v.picklist(ENGINES), v.description("The program that serves the model")),
  proxy: v.pipe(
    v.optional(v.picklist(["", "llama-swap"]), ""),
    v.description("A swapping proxy in front of the engine"),
  ),
  api_key_env: v.pipe(
    v.optional(v.pipe(v.string(), v.regex(VARIABLE_PATTERN.pattern, VARIABLE_PATTERN.rule)), ""),
    v.description("NAME of the environment variable that holds the key; empty sends none"),
  ),
  ctx_tokens: integerIn(0, WINDOW_RANGE, "Window of one request, in tokens; 0: asked of the server"),
  slots: integerIn(0, [0, 1024], "Requests at once; 0: asked of the server, else by the engine"),
  step_tokens: integerIn(4096, [1, MOST_TOKENS], "Completion budget of a step, in tokens"),
  final_tokens: integerIn(8192, [1, MOST_TOKENS], "Completion budget of a final answer; not below step_tokens"),
  thinking: v.pipe(
    v.optional(v.picklist(["auto", "on", "off"]), "auto"),
    v.description("Where the contract does not say"),
  ),
  profile: v.pipe(
    v.optional(v.string(), "research"),
    v.description("Profile of contracts that name none: research, general or edit"),
  ),
  tools: switchOf(true, "The model can call tools; false: single-shot mode"),
  stream: switchOf(true, "Answers are streamed; false only for servers that cannot stream with tools"),
  seed_reads: switchOf(true, "The documents are read into the conversation before the first turn"),
  temperature: v.pipe(
    v.optional(v.nullable(v.pipe(v.number(), v.minValue(0), v.maxValue(2))), 0),
    v.description("Sent as it is; null leaves it out"),
  ),
  seed: v.pipe(
    v.optional(
      v.nullable(
        v.pipe(v.number(), v.integer(), v.minValue(Number.MIN_SAFE_INTEGER), v.maxValue(Number.MAX_SAFE_INTEGER)),
      ),
      42,
    ),
    v.description("Sent as it is; null leaves it out"),
  ),
  extra_body: v.pipe(
    v.optional(v.record(v.string(), v.unknown()), {}),
    v.description("Merged into every chat request of this seat"),
  ),
});

/** Every key is there; `base_url` has no trailing `/` or `/v1`. */
export type Seat = Readonly<Omit<v.InferOutput<typeof SeatFields>, "extra_body"> & { extra_body: JsonObject }>;

/** What a request is made of: not for `extra_body` to set. */
export const RESERVED_BODY_KEYS = [
  "messages",
  "tools",
  "tool_choice",
  "model",
  "stream",
  "grammar",
  "response_format",
  "structured_outputs",
] as const;

/** What a look at a base URL found; the port of `src/llm` that makes it is `(base_url) => Promise<FoundSeat | null>`. */
export type FoundSeat = {
  readonly engine: Engine;
  readonly proxy: Seat["proxy"];
  /** Ids as the models list gives them, in its order; may be empty. */
  readonly models: readonly string[];
  /** The window of one request where the server tells; null where it does not. */
  readonly ctx_tokens: number | null;
  /** Only where the server tells that it drops tools: the chat template of its model knows none. */
  readonly takes_tools?: false;
};
