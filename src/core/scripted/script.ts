/**
 * The script of a scripted seat as it is written: the shape alone, from which `contracts/schemas/script.schema.json` is
 * made. What a shape cannot say, and what each key comes to, stands in `read-script.ts`.
 *
 * Source: delegation run, sections 17.2 and 17.3
 */
import * as v from "valibot";
import { ENGINES } from "../config/seat.ts";
import { ERROR_NAMES } from "./named-error.ts";

export const SCRIPT_LIMITS = {
  /** A script whole, and so much of its nesting. */
  file_bytes: 4 * 1024 * 1024,
  depth: 64,
  turns: 1000,
  /** What one reply's content, or its `raw`, comes to. */
  answer_bytes: 16 * 1024 * 1024,
  slots: 64,
  aliases: 64,
  states: 1000,
  /** The longest time that a script may name: a day. */
  ms: 24 * 60 * 60 * 1000,
} as const;

const between = (least: number, most: number) =>
  v.pipe(
    v.number(),
    v.integer("A whole number is due"),
    v.minValue(least, `From ${least} to ${most} is due`),
    v.maxValue(most, `From ${least} to ${most} is due`),
  );
const atMost = <const S extends v.GenericSchema>(item: S, most: number) =>
  v.pipe(v.array(item), v.maxLength(most, `At most ${most} of them are allowed`));

const Milliseconds = between(0, SCRIPT_LIMITS.ms);
const Count = between(0, 1_000_000_000);
const Status = between(200, 599);
const Name = v.pipe(
  v.string(),
  v.regex(
    /^[a-z0-9][a-z0-9._-]{0,63}$/,
    "1 to 64 of a-z, 0-9, dot, dash and underscore are due, a letter or digit first",
  ),
);
const ModelId = v.pipe(
  v.string(),
  v.regex(/^[!-~]{1,128}$/, "1 to 128 printable characters of ASCII without blanks are due"),
);
const Rate = v.pipe(
  v.number(),
  v.minValue(0.001, "A rate from 0.001 on is due"),
  v.maxValue(1_000_000_000, "A rate up to 1000000000 is due"),
);
const Headers = v.record(
  v.pipe(v.string(), v.regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/, "The name of a header is due")),
  v.pipe(v.string(), v.regex(/^[\t -~]{0,4096}$/, "Printable ASCII is due, at most 4096 characters")),
);

/** A number, or from `min` to `max`, both counted in. */
const Range = v.union([Count, v.strictObject({ min: v.optional(Count), max: v.optional(Count) })]);
/** A text, or several of which all must be there. */
const Texts = v.union([v.string(), atMost(v.string(), 64)]);

export const CONSTRAINTS = ["none", "any", "grammar", "json_schema", "json_object", "structured_outputs"] as const;

export const WhenShape = v.strictObject({
  goal_contains: v.optional(Texts),
  system_contains: v.optional(Texts),
  last_contains: v.optional(Texts),
  any_contains: v.optional(Texts),
  matches: v.optional(v.pipe(v.string(), v.description("RE2, over the texts of all messages joined by LF"))),
  step: v.optional(Range),
  last_tool: v.optional(v.string()),
  last_tool_contains: v.optional(Texts),
  tools: v.optional(v.union([v.boolean(), v.string()])),
  constraint: v.optional(v.picklist(CONSTRAINTS)),
  thinking: v.optional(v.picklist(["on", "off"])),
  stream: v.optional(v.boolean()),
  max_tokens: v.optional(Range),
  request: v.optional(Range),
});

const Piece = v.union([
  v.string(),
  v.strictObject({ repeat: v.string(), count: between(0, SCRIPT_LIMITS.answer_bytes) }),
  v.strictObject({ echo: v.picklist(["goal", "last"]) }),
]);

const Call = v.strictObject({
  name: v.string(),
  arguments: v.union([v.string(), v.record(v.string(), v.unknown())]),
  id: v.optional(v.nullable(v.string())),
  index: v.optional(v.nullable(between(0, 1000))),
  as_object: v.optional(v.boolean(), false),
});

const Usage = v.union([
  v.literal("none"),
  v.strictObject({
    prompt_tokens: Count,
    completion_tokens: Count,
    reasoning_tokens: v.optional(Count),
    cached_tokens: v.optional(Count),
  }),
]);

const Delay = v.union([
  Milliseconds,
  v.strictObject({
    headers: v.optional(Milliseconds, 0),
    first: v.optional(Milliseconds, 0),
    each: v.optional(Milliseconds, 0),
    end: v.optional(Milliseconds, 0),
    ping_ms: v.optional(between(1, SCRIPT_LIMITS.ms)),
  }),
]);

const Cut = v.strictObject({
  how: v.picklist(["length", "refuse", "no_end", "drop", "reset", "hang"]),
  at: v.optional(v.picklist(["bytes", "tokens", "events"]), "bytes"),
  n: v.optional(Count),
  in: v.optional(v.picklist(["content", "reasoning", "arguments"])),
});

const RawPiece = v.strictObject({
  text: v.optional(v.string()),
  b64: v.optional(v.string()),
  after_ms: v.optional(Milliseconds, 0),
  forever: v.optional(v.boolean(), false),
});

export const ReplyShape = v.strictObject({
  content: v.optional(v.union([v.string(), atMost(Piece, 1000)])),
  json: v.optional(v.unknown()),
  reasoning: v.optional(v.string()),
  tool_calls: v.optional(atMost(Call, 64)),
  finish_reason: v.optional(v.nullable(v.string())),
  usage: v.optional(Usage),
  chunk: v.optional(
    v.strictObject({ by: v.picklist(["chars", "tokens", "bytes", "all"]), n: v.optional(between(1, 1_000_000), 1) }),
  ),
  delay_ms: v.optional(Delay),
  ping_ms: v.optional(between(1, SCRIPT_LIMITS.ms)),
  progress: v.optional(v.union([v.boolean(), between(1, 1000)])),
  cut: v.optional(Cut),
  status: v.optional(Status),
  body: v.optional(v.union([v.string(), v.record(v.string(), v.unknown())])),
  headers: v.optional(Headers),
  error: v.optional(v.picklist(ERROR_NAMES)),
  retry_after: v.optional(between(0, 86_400)),
  raw: v.optional(atMost(RawPiece, 10_000)),
  forever: v.optional(v.boolean()),
  hold_ms: v.optional(Milliseconds),
});
export type ReplyShape = v.InferOutput<typeof ReplyShape>;

export const TurnShape = v.strictObject({
  id: v.pipe(v.string(), v.regex(/^[!-~]{1,64}$/, "1 to 64 printable characters of ASCII without blanks are due")),
  when: v.optional(WhenShape, {}),
  times: v.optional(between(1, 1_000_000)),
  count: v.optional(v.picklist(["conversation", "server"]), "conversation"),
  reply: ReplyShape,
});

export const STATES = ["ready", "loading", "busy", "down", "stopped"] as const;
export type State = (typeof STATES)[number];

const StateShape = v.strictObject({
  at_ms: v.optional(Milliseconds),
  at_request: v.optional(between(1, 1_000_000_000)),
  state: v.picklist(STATES),
  for_ms: v.optional(Milliseconds),
});

export const ENFORCED = ["ctx", "model", "history_arguments", "grammar_with_tools"] as const;
export type Enforced = (typeof ENFORCED)[number];

export const BUSY = ["queue", "reject", "overload"] as const;
export type Busy = (typeof BUSY)[number];

export const ScriptShape = v.pipe(
  v.strictObject({
    schema_version: v.literal(1),
    name: Name,
    engine: v.optional(v.picklist(ENGINES), "llama.cpp"),
    proxy: v.optional(v.picklist(["", "llama-swap"]), ""),
    model: v.optional(ModelId),
    aliases: v.optional(atMost(ModelId, SCRIPT_LIMITS.aliases), []),
    ctx_tokens: v.optional(between(1, 100_000_000), 32_768),
    slots: v.optional(between(1, SCRIPT_LIMITS.slots), 1),
    busy: v.optional(v.picklist(BUSY)),
    queue_max: v.optional(between(0, 100_000)),
    occupied: v.optional(
      atMost(
        v.strictObject({
          slots: between(1, SCRIPT_LIMITS.slots),
          from_ms: v.optional(Milliseconds, 0),
          for_ms: v.optional(Milliseconds),
        }),
        SCRIPT_LIMITS.states,
      ),
      [],
    ),
    states: v.optional(atMost(StateShape, SCRIPT_LIMITS.states), []),
    bytes_per_token: v.optional(between(1, 1024), 4),
    speed: v.optional(v.strictObject({ prefill_tok_s: v.optional(Rate), decode_tok_s: v.optional(Rate) })),
    token_env: v.optional(
      v.pipe(v.string(), v.regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, "The name of an environment variable is due")),
    ),
    enforce: v.optional(v.array(v.picklist(ENFORCED)), [...ENFORCED]),
    order: v.optional(v.picklist(["any", "strict"]), "any"),
    endpoints: v.optional(
      v.record(v.pipe(v.string(), v.regex(/^\/[!-~]{0,256}$/, "A path that begins with / is due")), Status),
      {},
    ),
    turns: v.pipe(
      v.array(TurnShape),
      v.minLength(1, "At least one turn is due"),
      v.maxLength(SCRIPT_LIMITS.turns, `At most ${SCRIPT_LIMITS.turns} turns are allowed`),
    ),
    otherwise: v.optional(ReplyShape),
  }),
  v.title("Script of a scripted seat"),
  v.description("What a seat without a model answers, turn by turn. Unknown keys are errors"),
);
export type ScriptShape = v.InferOutput<typeof ScriptShape>;
