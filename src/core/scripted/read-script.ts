/**
 * The bytes of a script to what is played, or to everything that is wrong with it at once.
 *
 * Source: delegation run, sections 17.1 to 17.5
 */
import type { Engine } from "../config/seat.ts";
import { looksLikeSecret } from "../config/secret-shape.ts";
import { pointerTo } from "../delegation/pointer.ts";
import { type DocumentIssue, readValue } from "../json/read-document.ts";
import { compactSource, memberOf, readSource, roundedValue, type SourceNode } from "../json/source.ts";
import { compilePattern, type Pattern } from "../pattern/re2.ts";
import { decodeUtf8, utf8Length } from "../utf8.ts";
import type { StateEntry, Stranger } from "./course.ts";
import type { Cut, Delay, Part, Piece, PlayedCall, Reply } from "./reply.ts";
import { type Busy, type Enforced, type ReplyShape, SCRIPT_LIMITS, ScriptShape } from "./script.ts";
import type { Range, Turn, When } from "./turn.ts";

/** A script that makes sense: every key is there, and every text that is sent is ready to be sent. */
export type Script = {
  readonly name: string;
  readonly engine: Engine;
  readonly proxy: "" | "llama-swap";
  /** As it is published: `scripted/` before what the script says. */
  readonly model_id: string;
  readonly aliases: readonly string[];
  readonly ctx_tokens: number;
  readonly slots: number;
  readonly busy: Busy;
  readonly queue_max: number;
  readonly occupied: readonly Stranger[];
  readonly states: readonly StateEntry[];
  readonly bytes_per_token: number;
  readonly prefill_tok_s: number | null;
  readonly decode_tok_s: number | null;
  /** Whose value requests must bring; null: none. */
  readonly token_env: string | null;
  readonly enforce: ReadonlySet<Enforced>;
  readonly order: "any" | "strict";
  readonly endpoints: Readonly<Record<string, number>>;
  readonly turns: readonly Turn[];
  readonly otherwise: Reply;
};

export type ReadScript =
  | { readonly ok: true; readonly script: Script }
  /** At least one; `path` is a JSON pointer. */
  | { readonly ok: false; readonly issues: readonly DocumentIssue[] };

const QUEUE_MAX = 512;

/** What meets no turn, unless the script says something else. */
const OTHERWISE: Reply = {
  kind: "http",
  status: 400,
  headers: { "content-type": "application/json" },
  body: '{"error":{"code":400,"type":"scripted_no_turn","message":"scripted seat: no turn fits this request"}}',
  delay: { headers: 0, first: 0, each: 0, end: 0 },
  hold_ms: 0,
};

/**
 * Reads a script strictly.
 *
 * Errors: none is thrown, whatever the bytes
 */
export function readScript(bytes: Uint8Array): ReadScript {
  if (bytes.length > SCRIPT_LIMITS.file_bytes) return scriptTooLarge();
  const decoded = decodeUtf8(bytes);
  if (!decoded.ok) return refused("not_json", `byte ${decoded.offset} is no UTF-8`);
  const source = readSource(decoded.text, { maxDepth: SCRIPT_LIMITS.depth });
  if (!source.ok) {
    const { line, column, message } = source.fault;
    return refused("not_json", `line ${line}, column ${column}: ${message}`);
  }
  const read = readValue(ScriptShape, roundedValue(source.node));
  if (!read.ok) return read;
  const reader = new ScriptReader(read.value, source.node);
  const script = reader.read();
  return reader.issues.length > 0 ? { ok: false, issues: reader.issues } : { ok: true, script };
}

/** What a script is that has more bytes than any may have. */
export function scriptTooLarge(): ReadScript {
  return refused("too_large", `it has more than ${SCRIPT_LIMITS.file_bytes / 1024 / 1024} MiB`);
}

function refused(code: string, why: string): ReadScript {
  return { ok: false, issues: [{ code, path: "", message: `Cannot read the script: ${why}`, hint: null }] };
}

/** Keys of a reply by what kind of reply they make; `delay_ms` goes with each. */
const KINDS = {
  status: ["status", "body", "headers", "delay_ms"],
  error: ["error", "retry_after", "delay_ms", "hold_ms"],
  raw: ["raw", "forever", "status", "headers", "cut", "delay_ms", "hold_ms"],
} as const satisfies Record<string, readonly (keyof ReplyShape)[]>;

/** Keys that do not stand in an answer of the model, and what they go with. */
const NEEDS_KIND: ReadonlyMap<string, string> = new Map([
  ["headers", '"status" or "raw"'],
  ["retry_after", '"error"'],
  ["forever", '"raw"'],
]);

/** Headers that are the server's own: they say where a body ends, and whose it is. */
const RESERVED_HEADERS: ReadonlySet<string> = new Set([
  "content-length",
  "transfer-encoding",
  "connection",
  "writ-scripted",
]);

class ScriptReader {
  readonly issues: DocumentIssue[] = [];

  constructor(
    private readonly shape: ScriptShape,
    private readonly source: SourceNode,
  ) {}

  read(): Script {
    const { shape } = this;
    const { engine, proxy, speed } = shape;
    const busy = shape.busy ?? usualBusy(engine, proxy);
    if (shape.token_env !== undefined && looksLikeSecret(shape.token_env)) {
      const message = "It looks like a token itself; it must be the NAME of an environment variable";
      this.tell("/token_env", message, "Put it into an environment variable, and name that here");
    }
    if (shape.queue_max !== undefined && busy !== "overload") {
      this.tell("/queue_max", 'Only "busy": "overload" bounds the queue', 'Set busy to "overload", or leave it out');
    }
    return {
      name: shape.name,
      engine,
      proxy,
      model_id: `scripted/${shape.model ?? shape.name}`,
      aliases: shape.aliases,
      ctx_tokens: shape.ctx_tokens,
      slots: shape.slots,
      busy,
      queue_max: shape.queue_max ?? QUEUE_MAX,
      occupied: shape.occupied.map(({ slots, from_ms, for_ms }) => ({ slots, from_ms, for_ms: for_ms ?? null })),
      states: this.states(),
      bytes_per_token: shape.bytes_per_token,
      prefill_tok_s: speed?.prefill_tok_s ?? null,
      decode_tok_s: speed?.decode_tok_s ?? null,
      token_env: shape.token_env ?? null,
      enforce: new Set(shape.enforce),
      order: shape.order,
      endpoints: shape.endpoints,
      turns: this.turns(),
      otherwise:
        shape.otherwise === undefined
          ? OTHERWISE
          : this.reply(shape.otherwise, "/otherwise", child(this.source, "otherwise")),
    };
  }

  private turns(): readonly Turn[] {
    const seen = new Map<string, number>();
    const list = child(this.source, "turns");
    return this.shape.turns.map((turn, index): Turn => {
      const place = pointerTo("/turns", index);
      const before = seen.get(turn.id);
      if (before === undefined) seen.set(turn.id, index);
      else this.tell(`${place}/id`, `Turn ${before} is called "${turn.id}" too`, "Give each turn an id of its own");
      return {
        id: turn.id,
        when: this.when(turn.when, `${place}/when`),
        times: turn.times ?? null,
        count: turn.count,
        reply: this.reply(turn.reply, `${place}/reply`, child(child(list, index), "reply")),
      };
    });
  }

  private when(when: ScriptShape["turns"][number]["when"], place: string): When {
    return {
      goal_contains: texts(when.goal_contains),
      system_contains: texts(when.system_contains),
      last_contains: texts(when.last_contains),
      any_contains: texts(when.any_contains),
      matches: this.pattern(when.matches, `${place}/matches`),
      step: this.range(when.step, `${place}/step`),
      last_tool: when.last_tool ?? null,
      last_tool_contains: texts(when.last_tool_contains),
      tools: when.tools ?? null,
      constraint: when.constraint ?? null,
      thinking: when.thinking ?? null,
      stream: when.stream ?? null,
      max_tokens: this.range(when.max_tokens, `${place}/max_tokens`),
      request: this.range(when.request, `${place}/request`),
    };
  }

  private pattern(source: string | undefined, place: string): Pattern | null {
    if (source === undefined) return null;
    const compiled = compilePattern(source);
    if (compiled.ok) return compiled.pattern;
    this.tell(place, `This is no RE2 pattern: ${compiled.reason}`);
    return null;
  }

  private range(
    range: number | { readonly min?: number | undefined; readonly max?: number | undefined } | undefined,
    place: string,
  ): Range | null {
    if (range === undefined) return null;
    if (typeof range === "number") return { min: range, max: range };
    const { min = null, max = null } = range;
    if (min === null && max === null) this.tell(place, "One of min, max is due");
    if (min !== null && max !== null && min > max) this.tell(place, `Nothing is from ${min} to ${max}`);
    return { min, max };
  }

  private states(): readonly StateEntry[] {
    const { states, proxy } = this.shape;
    const taken: { readonly index: number; readonly from: number; readonly to: number }[] = [];
    const requests = new Map<number, number>();
    states.forEach(({ at_ms, at_request, state, for_ms }, index) => {
      const place = pointerTo("/states", index);
      if ((at_ms === undefined) === (at_request === undefined)) {
        this.tell(
          place,
          at_ms === undefined ? "One of at_ms, at_request is due" : "Only one of at_ms, at_request is due",
        );
      }
      if (state === "stopped" && proxy === "") {
        this.tell(`${place}/state`, 'Only a proxy has a model that is "stopped"', 'Set "proxy": "llama-swap"');
      }
      if (at_request !== undefined) {
        const before = requests.get(at_request);
        if (before !== undefined)
          this.tell(place, `It overlaps with entry ${before}: both begin at request ${at_request}`);
        else requests.set(at_request, index);
      } else if (at_ms !== undefined) taken.push({ index, from: at_ms, to: at_ms + (for_ms ?? 0) });
    });
    // Without for_ms a state lasts until the next one begins.
    taken.sort((left, right) => left.from - right.from || left.index - right.index);
    taken.forEach((entry, at) => {
      const before = taken[at - 1];
      if (before !== undefined && (entry.from < before.to || entry.from === before.from)) {
        this.tell(pointerTo("/states", entry.index), `It overlaps with entry ${before.index}`);
      }
    });
    return states.map(({ at_ms, at_request, state, for_ms }) => ({
      at: at_request === undefined ? { ms: at_ms ?? 0 } : { request: at_request },
      state,
      for_ms: for_ms ?? null,
    }));
  }

  private reply(shape: ReplyShape, place: string, source: SourceNode | null): Reply {
    const given = Object.keys(shape);
    const kind = given.includes("raw")
      ? "raw"
      : given.includes("error")
        ? "error"
        : given.includes("status") || given.includes("body")
          ? "status"
          : null;
    const allowed: readonly string[] | null = kind === null ? null : KINDS[kind];
    for (const key of given) {
      if (allowed === null ? NEEDS_KIND.has(key) : !allowed.includes(key)) {
        const message =
          kind === null ? `"${key}" goes with ${NEEDS_KIND.get(key)}` : `"${key}" does not go with "${kind}"`;
        this.tell(pointerTo(place, key), message);
      }
    }
    this.headers(shape.headers, place);
    const timing = { delay: delayOf(shape.delay_ms), hold_ms: shape.hold_ms ?? 0 };
    const headers = shape.headers ?? {};
    switch (kind) {
      case "status":
        return { kind: "http", status: shape.status ?? 200, ...bodyOf(shape, source), ...timing };
      case "error":
        return { kind: "error", name: shape.error ?? "internal", retry_after: shape.retry_after ?? null, ...timing };
      case "raw": {
        const { pieces, forever } = this.raw(shape, place);
        return {
          kind: "raw",
          status: shape.status ?? 200,
          headers,
          pieces,
          forever,
          cut: this.rawCut(shape, place),
          ...timing,
        };
      }
      default:
        return this.answer(shape, place, source, timing);
    }
  }

  private answer(
    shape: ReplyShape,
    place: string,
    source: SourceNode | null,
    timing: { readonly delay: Delay; readonly hold_ms: number },
  ): Reply {
    const json = child(source, "json");
    if (json !== null && shape.content !== undefined) {
      this.tell(`${place}/json`, '"json" stands in place of "content"', "Leave one of them out");
    }
    const progress = shape.progress ?? false;
    if (progress !== false && this.shape.engine !== "llama.cpp") {
      this.tell(`${place}/progress`, "Only llama.cpp tells how far the prompt is read");
    }
    const inDelay = typeof shape.delay_ms === "object" ? shape.delay_ms.ping_ms : undefined;
    if (inDelay !== undefined && shape.ping_ms !== undefined) {
      this.tell(`${place}/ping_ms`, '"ping_ms" is given twice: here and in "delay_ms"');
    }
    const content = json !== null ? [compactSource(json)] : piecesOf(shape.content);
    const size = content.reduce((sum, piece) => sum + pieceBytes(piece), 0);
    if (size > SCRIPT_LIMITS.answer_bytes) {
      this.tell(`${place}/content`, `It comes to ${size} bytes, at most ${SCRIPT_LIMITS.answer_bytes} are allowed`);
    }
    const calls = this.calls(shape, place, source);
    return {
      kind: "answer",
      reasoning: shape.reasoning ?? "",
      // Not even made where it is too large.
      content: size > SCRIPT_LIMITS.answer_bytes ? [] : content,
      calls,
      finish_reason: shape.finish_reason,
      usage: shape.usage ?? null,
      chunk: shape.chunk ?? { by: "tokens", n: 1 },
      ping_ms: shape.ping_ms ?? inDelay ?? null,
      progress: Number(progress),
      cut: this.cut(shape, calls, json !== null || shape.content !== undefined, place),
      ...timing,
    };
  }

  private calls(shape: ReplyShape, place: string, source: SourceNode | null): readonly PlayedCall[] {
    const list = child(source, "tool_calls");
    return (shape.tool_calls ?? []).map((call, index) => {
      const given = child(child(list, index), "arguments");
      const isText = typeof call.arguments === "string";
      if (isText && call.as_object) {
        this.tell(`${place}/tool_calls/${index}/as_object`, 'Arguments that are a text cannot be sent "as_object"');
      }
      return {
        name: call.name,
        arguments: typeof call.arguments === "string" ? call.arguments : given === null ? "" : compactSource(given),
        id: call.id,
        index: call.index,
        as_object: call.as_object && !isText,
      };
    });
  }

  private cut(shape: ReplyShape, calls: readonly PlayedCall[], hasContent: boolean, place: string): Cut | null {
    const { cut } = shape;
    if (cut === undefined) return null;
    const there: Part[] = [];
    if (calls.length > 0) there.push("arguments");
    if (hasContent) there.push("content");
    if (shape.reasoning !== undefined) there.push("reasoning");
    const part = cut.in ?? there[0] ?? "content";
    if (cut.how === "refuse" && (this.shape.engine !== "llama.cpp" || part !== "arguments")) {
      this.tell(`${place}/cut/how`, '"refuse" is what llama.cpp does with the arguments of a call that was cut');
    } else if (cut.in !== undefined && !there.includes(cut.in)) {
      this.tell(`${place}/cut/in`, `The reply has no ${cut.in}`);
    } else if (cut.n !== undefined && there.length === 0) {
      this.tell(`${place}/cut/n`, "The reply has no part that could be counted in");
    }
    if (part === "arguments" && calls.at(-1)?.as_object === true) {
      this.tell(`${place}/cut`, "Arguments that are sent as an object cannot be cut");
    }
    return { how: cut.how, at: cut.at, n: cut.n ?? null, in: part };
  }

  private raw(shape: ReplyShape, place: string) {
    const given = shape.raw ?? [];
    if (given.length === 0) this.tell(`${place}/raw`, "At least one piece is due");
    const isForever = shape.forever === true || given.at(-1)?.forever === true;
    let size = 0;
    const pieces = given.map(({ text, b64, after_ms, forever }, index) => {
      const own = `${place}/raw/${index}`;
      if ((text === undefined) === (b64 === undefined)) this.tell(own, "One of text, b64 is due, and not both");
      const bytes = text !== undefined ? new TextEncoder().encode(text) : decodeBase64(b64 ?? "");
      if (bytes === null) this.tell(`${own}/b64`, "This is no base64");
      if (forever && index < given.length - 1) this.tell(`${own}/forever`, "Only the last piece can come forever");
      else if (isForever && index === given.length - 1 && bytes?.length === 0) {
        this.tell(own, "What comes forever must not be empty");
      }
      size += bytes?.length ?? 0;
      return { bytes: bytes ?? new Uint8Array(0), after_ms };
    });
    if (size > SCRIPT_LIMITS.answer_bytes) this.tell(`${place}/raw`, `It comes to ${size} bytes, which is too much`);
    return { pieces, forever: isForever };
  }

  private rawCut({ cut }: ReplyShape, place: string): { how: "drop" | "reset" | "hang"; n: number | null } | null {
    if (cut === undefined) return null;
    const { how, at, n = null } = cut;
    if (at !== "bytes" || cut.in !== undefined) this.tell(`${place}/cut`, 'Raw bytes are cut at "bytes", in nothing');
    if (how === "drop" || how === "reset" || how === "hang") return { how, n };
    this.tell(`${place}/cut/how`, `Raw bytes cannot end in "${how}": "drop", "reset" or "hang" is due`);
    return null;
  }

  private headers(headers: ReplyShape["headers"], place: string): void {
    for (const name of Object.keys(headers ?? {})) {
      if (RESERVED_HEADERS.has(name.toLowerCase())) {
        this.tell(pointerTo(`${place}/headers`, name), `The header "${name}" is the server's own`);
      }
    }
  }

  private tell(path: string, message: string, hint: string | null = null): void {
    this.issues.push({ code: "bad_value", path, message, hint });
  }
}

/** What a request meets when all slots are taken, where the script does not say it. */
function usualBusy(engine: Engine, proxy: Script["proxy"]): Busy {
  if (proxy !== "" || engine === "openai") return "reject";
  return engine === "ollama" ? "overload" : "queue";
}

function bodyOf({ body, headers = {} }: ReplyShape, source: SourceNode | null) {
  const own = child(source, "body");
  const isText = typeof body === "string" || body === undefined || own === null;
  const hasType = Object.keys(headers).some((name) => name.toLowerCase() === "content-type");
  const type = { "content-type": isText ? "text/plain; charset=utf-8" : "application/json" };
  return {
    headers: hasType || body === undefined ? headers : { ...type, ...headers },
    body: typeof body === "string" ? body : own === null ? "" : compactSource(own),
  };
}

function delayOf(delay: ReplyShape["delay_ms"]): Delay {
  if (typeof delay === "number") return { headers: delay, first: 0, each: 0, end: 0 };
  const { headers = 0, first = 0, each = 0, end = 0 } = delay ?? {};
  return { headers, first, each, end };
}

function piecesOf(content: ReplyShape["content"]): readonly Piece[] {
  if (content === undefined) return [];
  return typeof content === "string" ? [content] : content;
}

/** Without an echo, whose size is the request's. */
function pieceBytes(piece: Piece): number {
  if (typeof piece === "string") return utf8Length(piece);
  return "repeat" in piece ? utf8Length(piece.repeat) * piece.count : 0;
}

function texts(given: string | readonly string[] | undefined): readonly string[] {
  return given === undefined ? [] : typeof given === "string" ? [given] : given;
}

function child(node: SourceNode | null, step: string | number): SourceNode | null {
  if (node?.kind === "object" && typeof step === "string") return memberOf(node, step);
  return node?.kind === "array" && typeof step === "number" ? (node.items[step] ?? null) : null;
}

/** null: it is no base64 (RFC 4648 section 4, with its padding). */
function decodeBase64(text: string): Uint8Array | null {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return null;
  const binary = atob(text);
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}
