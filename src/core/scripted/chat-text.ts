/** The texts of the chat endpoint as each engine spells them: events of a stream, the one object of an answer without. */
import type { Engine } from "../config/seat.ts";
import type { JsonObject } from "../json/value.ts";
import type { PlayedCall, PlayedUsage } from "./reply.ts";
import type { CutDelta, Delta, Segment, Sent } from "./segments.ts";

/** What every chat object of a scripted seat carries: it never passes for a model. */
export const FINGERPRINT = "writ-scripted";

type Author = {
  readonly engine: Engine;
  readonly model_id: string;
  readonly n: number;
  readonly created: number;
  readonly prompt_tokens: number;
};

/** An event in three pieces: `text` is the part of a delta that a script cuts, as it stands between the others. */
type Spelled = { readonly head: string; readonly text: string; readonly tail: string };

export class ChatText {
  /** The field that reasoning stands in. */
  private readonly reasoningKey: "reasoning" | "reasoning_content";
  /** How the event of every delta begins. */
  private readonly opening: string;

  constructor(private readonly author: Author) {
    const { engine } = author;
    const base = JSON.stringify(this.base("chat.completion.chunk"));
    this.opening = `data: ${base.slice(0, -1)},"choices":[{"index":0,"delta":{`;
    this.reasoningKey = engine === "vllm" || engine === "ollama" ? "reasoning" : "reasoning_content";
  }

  /** Opens the answer before its first delta; ollama has no such event. */
  roleEvent(): string | null {
    const { engine } = this.author;
    if (engine === "ollama") return null;
    return this.chunk({ role: "assistant", content: engine === "llama.cpp" ? null : "" }, null);
  }

  deltaEvent(delta: Delta): string {
    const { head, text, tail } = this.spell(delta);
    return `${head}${text}${tail}`;
  }

  /** An event up to its cut. */
  partialDelta({ delta, text, bytes }: CutDelta): Uint8Array {
    const { head } = this.spell(delta);
    return joined(`${head}${openText(delta, text)}`, bytes);
  }

  /** `share` of the prompt that is read, 0 to 1. */
  progressEvent(share: number, ms: number): string {
    const total = this.author.prompt_tokens;
    const prompt_progress = { total, cache: 0, processed: Math.round(total * share), time_ms: Math.round(ms) };
    return this.chunk({ role: "assistant", content: null }, null, { prompt_progress });
  }

  finishEvent(finishReason: string | null): string {
    const delta = this.author.engine === "ollama" ? { role: "assistant", content: "" } : {};
    return this.chunk(delta, finishReason);
  }

  usageEvent(usage: PlayedUsage): string {
    return eventOf({ ...this.base("chat.completion.chunk"), choices: [], usage: usageObject(usage) });
  }

  /** The whole answer as one object. */
  wholeObject(segments: readonly Segment[], finishReason: string | null, usage: PlayedUsage | null): string {
    return `${this.openObject(segments)}${this.closeObject(finishReason, usage)}`;
  }

  /** The object up to where the cut falls. */
  cutObject({ all, prefix }: Sent): Uint8Array {
    if (prefix === null) return joined(this.openObject(all), new Uint8Array(0));
    const segment = all[prefix.at];
    if (segment === undefined) return joined(this.openObject([]), new Uint8Array(0));
    const before = all.slice(0, prefix.at);
    return joined(`${this.openObject(before, segment)}${openText(segment, prefix.text)}`, prefix.bytes);
  }

  /**
   * The beginning of the object up to the end of its message's members; of `cut`, a segment behind the others, up to
   * where its text begins.
   */
  private openObject(segments: readonly Segment[], cut?: Segment): string {
    const { engine } = this.author;
    const base = JSON.stringify(this.base("chat.completion"));
    const hasCalls = segments.some(({ call }) => call !== null);
    let text = `${base.slice(0, -1)},"choices":[{"index":0,"message":{"role":"assistant"`;
    for (const { part, text: own } of segments) {
      if (part === "reasoning") text += `,"${this.reasoningKey}":${JSON.stringify(own)}`;
    }
    if (cut?.part === "reasoning") return `${text},"${this.reasoningKey}":`;
    if (cut?.part === "content") return `${text},"content":`;
    const content = segments.find(({ part }) => part === "content")?.text;
    const none = (hasCalls || cut !== undefined) && engine !== "ollama" ? "null" : '""';
    text += `,"content":${content === undefined ? none : JSON.stringify(content)}`;
    const calls = segments.flatMap((segment) => {
      const spelled = spellCall(segment, false, this.author.n);
      return spelled === null ? [] : [`${spelled.head}${spelled.text}${spelled.tail}`];
    });
    if (cut !== undefined) {
      const open = spellCall(cut, false, this.author.n)?.head ?? "";
      return `${text},"tool_calls":[${[...calls, open].join(",")}`;
    }
    return calls.length === 0 ? text : `${text},"tool_calls":[${calls.join(",")}]`;
  }

  private closeObject(finishReason: string | null, usage: PlayedUsage | null): string {
    const own = usage === null ? "" : `,"usage":${JSON.stringify(usageObject(usage))}`;
    return `},"finish_reason":${JSON.stringify(finishReason)}}]${own}}`;
  }

  private spell(delta: Delta): Spelled {
    const open = this.opening;
    const role = this.author.engine === "ollama" ? '"role":"assistant",' : "";
    const blank = this.author.engine === "ollama" ? `${role}"content":"",` : "";
    const close = '},"finish_reason":null}]}\n\n';
    const call = spellCall(delta, true, this.author.n);
    if (call !== null) {
      return { head: `${open}${blank}"tool_calls":[${call.head}`, text: call.text, tail: `${call.tail}]${close}` };
    }
    const key = delta.part === "reasoning" ? `${blank}"${this.reasoningKey}":` : `${role}"content":`;
    return { head: `${open}${key}`, text: JSON.stringify(delta.text), tail: close };
  }

  private chunk(delta: JsonObject, finishReason: string | null, more: JsonObject = {}): string {
    const choices = [{ index: 0, delta, finish_reason: finishReason }];
    return eventOf({ ...this.base("chat.completion.chunk"), choices, ...more });
  }

  private base(object: string): JsonObject {
    const { n, created, model_id } = this.author;
    return {
      id: `chatcmpl-scripted-${n}`,
      object,
      created,
      model: model_id,
      system_fingerprint: FINGERPRINT,
    };
  }
}

/** A call; in a stream with its place, and only its first fragment has its name. */
function spellCall(segment: Segment | Delta, isStream: boolean, n: number): Spelled | null {
  const { call, text } = segment;
  if (call === null) return null;
  const isFirst = !("isFirst" in segment) || segment.isFirst;
  const { played, place } = call;
  const index = isStream ? memberOf("index", played.index, place) : "";
  const id = isFirst ? memberOf("id", played.id, `call_scripted_${n}_${place}`) : "";
  const name = isFirst ? `"name":${JSON.stringify(played.name)},` : "";
  const type = isFirst ? '"type":"function",' : "";
  return {
    head: `{${index}${id}${type}"function":{${name}"arguments":`,
    text: played.as_object ? text : JSON.stringify(text),
    tail: "}}",
  };
}

function memberOf(key: string, given: string | number | null | undefined, made: string | number): string {
  return given === null ? "" : `"${key}":${JSON.stringify(given ?? made)},`;
}

/** A text up to a cut: without what would close it. */
function openText({ call }: { readonly call: { readonly played: PlayedCall } | null }, text: string): string {
  return call?.played.as_object === true ? text : JSON.stringify(text).slice(0, -1);
}

function usageObject(usage: PlayedUsage): JsonObject {
  const { prompt_tokens, completion_tokens, reasoning_tokens, cached_tokens } = usage;
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    ...(cached_tokens === undefined ? {} : { prompt_tokens_details: { cached_tokens } }),
    ...(reasoning_tokens === undefined ? {} : { completion_tokens_details: { reasoning_tokens } }),
  };
}

function eventOf(value: JsonObject): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

function joined(text: string, bytes: Uint8Array): Uint8Array {
  const own = new TextEncoder().encode(text);
  const both = new Uint8Array(own.length + bytes.length);
  both.set(own);
  both.set(bytes, own.length);
  return both;
}
