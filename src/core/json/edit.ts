/**
 * Changing a JSON text in places and nowhere else: every byte outside of a change stays, so that a file keeps the form
 * that its owner gave it. What is put in takes the form of its surroundings.
 *
 * The text was read by `parseJson`, which bounds its depth; what it refuses is not given here.
 */
import type { JsonValue } from "./value.ts";

/** A list of scalars that is put in stands on one line up to this length. */
const LINE = 80;

/** A value in a text: `text.slice(start, end)`. */
export type JsonNode =
  | { readonly kind: "scalar"; readonly start: number; readonly end: number }
  | { readonly kind: "list"; readonly start: number; readonly end: number; readonly children: readonly JsonChild[] }
  | { readonly kind: "object"; readonly start: number; readonly end: number; readonly children: readonly JsonChild[] };

export type JsonContainer = Exclude<JsonNode, { kind: "scalar" }>;

/** A member or an item. `start` is where its key begins, or its value in a list. */
export type JsonChild = { readonly key: string; readonly start: number; readonly value: JsonNode };

/** Where everything in a text stands. Time is linear in the text. Errors: none for a text that `parseJson` reads. */
export function mapJson(text: string): JsonNode {
  return new Mapper(text).node();
}

/** The child of a path of keys and places; null where the path leads nowhere. */
export function nodeOf(node: JsonNode, path: readonly (string | number)[]): JsonNode | null {
  let at: JsonNode = node;
  for (const step of path) {
    if (at.kind === "scalar") return null;
    const child: JsonChild | undefined =
      typeof step === "number" ? at.children[step] : at.children.find((each) => each.key === step);
    if (child === undefined || (at.kind === "list") !== (typeof step === "number")) return null;
    at = child.value;
  }
  return at;
}

/** The text with another value in a place. */
export function replaceValue(text: string, node: JsonNode, value: JsonValue): string {
  const layout = layoutOf(text);
  return text.slice(0, node.start) + render(value, indentAt(text, node.start), layout) + text.slice(node.end);
}

/** The text with one more child at the end of a container. `key` is null for a list. */
export function appendChild(text: string, container: JsonContainer, key: string | null, value: JsonValue): string {
  const layout = layoutOf(text);
  const { children } = container;
  const last = children.at(-1);
  const put = (indent: string, lines: boolean) =>
    (key === null ? "" : `${JSON.stringify(key)}:${layout.gap}`) +
    render(value, indent, lines ? layout : { ...layout, unit: null });
  if (last !== undefined) {
    const before = children.at(-2);
    const blank = text.slice(
      before === undefined ? container.start + 1 : commaAfter(text, before.value.end),
      last.start,
    );
    const isLines = blank.includes("\n");
    const separator = isLines || before !== undefined ? blank : layout.gap;
    const indent = blank.slice(blank.lastIndexOf("\n") + 1);
    const at = last.value.end;
    return `${text.slice(0, at)},${separator}${put(indent, isLines)}${text.slice(at)}`;
  }
  const [open, close] = container.kind === "list" ? "[]" : "{}";
  if (layout.unit === null) {
    return `${text.slice(0, container.start)}${open}${put("", false)}${close}${text.slice(container.end)}`;
  }
  const outer = indentAt(text, container.start);
  const indent = outer + layout.unit;
  const inner = `${layout.newline}${indent}${put(indent, true)}${layout.newline}${outer}`;
  return `${text.slice(0, container.start)}${open}${inner}${close}${text.slice(container.end)}`;
}

/**
 * The text without one child, and without the comma and the blanks that came with it: what `appendChild` put in is
 * gone without a trace, unless the container was empty before; then it is `{}` or `[]`.
 */
export function removeChild(text: string, container: JsonContainer, index: number): string {
  const { children } = container;
  const child = children[index];
  if (child === undefined) return text;
  const before = children[index - 1];
  const after = children[index + 1];
  if (before !== undefined) return text.slice(0, before.value.end) + text.slice(child.value.end);
  if (after !== undefined) return text.slice(0, child.start) + text.slice(after.start);
  return text.slice(0, container.start + 1) + text.slice(container.end - 1);
}

/** How a text is laid out: the indentation of one level, null for a text on one line; its line ends; blanks in lines. */
type Layout = { readonly unit: string | null; readonly newline: string; readonly gap: string };

/** Taken from the first child of the outermost container; two blanks a level where there is none. */
function layoutOf(text: string): Layout {
  const newline = text.includes("\r\n") ? "\r\n" : "\n";
  const first = /^\s*[[{](\s*)(?=[^\s\]}])/.exec(text);
  if (first === null) return { unit: "  ", newline, gap: " " };
  const blank = first[1] ?? "";
  if (blank.includes("\n")) {
    // A text without any indentation gets some where something is put into an empty place: it reads as well.
    const unit = blank.slice(blank.lastIndexOf("\n") + 1);
    return { unit: unit === "" ? "  " : unit, newline, gap: " " };
  }
  return { unit: null, newline, gap: /[^\\]": /.test(text) ? " " : "" };
}

/** The blanks at the start of the line that a place is in. */
function indentAt(text: string, at: number): string {
  const start = text.lastIndexOf("\n", at - 1) + 1;
  let end = start;
  while (text[end] === " " || text[end] === "\t") end += 1;
  return text.slice(start, end);
}

function render(value: JsonValue, indent: string, layout: Layout): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const isList = Array.isArray(value);
  const inner = layout.unit === null ? "" : indent + layout.unit;
  const parts = Object.entries(value).map(([key, each]: [string, JsonValue]) => {
    const rendered = render(each, inner, layout);
    return isList ? rendered : `${JSON.stringify(key)}:${layout.gap}${rendered}`;
  });
  const [open, close] = isList ? "[]" : "{}";
  if (parts.length === 0) return `${open}${close}`;
  const line = `${open}${parts.join(`,${layout.gap}`)}${close}`;
  // A short list of words reads better on one line.
  if (layout.unit === null || (isList && line.length <= LINE && value.every(isScalar))) return line;
  const { newline } = layout;
  return `${open}${newline}${inner}${parts.join(`,${newline}${inner}`)}${newline}${indent}${close}`;
}

function isScalar(value: JsonValue): boolean {
  return typeof value !== "object" || value === null;
}

function commaAfter(text: string, at: number): number {
  return text.indexOf(",", at) + 1;
}

/** Walks a text that is known to be JSON. */
class Mapper {
  private at = 0;

  constructor(private readonly text: string) {}

  node(): JsonNode {
    this.skipBlanks();
    const start = this.at;
    const first = this.text[start];
    if (first === "{" || first === "[") {
      const children = this.children(first === "{");
      const kind = first === "{" ? "object" : "list";
      return { kind, start, end: this.at, children };
    }
    if (first === '"') this.string();
    else while (this.at < this.text.length && !/[\s,\]}]/.test(this.text[this.at] ?? "")) this.at += 1;
    return { kind: "scalar", start, end: this.at };
  }

  private children(isObject: boolean): readonly JsonChild[] {
    const children: JsonChild[] = [];
    const close = isObject ? "}" : "]";
    this.at += 1;
    for (this.skipBlanks(); this.at < this.text.length && this.text[this.at] !== close; this.skipBlanks()) {
      const start = this.at;
      let key = "";
      if (isObject) {
        this.string();
        key = JSON.parse(this.text.slice(start, this.at)) as string;
        this.skipBlanks();
        this.at += 1;
      }
      children.push({ key, start, value: this.node() });
      this.skipBlanks();
      if (this.text[this.at] === ",") this.at += 1;
    }
    this.at += 1;
    return children;
  }

  private string(): void {
    for (this.at += 1; this.at < this.text.length && this.text[this.at] !== '"'; this.at += 1) {
      if (this.text[this.at] === "\\") this.at += 1;
    }
    this.at += 1;
  }

  private skipBlanks(): void {
    while (/[ \t\r\n]/.test(this.text[this.at] ?? "")) this.at += 1;
  }
}
