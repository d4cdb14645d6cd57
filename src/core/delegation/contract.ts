/**
 * A contract file to its subtasks, or to everything that is wrong with it at once.
 *
 * Three steps, in the order in which their issues are told: the file (text, JSON, keys, how many subtasks), the types of
 * all its fields (`decode.ts`), then the rules, subtask by subtask. What parses a check and what judges a schema is
 * handed in, and so is what reads `context_paths`.
 */
import type { Check } from "../acceptance/check.ts";
import { quote } from "../acceptance/quoting.ts";
import { type JsonFault, parseJson, positionOf, yamlStart } from "../json/parse.ts";
import { readSource, type SourceMember, type SourceNode, type SourceObject } from "../json/source.ts";
import { assignKey, isObject, type JsonObject, type JsonValue } from "../json/value.ts";
import { nearest } from "../near-miss.ts";
import { decodeUtf8, utf8Length } from "../utf8.ts";
import { isBlank, trimBlank } from "./blank.ts";
import { type Decoded, decodeObject, foundName, type IntegerLiteral, unknownMembers } from "./decode.ts";
import { type Document, type DocumentReader, documentNameFault, documentsSize, findCollisions } from "./document.ts";
import { foldName } from "./fold.ts";
import type { DelegationIssue, DelegationIssueCode } from "./issue.ts";
import { CONTRACT_LIMITS } from "./limits.ts";
import { pointerTo } from "./pointer.ts";
import { BUDGETS, ContractFields, DocumentFields, THINKING } from "./schema.ts";
import { readWriteRoot } from "./write-root.ts";

/** One subtask as it is kept: every field is there, numbers are clamped, the write root is cleaned. */
export type DelegationContract = {
  readonly schema_version: 1;
  readonly goal: string;
  /** Inline documents, then those of `context_paths`. */
  readonly context: readonly Document[];
  readonly output_schema: JsonObject | null;
  readonly acceptance: readonly string[];
  /** "" is "research". */
  readonly profile: string;
  /** "" is "auto". */
  readonly thinking: "" | (typeof THINKING)[number];
  readonly max_steps: number;
  readonly timeout_sec: number;
  /** "" opens no write door; "." is the whole read root. */
  readonly write_root: string;
  readonly depth: 0;
};

/** A subtask without any issue. */
export type ContractDraft = {
  /** Its place in the file, from 0. */
  readonly index: number;
  /** Its pointer. */
  readonly path: string;
  /** Its documents are those inline, and those of `context_paths` when they were read. */
  readonly contract: DelegationContract;
  /** As written. Never sent to a place. */
  readonly context_paths: readonly string[];
  /** False where `context_paths` has entries and nothing was handed in to read them. */
  readonly isComplete: boolean;
  /** Members that are no field, at most 64; `near` is the field that may have been meant. */
  readonly unknown: readonly UnknownMember[];
  /** Numbers that are another than what was asked for. */
  readonly clamped: readonly Clamp[];
};

export type UnknownMember = { readonly path: string; readonly key: string; readonly near: string | null };
export type Clamp = {
  readonly path: string;
  readonly field: keyof typeof BUDGETS;
  /** The number as written. */
  readonly asked: string;
  readonly given: number;
};

/** What judges the parts of a contract that have a language of their own. */
export type Judges = {
  readonly parseCheck: (
    line: string,
  ) =>
    | { readonly ok: true; readonly check: Check }
    | { readonly ok: false; readonly error: { readonly code: string; readonly message: string } };
  /** `path` is a JSON pointer into the schema. */
  readonly lintSchema: (
    schema: JsonObject,
  ) => readonly { readonly path: string; readonly message: string; readonly hint?: string | null }[];
};

export type ReadOptions = Judges & {
  /** Reads `context_paths`; left out, they are kept apart unread. Called only where there are some. */
  readonly readDocuments?: DocumentReader;
  /** The pointer of the top value, `/subtasks` in a call; "" when left out. */
  readonly base?: string;
};

export type ReadContracts = {
  /** In the order in which they are told; none means that every subtask is a draft. */
  readonly issues: readonly DelegationIssue[];
  readonly subtasks: readonly ContractDraft[];
  /** The pointers of all subtasks of the file, sound or not; none when the file itself does not read. */
  readonly places: readonly string[];
};

/** Faults of one kind that are told of one file or one subtask, where a hostile file could hold millions. */
const TOLD = 64;

/**
 * Reads the bytes of a contract file. See `readContracts`.
 *
 * Errors: none is thrown, whatever the bytes
 */
export function readContractBytes(bytes: Uint8Array, options: ReadOptions): ReadContracts {
  if (bytes.length > CONTRACT_LIMITS.file_bytes) return stopped([tooLarge(options)]);
  const decoded = decodeUtf8(bytes);
  if (decoded.ok) return readContracts(decoded.text, options);
  const message = `Cannot read the contract: byte ${decoded.offset} is no UTF-8`;
  return stopped([{ code: "not_json", path: options.base ?? "", message, hint: "Save the file as UTF-8" }]);
}

/**
 * Reads the text of a contract file.
 *
 * Beyond a limit (subtasks, documents, checks) the limit is the issue, and what lies within it is judged.
 *
 * @param text well-formed; a byte order mark is still in it
 * Errors:     none is thrown, whatever the text; time is linear in it, times what the judges take
 */
export function readContracts(text: string, options: ReadOptions): ReadContracts {
  const base = options.base ?? "";
  if (utf8Length(text) > CONTRACT_LIMITS.file_bytes) return stopped([tooLarge(options)]);
  const read = readSource(text, { maxDepth: CONTRACT_LIMITS.depth });
  if (!read.ok) return stopped([faultIssue(text, read.fault, base)]);
  const { node } = read;
  const nodes = node.kind === "array" ? node.items : [node];
  const subtasks = nodes.slice(0, CONTRACT_LIMITS.subtasks).map((each, index) => ({
    node: each,
    index,
    path: node.kind === "array" ? pointerTo(base, index) : base,
  }));

  const objects = subtasks.flatMap((each) => (each.node.kind === "object" ? [{ ...each, node: each.node }] : []));
  const stops = [
    ...duplicateFields(text, objects),
    ...(node.kind === "array" ? subtasks : [{ node, path: base, index: null }]).flatMap(notAnObject),
    ...countIssues(nodes.length, base),
  ];
  if (stops.length > 0) return stopped(stops);

  const mismatches: DelegationIssue[] = [];
  const decoded = objects.map(({ node: object, ...place }) => ({
    ...place,
    object,
    fields: decodeObject(ContractFields, object, place.path, (issue) => mismatches.push(issue)),
  }));
  const judged = decoded.map((subtask) => judge(subtask, text, options));
  const isSound = (path: string) => !mismatches.some((issue) => isWithin(issue, path));
  return {
    issues: [...mismatches, ...judged.flatMap(({ issues }) => issues)],
    subtasks: judged.flatMap(({ issues, draft }) => (issues.length === 0 && isSound(draft.path) ? [draft] : [])),
    places: objects.map(({ path }) => path),
  };
}

/** The issues of one subtask, by its pointer; those of the file as a whole are nobody's. */
export function issuesOf(read: ReadContracts, place: string): readonly DelegationIssue[] {
  return read.issues.filter((issue) => isWithin(issue, place));
}

/**
 * The canonical contract: what travels and what the hash is taken of. Empty strings and lists are left out.
 *
 * @returns a JSON object that reads again as the same contract
 */
export function canonicalContract(contract: DelegationContract): JsonObject {
  const canonical: Record<string, JsonValue> = {};
  const { context, ...rest } = contract;
  const members = { ...rest, context: context.map(({ name, text }) => ({ name, text })) };
  for (const key of CANONICAL_ORDER) {
    const value: JsonValue = members[key];
    if (value === null || value === "" || (Array.isArray(value) && value.length === 0)) continue;
    assignKey(canonical, key, value);
  }
  return canonical;
}

const CANONICAL_ORDER = [
  "schema_version",
  "goal",
  "context",
  "output_schema",
  "acceptance",
  "profile",
  "thinking",
  "max_steps",
  "timeout_sec",
  "write_root",
  "depth",
] as const satisfies readonly (keyof DelegationContract)[];

// The file as a whole.

type Place = { readonly index: number; readonly path: string };

function stopped(issues: readonly DelegationIssue[]): ReadContracts {
  return { issues, subtasks: [], places: [] };
}

function tooLarge({ base }: ReadOptions): DelegationIssue {
  const message = `The contract file is larger than ${CONTRACT_LIMITS.file_bytes / 1024} KiB`;
  return { code: "file_too_large", path: base ?? "", message, hint: "Name large documents in context_paths" };
}

function faultIssue(text: string, fault: JsonFault, path: string): DelegationIssue {
  const { line, column, duplicate } = fault;
  if (duplicate !== null) return duplicateIssue(duplicate.key, path, duplicate.first, fault);
  const message = `Cannot read the contract: line ${line}, column ${column}: ${fault.message}`;
  return fault.code === "too_deep"
    ? { code: "too_deep", path, message, hint: null }
    : { code: "not_json", path, message, hint: syntaxHint(text, fault) };
}

function syntaxHint(text: string, fault: JsonFault): string | null {
  const yaml = fault.looksLike === "yaml" ? yamlStart(text) : null;
  if (yaml !== null) {
    const { line, column } = positionOf(text, yaml);
    return `It reads like YAML from line ${line}, column ${column} on; a contract is JSON`;
  }
  switch (text[fault.at]) {
    case "\ufeff":
      return "Save the file without a byte order mark";
    case "'":
      return "Write texts and names in double quotes";
    case "/":
    case "#":
      return "Take comments out: JSON has none";
    case ",":
      return "Take the comma out";
    default:
      return null;
  }
}

type At = { readonly line: number; readonly column: number };

function duplicateIssue(key: string, path: string, first: At, second: At, name = key): DelegationIssue {
  const what =
    name === key ? `Key ${quote(key)} is given twice` : `Keys ${quote(name)} and ${quote(key)} name one field`;
  const places = [first, second].map(({ line, column }) => `line ${line}, column ${column}`);
  return {
    code: "duplicate_key",
    path,
    message: `${what} in one object: at ${places.join(" and at ")}`,
    hint: name === key ? "Keep one of them" : "Names of fields match in any case; keep one of them",
  };
}

/** Two keys of one object that differ in nothing but case and name one field. */
function duplicateFields(
  text: string,
  objects: readonly (Place & { readonly node: SourceObject })[],
): readonly DelegationIssue[] {
  const found: DelegationIssue[] = [];
  const look = (object: SourceObject, entries: object, path: string) => {
    const seen = new Map<string, SourceMember>();
    for (const member of object.members) {
      const name = foldName(member.key);
      if (!Object.hasOwn(entries, name)) continue;
      const before = seen.get(name);
      if (before === undefined) seen.set(name, member);
      else if (found.length < TOLD) {
        const [first, second] = [before.start, member.start].map((at) => positionOf(text, at)) as [At, At];
        found.push(duplicateIssue(member.key, pointerTo(path, member.key), first, second, before.key));
      }
    }
  };
  for (const { node, path } of objects) {
    look(node, ContractFields.entries, path);
    for (const member of node.members) {
      if (foldName(member.key) !== "context" || member.value.kind !== "array") continue;
      const list = pointerTo(path, member.key);
      member.value.items.forEach((item, index) => {
        if (item.kind === "object") look(item, DocumentFields.entries, pointerTo(list, index));
      });
    }
  }
  return found;
}

function notAnObject(subtask: {
  readonly node: SourceNode;
  readonly path: string;
  readonly index: number | null;
}): readonly DelegationIssue[] {
  const { node, path, index } = subtask;
  if (node.kind === "object") return [];
  const found = foundName(node);
  const message =
    index === null
      ? `A contract file holds one object or a list of 1 to ${CONTRACT_LIMITS.subtasks} objects, not ${found}`
      : `Subtask ${index} must be an object, not ${found}`;
  return [{ code: "not_an_object", path, message, hint: 'The least contract is {"goal": "…"}' }];
}

function countIssues(count: number, path: string): readonly DelegationIssue[] {
  const most = CONTRACT_LIMITS.subtasks;
  if (count === 0) return [{ code: "no_subtasks", path, message: "The contract file has no subtask", hint: null }];
  if (count <= most) return [];
  const message = `The contract file has ${count} subtasks; at most ${most} are allowed`;
  return [{ code: "too_many_subtasks", path, message, hint: "Split it into several files" }];
}

// One subtask.

type Subtask = Place & { readonly object: SourceObject; readonly fields: Decoded };

/** The fields of a subtask whose types are right, as `decodeObject` gives them. */
type Values = {
  readonly goal?: string;
  readonly context: readonly Document[];
  readonly context_paths: readonly string[];
  readonly output_schema?: SourceNode;
  readonly acceptance: readonly string[];
  readonly profile: string;
  readonly thinking: string;
  readonly max_steps: number | IntegerLiteral;
  readonly timeout_sec: number | IntegerLiteral;
  readonly write_root: string;
};

function judge(
  subtask: Subtask,
  text: string,
  { readDocuments, parseCheck, lintSchema }: ReadOptions,
): { readonly issues: readonly DelegationIssue[]; readonly draft: ContractDraft } {
  const { fields, path, index } = subtask;
  // The types were checked field by field; what failed has its default here and is not looked at.
  const values = fields.values as Values;
  const at = (name: keyof Values) => fields.places[name] ?? pointerTo(path, name);
  const issues: DelegationIssue[] = [];
  const tell = (code: DelegationIssueCode, place: string, message: string, hint: string | null = null) =>
    issues.push({ code, path: place, message, hint });

  const paths = values.context_paths;
  const count = values.context.length + paths.length;
  const isTooMany = count > CONTRACT_LIMITS.documents;
  const isUnread = paths.length > 0 && readDocuments === undefined;
  const fetched =
    paths.length > 0 && readDocuments !== undefined && !isTooMany
      ? readDocuments(paths)
      : { documents: [], faults: [] };
  for (const fault of fetched.faults) {
    const list = at("context_paths");
    tell(fault.code, fault.index === null ? list : pointerTo(list, fault.index), fault.message, fault.hint);
  }

  if (!fields.failed.has("goal") && isBlank(values.goal ?? "")) {
    tell(
      "goal_required",
      at("goal"),
      "A contract needs a goal that is not blank",
      "Say what is wanted, and what would be wrong",
    );
  }
  const thinking = THINKING.find((word) => word === trimBlank(values.thinking).toLowerCase()) ?? "";
  if (thinking === "" && trimBlank(values.thinking) !== "") {
    const near = nearest(values.thinking, THINKING);
    const hint = near === null ? null : `Did you mean "${near}"?`;
    tell("thinking", at("thinking"), `Thinking ${quote(values.thinking)} is none of "auto", "on" and "off"`, hint);
  }
  const writeRoot = values.write_root === "" ? ({ ok: true, root: "" } as const) : readWriteRoot(values.write_root);
  if (!writeRoot.ok) tell("write_root", at("write_root"), writeRoot.message, writeRoot.hint);

  if (isTooMany) {
    const message = `The subtask has ${count} documents; at most ${CONTRACT_LIMITS.documents} are allowed`;
    tell("too_many_docs", placeOfDocuments(subtask, values), message, "Keep those that the goal needs");
  }
  const documents = placedDocuments(values, at, fetched.documents);
  for (const issue of documentIssues(documents.slice(0, CONTRACT_LIMITS.documents))) issues.push(issue);
  const size = documentsSize(documents.map(({ document }) => document));
  if (size > CONTRACT_LIMITS.documents_bytes) {
    const most = CONTRACT_LIMITS.documents_bytes;
    const message = `The documents have ${size} bytes in total, names included; at most ${most} are allowed`;
    tell("context_too_large", placeOfDocuments(subtask, values), message, "Cut them to what the goal needs");
  }

  const schema = readSchema(values.output_schema, text, at("output_schema"), lintSchema);
  const textBytes = utf8Length(values.goal ?? "") + Math.min(size, CONTRACT_LIMITS.documents_bytes);
  issues.push(...schema.issues, ...checkIssues(values.acceptance, at("acceptance"), { parseCheck, textBytes }));

  const budgets = [
    clamp("max_steps", values.max_steps, at("max_steps")),
    clamp("timeout_sec", values.timeout_sec, at("timeout_sec")),
  ] as const;
  const draft: ContractDraft = {
    index,
    path,
    contract: {
      schema_version: 1,
      goal: values.goal ?? "",
      context: documents.map(({ document }) => document),
      output_schema: schema.schema,
      acceptance: values.acceptance,
      profile: values.profile,
      thinking,
      max_steps: budgets[0].given,
      timeout_sec: budgets[1].given,
      write_root: writeRoot.ok ? writeRoot.root : "",
      depth: 0,
    },
    context_paths: paths,
    isComplete: !isUnread,
    unknown: unknownIn(subtask),
    clamped: budgets.flatMap(({ clamped }) => clamped),
  };
  return { issues, draft };
}

type PlacedDocument = { readonly document: Document; readonly path: string };

function placedDocuments(
  values: Values,
  at: (name: keyof Values) => string,
  fetched: readonly { readonly index: number; readonly document: Document }[],
): readonly PlacedDocument[] {
  return [
    ...values.context.map(({ name, text }, index) => ({
      document: { name, text },
      path: pointerTo(at("context"), index),
    })),
    ...fetched.map(({ index, document }) => ({ document, path: pointerTo(at("context_paths"), index) })),
  ];
}

/** Names, then collisions of those that are sound. */
function documentIssues(documents: readonly PlacedDocument[]): readonly DelegationIssue[] {
  const issues: DelegationIssue[] = [];
  const sound = documents.filter(({ document, path }) => {
    const fault = documentNameFault(document.name);
    if (fault !== null) issues.push({ code: "doc_name", path, ...fault });
    return fault === null;
  });
  for (const { index, message, hint } of findCollisions(sound.map(({ document }) => document.name))) {
    issues.push({ code: "doc_collision", path: sound[index]?.path ?? "", message, hint });
  }
  return issues;
}

/** The list that is at fault, where there is one list only. */
function placeOfDocuments({ fields, path }: Subtask, values: Values): string {
  if (values.context_paths.length === 0) return fields.places.context ?? path;
  return values.context.length === 0 ? (fields.places.context_paths ?? path) : path;
}

function readSchema(
  node: SourceNode | undefined,
  text: string,
  path: string,
  lintSchema: Judges["lintSchema"],
): { readonly schema: JsonObject | null; readonly issues: readonly DelegationIssue[] } {
  if (node === undefined) return { schema: null, issues: [] };
  const refuse = (message: string, hint: string | null = null, place = path) => ({
    schema: null,
    issues: [{ code: "output_schema" as const, path: place, message, hint }],
  });
  if (node.kind !== "object") {
    return refuse(
      `The output schema must be an object, not ${foundName(node)}`,
      'Write {"properties": {…}}, or leave it out',
    );
  }
  const parsed = parseJson(text.slice(node.start, node.end));
  if (!parsed.ok || !isObject(parsed.value)) {
    const inexact = inexactNumbers(node, path).slice(0, TOLD);
    return { schema: null, issues: inexact.flatMap(({ place, number }) => refuse(number, null, place).issues) };
  }
  const found = lintSchema(parsed.value);
  return {
    schema: parsed.value,
    issues: found.map((issue) => ({
      code: "output_schema",
      path: `${path}${issue.path}`,
      message: issue.message,
      hint: issue.hint ?? null,
    })),
  };
}

/** The numbers of a schema that no double holds as they are written, each with what is to be said. */
function inexactNumbers(
  node: SourceNode,
  place: string,
): readonly { readonly place: string; readonly number: string }[] {
  switch (node.kind) {
    case "number": {
      const parsed = parseJson(node.text);
      return parsed.ok ? [] : [{ place, number: `In the output schema, ${parsed.fault.message}` }];
    }
    case "array":
      return node.items.flatMap((item, index) => inexactNumbers(item, pointerTo(place, index)));
    case "object":
      return node.members.flatMap(({ key, value }) => inexactNumbers(value, pointerTo(place, key)));
    default:
      return [];
  }
}

const PATTERN_HINT = "{n} repeats its part n times: write the patterns shorter, or give fewer documents";

/** @param options `textBytes`: of what a pattern is held against before there is an answer */
function checkIssues(
  lines: readonly string[],
  path: string,
  { parseCheck, textBytes }: Pick<Judges, "parseCheck"> & { readonly textBytes: number },
): readonly DelegationIssue[] {
  const { checks, check_bytes, pattern_work, pattern_text_bytes } = CONTRACT_LIMITS;
  const most = Math.floor(pattern_work / Math.max(textBytes, pattern_text_bytes));
  let instructions = 0;
  const issues: DelegationIssue[] = [];
  const tell = (place: string, message: string, cause?: string) =>
    issues.push({ code: "acceptance", path: place, message, hint: null, ...(cause === undefined ? {} : { cause }) });
  if (lines.length > checks) tell(path, `There are ${lines.length} checks; at most ${checks} are allowed`);
  lines.slice(0, checks).forEach((line, index) => {
    const place = pointerTo(path, index);
    const size = utf8Length(line);
    if (size > check_bytes) {
      tell(place, `Check ${index}: ${quote(line)} has ${size} bytes; at most ${check_bytes} are allowed`);
      return;
    }
    // Compiling takes its time too: what stands behind one pattern too many is not looked at.
    if (instructions > most) return;
    const parsed = parseCheck(line);
    if (!parsed.ok) tell(place, `Check ${index}: ${parsed.error.message}`, parsed.error.code);
    if (!parsed.ok || parsed.check.verb !== "regex") return;
    instructions += parsed.check.pattern.size;
    if (instructions <= most) return;
    const sum = `With it the patterns of the checks take ${instructions} instructions`;
    const message = `Check ${index}: ${quote(line)} is too much. ${sum}; at most ${most} are allowed over ${textBytes} bytes`;
    issues.push({ code: "acceptance", path: place, message, hint: PATTERN_HINT });
  });
  return issues;
}

function clamp(
  field: keyof typeof BUDGETS,
  asked: number | IntegerLiteral,
  path: string,
): { readonly given: number; readonly clamped: readonly Clamp[] } {
  const { preset, most } = BUDGETS[field];
  if (typeof asked === "number") return { given: asked, clamped: [] };
  const given = asked.value <= 0 ? preset : Math.min(asked.value, most);
  return { given, clamped: given === asked.value ? [] : [{ path, field, asked: asked.literal, given }] };
}

function unknownIn({ object, path }: Subtask): readonly UnknownMember[] {
  const found: UnknownMember[] = [];
  const look = (part: SourceObject, shape: typeof ContractFields | typeof DocumentFields, place: string) => {
    for (const key of unknownMembers(shape, part)) {
      if (found.length >= TOLD) return;
      found.push({ path: pointerTo(place, key), key, near: nearest(key, Object.keys(shape.entries)) });
    }
  };
  look(object, ContractFields, path);
  for (const member of object.members) {
    if (foldName(member.key) !== "context" || member.value.kind !== "array") continue;
    const list = pointerTo(path, member.key);
    member.value.items.forEach((item, index) => {
      if (item.kind === "object") look(item, DocumentFields, pointerTo(list, index));
    });
  }
  return found;
}

function isWithin(issue: DelegationIssue, place: string): boolean {
  return issue.path === place || issue.path.startsWith(`${place}/`);
}
