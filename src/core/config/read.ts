/**
 * A config file to its values, or to everything that is wrong with it at once. What the environment and the options of
 * a command say is laid over it in `merge.ts`.
 *
 * Source: delegation run, sections 2.1 to 2.5; read as strictly as a delegation contract (delegation contract, 1.1)
 */
import { type JsonFault, type Position, positionOf } from "../json/parse.ts";
import { memberOf, readSource, type SourceNode } from "../json/source.ts";
import { decodeUtf8 } from "../utf8.ts";
import { ConfigFile, type LooseConfig } from "./config.ts";
import { type Decoding, decode, presetOf } from "./decode.ts";
import type { ConfigIssue, ConfigIssueCode } from "./issue.ts";
import { checkFile } from "./rules.ts";

export const CONFIG_BYTES = 1024 * 1024;
const DEPTH = 64;

/** Issues that are told of one file; the others are counted. */
const TOLD = 100;

export type ReadConfig = {
  /** In the order of the text; none means that every value is as the schema says. */
  readonly issues: readonly ConfigIssue[];
  /** Defaults filled in. */
  readonly values: LooseConfig;
  /** Where a key stands, or the nearest that holds it; null for the document as a whole. */
  readonly placeOf: (path: string) => Position | null;
  /** The line of a key that the file gives; null for one that it does not give. Lines count from 1. */
  readonly lineOf: (path: string) => number | null;
};

/**
 * Reads the bytes of a config file.
 *
 * Errors: none is thrown, whatever the bytes; time is linear in them
 */
export function readConfigBytes(bytes: Uint8Array): ReadConfig {
  if (bytes.length > CONFIG_BYTES) {
    return stopped({ code: "file_too_large", message: `The file is larger than ${CONFIG_BYTES / 1024} KiB` });
  }
  const decoded = decodeUtf8(bytes);
  if (decoded.ok) return readConfig(decoded.text);
  const hint = "Save the file as UTF-8";
  return stopped({ code: "not_json", message: `Byte ${decoded.offset} is no UTF-8`, hint });
}

/** Reads the text of a config file. See `readConfigBytes`. */
export function readConfig(text: string): ReadConfig {
  const read = readSource(text, { maxDepth: DEPTH });
  if (!read.ok) return stopped(faultOf(read.fault));
  const found: { readonly issue: Omit<ConfigIssue, "line" | "column">; readonly at: number }[] = [];
  let untold = 0;
  const places = new Map<string, number>();
  const decoding: Decoding = {
    text,
    places,
    skipped: transports(read.node),
    tell: (code, path, at, message, hint = null) => {
      if (found.length >= TOLD) untold += 1;
      else found.push({ issue: { code, path, message, hint: typeof hint === "function" ? hint() : hint }, at });
    },
  };
  for (const [node, path] of decoding.skipped) {
    const hint = "Name the node by its url; its nodes are asked over HTTP";
    decoding.tell("not_built", path, node.start, "The NATS transport is not built", hint);
  }
  // The shape of the document is that of the schema: what is wrong in it is undefined.
  const values = (decode(ConfigFile, read.node, "", decoding) ?? BUILT_IN.values) as LooseConfig;
  checkFile(values, {
    isGiven: (path) => places.has(path),
    tell: (code, path, message, hint) => decoding.tell(code, path, offsetOf(places, path) ?? 0, message, hint),
  });
  const inOrder = found.toSorted((left, right) => left.at - right.at);
  const issues: ConfigIssue[] = inOrder.map(({ issue, at }) => ({ ...issue, ...positionOf(text, at) }));
  if (untold > 0) issues.push(furtherIssues(untold));
  const lines = lineStarts(text);
  return {
    issues,
    values,
    placeOf: (path) => {
      const at = offsetOf(places, path);
      return at === null ? null : positionOf(text, at);
    },
    lineOf: (path) => {
      const at = places.get(path);
      return at === undefined ? null : lineAt(lines, at);
    },
  };
}

/** What is in effect where there is no file. */
export const BUILT_IN: ReadConfig = {
  issues: [],
  values: Object.fromEntries(Object.entries(ConfigFile.entries).map(([key, entry]) => [key, presetOf(entry)])),
  placeOf: () => null,
  lineOf: () => null,
};

/** A file that was not read. */
export function stopped(issue: {
  readonly code: ConfigIssueCode;
  readonly message: string;
  readonly hint?: string | null;
  readonly position?: Position;
}): ReadConfig {
  const { code, message, hint = null, position } = issue;
  const at = { line: position?.line ?? null, column: position?.column ?? null };
  return { ...BUILT_IN, issues: [{ code, path: "", message, hint, ...at }] };
}

function faultOf({ code, message, duplicate, line, column, looksLike }: JsonFault) {
  const position = { line, column };
  if (duplicate !== null) {
    const { first } = duplicate;
    const both = `it stands at line ${first.line}, column ${first.column} already`;
    return {
      code: "duplicate_key" as const,
      message: `Key ${JSON.stringify(duplicate.key.slice(0, 64))} is given twice: ${both}`,
      hint: "Keep one of them",
      position,
    };
  }
  const sentence = message.slice(0, 1).toUpperCase() + message.slice(1);
  if (code === "too_deep") return { code, message: sentence, position };
  const hint = looksLike === "yaml" ? "It reads like YAML; a config is JSON" : null;
  return { code: "not_json" as const, message: sentence, hint, position };
}

/** Remotes of the form that section 15 describes. */
function transports(node: SourceNode): ReadonlyMap<SourceNode, string> {
  const remotes = node.kind === "object" ? memberOf(node, "remotes") : null;
  if (remotes?.kind !== "array") return new Map();
  return new Map(
    remotes.items.flatMap((item, index) =>
      item.kind === "object" && memberOf(item, "transport") !== null ? [[item, `remotes[${index}]`] as const] : [],
    ),
  );
}

/** The offset of a key, or of the nearest that holds it. */
function offsetOf(places: ReadonlyMap<string, number>, path: string): number | null {
  for (let each = path; each !== ""; each = parentOf(each)) {
    const at = places.get(each);
    if (at !== undefined) return at;
  }
  return null;
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("."), path.lastIndexOf("[")));
}

function furtherIssues(count: number): ConfigIssue {
  return {
    code: "more",
    path: "",
    message: `There ${count === 1 ? "is 1 issue" : `are ${count} issues`} more`,
    hint: null,
    line: null,
    column: null,
  };
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

/** By halving: the config may have as many lines as keys. */
function lineAt(starts: readonly number[], at: number): number {
  let low = 0;
  let high = starts.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= at) low = middle;
    else high = middle;
  }
  return low + 1;
}
