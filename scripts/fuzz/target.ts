/**
 * A target: one reader of text from outside, the real inputs that its mutants are made of, and what must hold of each.
 * An input is drawn from a seed alone, so that the seed brings it back.
 */
import { WritError } from "../../src/core/error.ts";
import { Draw } from "./draw.ts";
import { decode, joined, type Kit, mutate, repeated, token } from "./mutate.ts";

/** One part of an input, as it came and as a text; of bytes that are no UTF-8 the text has what can be said of them. */
export class Part {
  private decoded: string | null = null;

  constructor(readonly bytes: Uint8Array) {}

  get text(): string {
    this.decoded ??= decode(this.bytes);
    return this.decoded;
  }
}

/** A reader and its inputs. Whatever `read` throws is a fault. */
export type Reading = {
  readonly name: string;
  /** What the parts of an input are, in their order. */
  readonly parts: readonly string[];
  /** Real inputs: a text, or one for each part. */
  readonly corpus: () => readonly (string | Uint8Array | readonly (string | Uint8Array)[])[];
  readonly words?: readonly string[];
  readonly max_bytes?: number;
  /** What a part grows to where it is looked whether time grows with it; 0: its reader is bounded to less than that. */
  readonly grown_bytes?: number;
  readonly read: (...parts: readonly Part[]) => void | Promise<void>;
};

/** What is tried with a seed: a reader, or something that draws for itself. */
export type Target = {
  readonly name: string;
  /** No single input takes as long as this: what does hangs. */
  readonly hang_ms: number;
  /** What does not hold; none where everything does. */
  readonly attempt: (seed: number) => Promise<readonly string[]>;
  /** The input of a seed, for a person. */
  readonly show: (seed: number) => string;
  /** Whether time grows faster than the input; null for a target that cannot say. */
  readonly growth: ((seed: number) => Promise<string | null>) | null;
};

/** A law that does not hold of an input. */
export class Broken extends Error {}

export function hold(law: string, holds: boolean, ...seen: readonly unknown[]): void {
  if (!holds) throw new Broken([law, ...seen.map(shown)].join("\n  "));
}

/** What a person is shown of a document is not written by the document. */
export function oneLineEach(lines: readonly string[]): void {
  hold("what is printed as a line is one", !lines.some((line) => /[\r\n]/.test(line)), lines);
}

/** Two values that have to be the same, told by their JSON. */
export function same(law: string, one: unknown, other: unknown): void {
  if (one === other) return;
  const [left, right] = [JSON.stringify(one), JSON.stringify(other)];
  hold(law, left === right, one, other);
}

/** What a reader gives, or null where it throws the error that it promises. Anything else it throws is a fault. */
export function promised<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    return refusal(error);
  }
}

/** Null for an error that a reader promises; any other is thrown on. */
export function refusal(error: unknown): null {
  if (error instanceof WritError && error.code !== "internal") return null;
  throw error;
}

/** Most inputs of most readers are smaller than this; the sizes of readers with bounds of their own are told by them. */
const MAX_BYTES = 32 * 1024;
const GROWN_BYTES = 128 * 1024;
const HANG_MS = 20_000;

/** A target that is a reader: others may read its inputs. */
export type ReadingTarget = Target & { readonly reader: Reading };

/** @param now milliseconds from some moment on; a test counts work instead */
export function reading(reader: Reading, now: () => number = () => performance.now()): ReadingTarget {
  const grown = reader.grown_bytes ?? GROWN_BYTES;
  return {
    name: reader.name,
    reader,
    hang_ms: HANG_MS,
    attempt: async (seed) => {
      const input = inputOf(reader, seed);
      const fault = await faultOf(reader, input);
      if (fault === null) return [];
      const small = await smaller(reader, input, fault);
      return [`${fault}\n${shownInput(reader, small)}`];
    },
    show: (seed) => {
      const [smallest = []] = grown === 0 ? [] : growing(reader, seed, grown);
      const doubled = grown === 0 ? "" : `\nand, where it is doubled four times, from\n${shownInput(reader, smallest)}`;
      return shownInput(reader, inputOf(reader, seed)) + doubled;
    },
    growth: grown === 0 ? null : (seed) => growthFault(reader, growing(reader, seed, grown), now),
  };
}

type Input = readonly Uint8Array[];
type Kits = { readonly items: readonly Input[]; readonly kits: readonly Kit[] };

const KITS = new Map<string, Kits>();

function kitsOf({ name, parts, corpus, words = [], max_bytes = MAX_BYTES }: Reading): Kits {
  const known = KITS.get(name);
  if (known !== undefined) return known;
  const items = corpus().map((item) =>
    (typeof item === "string" || item instanceof Uint8Array ? [item] : item).map((part) => Buffer.from(part as string)),
  );
  if (items.length === 0 || items.some((item) => item.length !== parts.length))
    throw new Error(`the corpus of "${name}" does not have the parts that it should have`);
  const kits = parts.map((_, at) => ({ corpus: items.map((item) => item[at] ?? new Uint8Array()), words, max_bytes }));
  const made = { items, kits };
  KITS.set(name, made);
  return made;
}

/** One input in a hundred is a real one as it is: a law that fails there is a wrong law. */
function inputOf(reader: Reading, seed: number): Input {
  const { items, kits } = kitsOf(reader);
  const draw = new Draw(seed);
  const item = draw.pick(items);
  if (draw.once(100)) return item;
  const chosen = draw.int(item.length);
  return item.map((part, at) => {
    const kit = kits[at];
    if (kit === undefined || (at !== chosen && !draw.once(3))) return part;
    if (draw.once(60)) return Uint8Array.from({ length: draw.size(400) }, () => draw.int(256));
    return mutate(draw, part, kit);
  });
}

async function faultOf({ read }: Reading, input: Input): Promise<string | null> {
  try {
    await read(...input.map((bytes) => new Part(bytes)));
    return null;
  } catch (error) {
    if (error instanceof Broken) return error.message;
    return error instanceof Error ? (error.stack ?? String(error)).split("\n").slice(0, 6).join("\n") : String(error);
  }
}

const SHRINKS = 400;

/** The input with whatever the fault does not need cut out: slices of half the size, of a quarter, and so on. */
async function smaller(reader: Reading, input: Input, fault: string): Promise<Input> {
  const kind = (text: string | null) => text?.split("\n", 1)[0]?.replace(/\d+/g, "");
  let best = input;
  let tries = 0;
  const began = performance.now();
  for (let at = 0; at < best.length; at++) {
    for (let size = Math.ceil((best[at]?.length ?? 0) / 2); size >= 1; size = Math.floor(size / 2)) {
      for (let from = 0; from < (best[at]?.length ?? 0); ) {
        tries += 1;
        if (tries > SHRINKS || performance.now() - began > HANG_MS / 4) return best;
        const part = best[at] ?? new Uint8Array();
        const cut = best.with(at, joined(part.subarray(0, from), part.subarray(from + size)));
        if (kind(await faultOf(reader, cut)) === kind(fault)) best = cut;
        else from += size;
      }
    }
  }
  return best;
}

function shownInput({ parts }: Reading, input: Input): string {
  return input.map((bytes, at) => `  ${parts[at]}: ${shown(decode(bytes))}`).join("\n");
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 2_000 ? `${text.slice(0, 1_200)} … ${text.slice(-700)} (${text.length} characters)` : text;
}

const DOUBLINGS = 4;
/** Time that grows with its input doubles with it; the square of it makes four. */
const MOST_GROWTH = 3;
/** Times below this say more of the machine than of the reader. */
const LEAST_MS = 0.3;
const ROUNDS = 3;
/** So often it is measured anew before anybody is accused. */
const TRIALS = 4;

/**
 * Doubles one part of an input four times, by what is repeated in it, and holds the times of one run against each other.
 *
 * @returns what grew how; null where time grew with the input, or is too short to tell
 */
async function growthFault(reader: Reading, inputs: readonly Input[], now: () => number): Promise<string | null> {
  if (await isPlain(reader, inputs, now)) return null;
  for (let trial = 0; trial < TRIALS; trial++) {
    const growth = await growthOf(reader, inputs, now);
    if (!growth.isFaster) return null;
    if (trial === TRIALS - 1) {
      const sizes = inputs.map((input) => input.reduce((sum, { length }) => sum + length, 0));
      return `time grows faster than the input: ${growth.times.map((ms, at) => `${sizes[at]} bytes ${ms.toFixed(2)} ms`).join(", ")}\n${shownInput(reader, inputs[0] ?? [])}`;
    }
  }
  return null;
}

/** A line makes sixteen of the four doublings, the square of it 256: far below that, nobody measures further. */
const PLAIN_GROWTH = 32;

async function isPlain(reader: Reading, inputs: readonly Input[], now: () => number): Promise<boolean> {
  const [first = [], last = []] = [inputs[0], inputs.at(-1)];
  const once = await timeOf(reader, first, now);
  const least = Math.min(once, await timeOf(reader, first, now));
  return (await timeOf(reader, last, now)) < PLAIN_GROWTH * Math.max(least, LEAST_MS / DOUBLINGS);
}

async function timeOf(reader: Reading, input: Input, now: () => number): Promise<number> {
  const parts = input.map((bytes) => new Part(bytes));
  const began = now();
  try {
    await reader.read(...parts);
  } catch {
    // The other loop tells of what is thrown; here only time counts.
  }
  return now() - began;
}

/** Whether time grows so both in the middle and from end to end: one slow moment makes one of the two. */
async function growthOf(reader: Reading, inputs: readonly Input[], now: () => number) {
  const times: number[] = inputs.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [at, input] of inputs.entries()) times[at] = Math.min(times[at] ?? 0, await timeOf(reader, input, now));
  }
  const ratios = times.flatMap((ms, at) => {
    const before = times[at - 1] ?? 0;
    return at > 0 && before >= LEAST_MS ? [ms / before] : [];
  });
  const middle = ratios.toSorted((left, right) => left - right)[Math.floor((ratios.length - 1) / 2)] ?? 0;
  const mean = ratios.reduce((product, ratio) => product * ratio, 1) ** (1 / ratios.length);
  return { isFaster: ratios.length >= 2 && Math.min(middle, mean) > MOST_GROWTH, times };
}

/** Inputs of which each has twice as much of one thing: a token, a slice, a line or a member again and again. */
function growing(reader: Reading, seed: number, grown_bytes: number): readonly Input[] {
  const { items, kits } = kitsOf(reader);
  const draw = new Draw(seed);
  const item = draw.pick(items);
  const at = draw.int(item.length);
  const part = item[at] ?? new Uint8Array();
  const kit = kits[at] ?? { corpus: [part], words: [], max_bytes: MAX_BYTES };
  const place = draw.int(part.length + 1);
  const unit = unitOf(draw, part, place, kit);
  const close = draw.once(3) ? token(draw, kit) : new Uint8Array();
  const middle = draw.once(3) ? token(draw, kit) : new Uint8Array();
  const most = Math.max(1, Math.floor(grown_bytes / (unit.length + close.length)));
  return Array.from({ length: DOUBLINGS + 1 }, (_, step) => {
    const times = Math.max(1, Math.floor(most / 2 ** (DOUBLINGS - step)));
    const grown = joined(
      part.subarray(0, place),
      repeated(unit, times),
      middle,
      repeated(close, times),
      part.subarray(place),
    );
    return item.with(at, grown);
  });
}

function unitOf(draw: Draw, part: Uint8Array, place: number, kit: Kit): Uint8Array {
  const line = part.indexOf(0x0a, place);
  switch (draw.int(4)) {
    case 0:
      return token(draw, kit);
    case 1:
      return joined(token(draw, kit), token(draw, kit));
    case 2:
      return line < 0 ? token(draw, kit) : joined(part.subarray(place, line + 1));
    default: {
      const other = draw.pick(kit.corpus);
      const from = draw.int(other.length + 1);
      const cut = other.subarray(from, from + draw.size(80));
      return cut.length === 0 ? token(draw, kit) : cut;
    }
  }
}
