/** The parts of an answer in the order in which they are sent, how they fall into deltas, and where a cut falls. */
import { utf8Length } from "../utf8.ts";
import type { Answer, Chunk, Part, PlayedCall, PlayedUsage } from "./reply.ts";
import { endOfBytes, endOfCharacter, tokensOf } from "./tokens.ts";

/** One part: the reasoning, the content, or the arguments of one call. */
export type Segment = {
  readonly part: Part;
  readonly text: string;
  /** Of arguments: the call, and its place among the calls from 0. */
  readonly call: { readonly played: PlayedCall; readonly place: number } | null;
};

export type Delta = Segment & {
  /** The first of its segment: a call's brings its name. */
  readonly isFirst: boolean;
};

/** The beginning of a delta: its text up to the cut, and the first bytes of a character that is cut. */
export type CutDelta = { readonly delta: Delta; readonly text: string; readonly bytes: Uint8Array };

/** What of an answer is sent. */
export type Sent = {
  readonly all: readonly Segment[];
  /** What is sent in whole deltas. */
  readonly segments: readonly Segment[];
  /** What is still sent of the delta behind them, in a stream that is cut inside of an event. */
  readonly partial: CutDelta | null;
  /** Where the cut falls in `all`: what is sent of that segment; null where nothing of any is cut off. */
  readonly prefix: { readonly at: number; readonly text: string; readonly bytes: Uint8Array } | null;
};

const NO_BYTES = new Uint8Array(0);
const ONE_TOKEN: Chunk = { by: "tokens", n: 1 };

/** What is sent of an answer's segments, by its cut. */
export function cutSegments(all: readonly Segment[], { cut, chunk }: Answer, bytesPerToken: number): Sent {
  if (cut === null) return { all, segments: all, partial: null, prefix: null };
  const at = all.findLastIndex(({ part }) => part === cut.in);
  const segment = all[at];
  if (segment === undefined) {
    return { all, segments: [], partial: null, prefix: { at: 0, text: "", bytes: NO_BYTES } };
  }
  const { text } = segment;
  const before = all.slice(0, at);
  const limit = cut.n === null ? null : cut.at === "events" ? null : cut.n * (cut.at === "tokens" ? bytesPerToken : 1);
  const isInside = limit !== null && limit <= utf8Length(text);
  let end = limit === null ? text.length : endOfBytes(text, 0, limit);
  if (cut.at === "events" && cut.n !== null) end = endOfEvents(segment, cut.n, chunk, bytesPerToken);
  const isOrderly = cut.how === "length" || cut.how === "refuse";

  if (chunk.by === "bytes" && isInside && !isOrderly) {
    // To the byte: the event that the cut falls into ends there.
    const bytes = bytesFrom(text, end, limit - utf8Length(text.slice(0, end)));
    const wanted = bytes.length > 0 ? end + 1 : end;
    let from = 0;
    for (const delta of deltasOf([segment], chunk, bytesPerToken)) {
      const to = from + delta.text.length;
      if (to < wanted) {
        from = to;
        continue;
      }
      const segments = from === 0 ? before : [...before, { ...segment, text: text.slice(0, from) }];
      const partial = { delta, text: text.slice(from, end), bytes };
      return { all, segments, partial, prefix: { at, text: text.slice(0, end), bytes } };
    }
  }

  const isUnsent = cut.at === "events" && cut.n === 0;
  const sent = { ...segment, text: text.slice(0, end) };
  const segments = isUnsent ? before : [...before, sent];
  const rest = { ...segment, text: text.slice(end) };
  const next = cut.how === "drop" && rest.text !== "" ? firstOf(deltasOf([rest], chunk, bytesPerToken)) : null;
  return {
    all,
    segments,
    partial: next === null ? null : { delta: { ...next, isFirst: isUnsent }, text: "", bytes: NO_BYTES },
    prefix: { at, text: sent.text, bytes: NO_BYTES },
  };
}

/** The deltas of segments. A call has one at least; other empty segments have none. */
export function* deltasOf(segments: readonly Segment[], chunk: Chunk, bytesPerToken: number): Iterable<Delta> {
  for (const segment of segments) {
    const { text } = segment;
    if (text === "" || segment.call?.played.as_object === true) {
      if (segment.call !== null) yield { ...segment, isFirst: true };
      continue;
    }
    for (let from = 0; from < text.length; ) {
      const to = endOfDelta(text, from, chunk.by === "bytes" ? ONE_TOKEN : chunk, bytesPerToken);
      yield { ...segment, text: text.slice(from, to), isFirst: from === 0 };
      from = to;
    }
  }
}

/** The usage that is sent; null: none. */
export function usageOf(
  { usage }: Answer,
  scene: { readonly prompt_tokens: number; readonly bytes_per_token: number },
  segments: readonly Segment[],
): PlayedUsage | null {
  if (usage === "none") return null;
  if (usage !== null) return usage;
  const bytesOf = (some: readonly Segment[]) => some.reduce((sum, { text }) => sum + utf8Length(text), 0);
  const reasoning = tokensOf(bytesOf(segments.filter(({ part }) => part === "reasoning")), scene.bytes_per_token);
  return {
    prompt_tokens: scene.prompt_tokens,
    completion_tokens: tokensOf(bytesOf(segments), scene.bytes_per_token),
    reasoning_tokens: reasoning === 0 ? undefined : reasoning,
  };
}

function endOfDelta(text: string, from: number, { by, n }: Chunk, bytesPerToken: number): number {
  if (by === "all") return text.length;
  if (by === "chars") {
    let to = from;
    for (let count = 0; count < n && to < text.length; count++) to = endOfCharacter(text, to);
    return to;
  }
  // A character that is larger than a token is one.
  return Math.max(endOfBytes(text, from, n * bytesPerToken), endOfCharacter(text, from));
}

function endOfEvents(segment: Segment, count: number, chunk: Chunk, bytesPerToken: number): number {
  let end = 0;
  let sent = 0;
  for (const delta of deltasOf([segment], chunk, bytesPerToken)) {
    if (sent === count) break;
    sent += 1;
    end += delta.text.length;
  }
  return end;
}

/** The first bytes of the character at an index. */
function bytesFrom(text: string, at: number, count: number): Uint8Array {
  if (count <= 0) return NO_BYTES;
  return new TextEncoder().encode(text.slice(at, endOfCharacter(text, at))).subarray(0, count);
}

function firstOf<T>(items: Iterable<T>): T | null {
  for (const item of items) return item;
  return null;
}
