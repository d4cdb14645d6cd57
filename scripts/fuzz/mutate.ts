/**
 * Real inputs, changed: bytes, slices, lines and, where a text is JSON, values and members, so that what is wrong stands
 * behind the reader that would stop at a comma.
 */
import { type JsonChild, type JsonNode, mapJson } from "../../src/core/json/edit.ts";
import type { Draw } from "./draw.ts";

/** What readers are known to stumble over. */
const TOKENS: readonly string[] = [
  ..."{}[]\":,.\\/-+*#`'|<>=&%@!?~^$();_ \t\n\r\0".split(""),
  ..."\u0001\u0007\u000b\u000c\u001b\u007f\u0080\u0085\u009b\u00a0\u00ad\ufeff\u2028\u2029\u200b\u200d\u202e\u2066\ufffd\ufffe".split(""),
  ..."\u0301\u0130\u0131\u017f\u212a\u1e9e\u03c2".split(""),
  "\r\n", "\n\n", "\r\r", "e\u0301", "\u{1f600}", "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}", "\u{e0001}", "\u{10ffff}", "🇩🇪",
  "0", "-0", "1", "-1", "1e400", "-1e400", "1e-400", "1E+2", "0.1", "01", "1.", ".5", "NaN", "Infinity", "2147483648",
  "9007199254740991", "9007199254740992", "9007199254740993", "9223372036854775807", "9223372036854775808",
  "18446744073709551616", "4".repeat(400), `0.${"3".repeat(400)}`, "1e99999999999",
  "null", "true", "false", '""', "[]", "{}", "[[]]", "undefined",
  '"__proto__"', '"constructor"', '"prototype"', '"toString"', '"hasOwnProperty"', '"length"',
  "__proto__", "constructor", '{"__proto__":{"a":1}}', '"a":1,"a":2', "//", "/*", "*/", "---\n", "...\n", "&a *a", "!!js/function",
  "- ", "# ", "## ", "```", "~~~", "@@", "--- a/", "+++ b/", "data: ", "../", "/..", "C:\\", "%2e%2e", "$(x)", "; rm", "&& ", "| ",
  "\\u0000", "\\ud800", "\\udc00", "\\ud83d\\ude00", "\\n", "\\\\", '\\"', "\\x", "(?i)", "(a+)+$", "[^", "\\pL", "{1000}", "\\Q",
]; // biome-ignore format: a list

/** Bytes that are no UTF-8: halves of pairs, cut characters, overlong forms, beyond the last character. */
const BYTES: readonly Uint8Array[] = [
  [0xed, 0xa0, 0x80], [0xed, 0xb0, 0x80], [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80], [0xff], [0xfe], [0x80], [0xbf], [0xc0, 0x80],
  [0xc3], [0xe2, 0x82], [0xf0, 0x9f, 0x98], [0xf5, 0x80, 0x80, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xff, 0xfe], [0xfe, 0xff],
  [0xef, 0xbb, 0xbf],
].map((each) => Uint8Array.from(each)); // biome-ignore format: a list

const NESTS: readonly (readonly [string, string])[] = [
  ["[", "]"],
  ['{"a":', "}"],
  ['[{"a":[', "]}]"],
  ["(", ")"],
  ["{", "}"],
  ["<", ">"],
  ["- ", ""],
  ["> ", ""],
  ["`", "`"],
];

export type Kit = {
  /** The real inputs of this part; what is spliced in comes from them. */
  readonly corpus: readonly Uint8Array[];
  /** Words that mean something to the reader. */
  readonly words: readonly string[];
  /** What a mutation may grow to, in bytes. */
  readonly max_bytes: number;
};

export function mutate(draw: Draw, start: Uint8Array, kit: Kit): Uint8Array {
  let bytes = start;
  const changes = draw.once(4) ? 1 + draw.int(12) : 1 + draw.int(3);
  for (let change = 0; change < changes; change++) {
    const changed = draw.once(2)
      ? (changedJson(draw, bytes, kit) ?? changedBytes(draw, bytes, kit))
      : changedBytes(draw, bytes, kit);
    bytes = changed.length > kit.max_bytes ? changed.subarray(0, kit.max_bytes) : changed;
  }
  return bytes;
}

type Change = (draw: Draw, bytes: Uint8Array, kit: Kit) => Uint8Array;

const CHANGES: readonly Change[] = [
  (draw, bytes) => withByte(bytes, draw.int(bytes.length), (byte) => byte ^ (1 << draw.int(8))),
  (draw, bytes) => withByte(bytes, draw.int(bytes.length), () => draw.int(256)),
  (draw, bytes) => bytes.subarray(0, draw.int(bytes.length + 1)),
  (draw, bytes) => bytes.subarray(draw.int(bytes.length + 1)),
  (draw, bytes) => {
    const [from, to] = slice(draw, bytes.length);
    return joined(bytes.subarray(0, from), bytes.subarray(to));
  },
  (draw, bytes) => {
    const [from, to] = slice(draw, bytes.length);
    return joined(bytes.subarray(0, to), bytes.subarray(from));
  },
  (draw, bytes, kit) => {
    const other = draw.pick(kit.corpus);
    const [from, to] = slice(draw, other.length);
    return put(draw, bytes, other.subarray(from, to));
  },
  (draw, bytes, kit) => {
    const other = draw.pick(kit.corpus);
    return joined(bytes.subarray(0, draw.int(bytes.length + 1)), other.subarray(draw.int(other.length + 1)));
  },
  (draw, bytes, kit) => put(draw, bytes, token(draw, kit)),
  (draw, bytes, kit) => put(draw, bytes, token(draw, kit)),
  (draw, bytes, kit) => {
    const [from, to] = slice(draw, bytes.length);
    return joined(bytes.subarray(0, from), token(draw, kit), bytes.subarray(to));
  },
  (draw, bytes, kit) => {
    const [from, to] = slice(draw, bytes.length);
    const unit = draw.once(2) ? token(draw, kit) : bytes.subarray(from, to);
    return put(
      draw,
      bytes,
      repeated(unit, draw.size(Math.max(1, Math.floor(kit.max_bytes / Math.max(1, unit.length))))),
    );
  },
  (draw, bytes) => {
    const [open, close] = draw.pick(NESTS);
    const depth = draw.size(20_000);
    return put(draw, bytes, encode(draw.once(3) ? open.repeat(depth) : open.repeat(depth) + close.repeat(depth)));
  },
  (draw, bytes) => joined(draw.pick(BYTES), bytes),
  (draw, bytes) => encode(decode(bytes).replaceAll("\n", draw.pick(["\r\n", "\r", "\n\n", "\u2028", "\n\r", ""]))),
  (draw, bytes) => changedNumber(draw, bytes),
  ...[0, 1, 2].map(() => changedLines),
];

function changedBytes(draw: Draw, bytes: Uint8Array, kit: Kit): Uint8Array {
  return draw.pick(CHANGES)(draw, bytes, kit);
}

/** Another number in the place of one that stands there. */
function changedNumber(draw: Draw, bytes: Uint8Array): Uint8Array {
  const text = decode(bytes);
  const found = [...text.matchAll(/\d+/g)];
  if (found.length === 0) return bytes;
  const { index, 0: digits } = draw.pick(found);
  const near = [String(Number(digits) + 1), String(Number(digits) - 1), `-${digits}`, `0${digits}`, "0"];
  const number = draw.once(2) ? draw.pick(near) : draw.pick(TOKENS.filter((each) => /^[\d.eE+-]+$/.test(each)));
  return encode(text.slice(0, index) + number + text.slice(index + digits.length));
}

function changedLines(draw: Draw, bytes: Uint8Array, kit: Kit): Uint8Array {
  const lines = decode(bytes).split("\n");
  const at = draw.int(lines.length);
  const count = draw.size(4);
  const moved = lines.slice(at, at + count);
  switch (draw.int(5)) {
    case 0:
      lines.splice(at, count);
      break;
    case 1:
      lines.splice(at, 0, ...moved);
      break;
    case 2:
      lines.splice(at, count);
      lines.splice(draw.int(lines.length + 1), 0, ...moved);
      break;
    case 3:
      lines.splice(at, 0, decode(token(draw, kit)) + (lines[at] ?? ""));
      break;
    default: {
      const others = decode(draw.pick(kit.corpus)).split("\n");
      const from = draw.int(others.length);
      lines.splice(at, draw.int(2), ...others.slice(from, from + draw.size(6)));
    }
  }
  return encode(lines.join("\n"));
}

/** A value or a member changed; null where the text is no JSON. */
function changedJson(draw: Draw, bytes: Uint8Array, kit: Kit): Uint8Array | null {
  const text = decode(bytes);
  const root = mapped(text);
  if (root === null) return null;
  const { values, children } = placesOf(root);
  const value = draw.pick(values);
  const child = children.length === 0 ? null : draw.pick(children);
  const put = (start: number, end: number, by: string) => encode(text.slice(0, start) + by + text.slice(end));
  if (child === null) return put(value.start, value.end, jsonValue(draw, kit));
  const whole = text.slice(child.start, child.value.end);
  switch (draw.int(9)) {
    case 0:
    case 1:
      return put(value.start, value.end, jsonValue(draw, kit));
    case 2: {
      const other = draw.pick(values);
      return put(value.start, value.end, text.slice(other.start, other.end));
    }
    case 3: // Given twice.
      return put(child.start, child.start, `${whole},`);
    case 4: {
      const key = JSON.stringify(
        draw.once(2) ? child.key : draw.pick(["__proto__", "constructor", "", "x", ...kit.words]),
      );
      return put(
        child.start,
        child.start,
        child.key === "" ? `${jsonValue(draw, kit)},` : `${key}:${jsonValue(draw, kit)},`,
      );
    }
    case 5: {
      const [open, close] = draw.pick([["[", "]"], ['{"a":', "}"], ["[[", "]]"], ["[null,", "]"]] as const); // biome-ignore format: pairs
      return put(value.start, value.end, open + text.slice(value.start, value.end) + close);
    }
    case 6: {
      const behind = text[child.value.end] === "," ? child.value.end + 1 : child.value.end;
      return put(child.start, behind, "");
    }
    case 7: // Many of one.
      return put(
        child.start,
        child.start,
        `${whole},`.repeat(draw.size(Math.max(1, Math.floor(kit.max_bytes / (2 * whole.length))))),
      );
    default: {
      if (text[value.start] !== '"')
        return put(value.start, value.end, `"${text.slice(value.start, value.end).replace(/["\\]/g, "\\$&")}"`);
      const inner = text.slice(value.start + 1, value.end - 1);
      const mutated = decode(changedBytes(draw, encode(inner), kit));
      return put(value.start, value.end, draw.once(3) ? `"${mutated}"` : JSON.stringify(mutated));
    }
  }
}

function jsonValue(draw: Draw, kit: Kit): string {
  switch (draw.int(4)) {
    case 0:
      return JSON.stringify(decode(token(draw, kit)));
    case 1: {
      const other = decode(draw.pick(kit.corpus));
      const root = mapped(other);
      if (root === null) return JSON.stringify(other.slice(0, 2000));
      const { start, end } = draw.pick(placesOf(root).values);
      return other.slice(start, end);
    }
    default:
      return draw.pick(["null", "true", "false", "0", "-1", "1.5", "1e400", "9007199254740993", '""', '" "', "[]", "{}", "[null]", '"\\ud800"', '{"__proto__":1}', '["a","a"]', "-0", '"\\u0000"']); // biome-ignore format: a list
  }
}

type Places = { readonly values: readonly JsonNode[]; readonly children: readonly JsonChild[] };

/** The values and members of a text, the first thousands of them. */
function placesOf(root: JsonNode): Places {
  const values: JsonNode[] = [root];
  const children: JsonChild[] = [];
  for (let at = 0; at < values.length && values.length < 5_000; at++) {
    const node = values[at];
    if (node === undefined || node.kind === "scalar") continue;
    for (const child of node.children) {
      values.push(child.value);
      children.push(child);
    }
  }
  return { values, children };
}

/** A mutant that is nested too deep is no text for the mapper, which walks it on the call stack. */
const MAPPED_CHARACTERS = 40_000;

function mapped(text: string): JsonNode | null {
  const first = text.trimStart()[0];
  if ((first !== "{" && first !== "[") || text.length > MAPPED_CHARACTERS) return null;
  try {
    JSON.parse(text);
    return mapJson(text);
  } catch {
    return null;
  }
}

export function token(draw: Draw, kit: Pick<Kit, "words">): Uint8Array {
  if (kit.words.length > 0 && draw.once(2)) return encode(draw.pick(kit.words));
  return draw.once(8) ? draw.pick(BYTES) : encode(draw.pick(TOKENS));
}

function slice(draw: Draw, length: number): readonly [number, number] {
  const from = draw.int(length + 1);
  return [from, Math.min(length, from + draw.size(Math.max(1, draw.once(3) ? length : 64)) - 1)];
}

function put(draw: Draw, bytes: Uint8Array, what: Uint8Array): Uint8Array {
  const at = draw.int(bytes.length + 1);
  return joined(bytes.subarray(0, at), what, bytes.subarray(at));
}

function withByte(bytes: Uint8Array, at: number, change: (byte: number) => number): Uint8Array {
  const copy = Uint8Array.from(bytes);
  if (copy.length > 0) copy[at] = change(copy[at] ?? 0);
  return copy;
}

export function repeated(unit: Uint8Array, times: number): Uint8Array {
  const all = new Uint8Array(unit.length * times);
  for (let at = 0; at < times; at++) all.set(unit, at * unit.length);
  return all;
}

export function joined(...parts: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(parts);
}

/** As UTF-8, a half of a pair as the three bytes that it would have. */
export function encode(text: string): Uint8Array {
  if (text.isWellFormed()) return Buffer.from(text);
  const parts = text.split(/(\p{Surrogate})/u);
  return joined(
    ...parts.map((part) => {
      const unit = part.charCodeAt(0);
      if (part.length !== 1 || unit < 0xd800 || unit > 0xdfff) return Buffer.from(part);
      return Uint8Array.from([0xed, 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f)]);
    }),
  );
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** What `encode` was given; other bytes that are no UTF-8 become U+FFFD. */
export function decode(bytes: Uint8Array): string {
  let text = "";
  let from = 0;
  for (let at = bytes.indexOf(0xed); at >= 0; at = bytes.indexOf(0xed, at + 1)) {
    const [second = 0, third = 0] = bytes.subarray(at + 1, at + 3);
    if (second < 0xa0 || second > 0xbf || third < 0x80 || third > 0xbf) continue;
    text +=
      decoder.decode(bytes.subarray(from, at)) + String.fromCharCode(0xd000 | ((second & 0x3f) << 6) | (third & 0x3f));
    from = at + 3;
  }
  return text + decoder.decode(bytes.subarray(from));
}
