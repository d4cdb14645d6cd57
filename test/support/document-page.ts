/** What docs/reference/documents.md says of a document, read out of its tables, and a document held against it. */
import { isArray, isObject, type JsonObject, type JsonValue } from "../../src/core/json/value.ts";

/** What a member may be. `any` ends the walk: what is inside is somebody's own. */
type Kind = "text" | "number" | "flag" | "null" | "object" | "list" | "any";

type Entry = {
  readonly kinds: ReadonlySet<Kind>;
  /** Its meaning begins with "if". */
  readonly isOptional: boolean;
  /** The rows of the page that it comes from: `section: member`. */
  readonly rows: readonly string[];
  /** The words that a text may be, where the meaning begins with them; empty: any. */
  readonly words: readonly string[];
};
/** By path: `seats[].name`; `seats[]` is an element of the list. */
type Members = ReadonlyMap<string, Entry>;

type Row = { readonly member: string; readonly type: string; readonly meaning: string };

export type DocumentPage = {
  /** The commands and tools that have a section, aliases included. */
  readonly names: readonly string[];
  /** Every row: `section: member`. */
  readonly rows: ReadonlySet<string>;
  meaningOf(row: string): string | undefined;
  /** What of a document the page does not say, or says otherwise; the rows that it bore out go into `seen`. */
  faultsOf(name: string, document: JsonObject, seen: Set<string>): readonly string[];
};

const SHAPE = /\[[^\]]+\]\(#([\w-]+)\)/g;

export function readDocumentPage(page: string): DocumentPage {
  const sections = sectionsOf(page);
  const members = new Map<string, Members>();
  const compiled = (name: string): Members => {
    const known = members.get(name) ?? compile(name, sections, compiled);
    members.set(name, known);
    return known;
  };
  const aliases = new Map(
    [...sections].flatMap(([name, { like }]) => [name, ...like].map((each) => [each, name] as const)),
  );
  const rows = new Map<string, string>(
    [...sections].flatMap(([name, { rows: own }]) =>
      own.filter(isOwn).map((row) => [`${name}: ${row.member}`, row.meaning] as const),
    ),
  );
  return {
    names: [...aliases.keys()],
    rows: new Set(rows.keys()),
    meaningOf: (row) => rows.get(row),
    faultsOf(name, document, seen) {
      const section = aliases.get(name);
      if (section === undefined) return [`${name} has no section`];
      const faults: string[] = [];
      walk(document, "", { members: compiled(section), seen, tell: (fault) => void faults.push(`${name}: ${fault}`) });
      return faults;
    },
  };
}

/** A row of a table, and not one that stands for a whole shape. */
const isOwn = ({ member }: Row) => member !== "(all)" && !member.endsWith("[]");

type Section = { readonly rows: readonly Row[]; readonly like: readonly string[] };

function sectionsOf(page: string): ReadonlyMap<string, Section> {
  const parts = page.split(/^### /m).slice(1);
  return new Map(
    parts.map((part) => {
      const [heading = ""] = part.split("\n", 1);
      const [body = ""] = part.split(/^## /m, 1);
      const rows = [...body.matchAll(/^\| (?:`([^`]+)`|(\(all\))) \| ([^|]+) \| ([^|]*) ?\|$/gm)].map(
        ([, named, all, type = "", meaning = ""]) => ({ member: named ?? all ?? "", type, meaning: meaning.trim() }),
      );
      const like = /^The same of (.*?)\.(?:\s|$)/ms.exec(body)?.[1] ?? "";
      return [
        heading.replace(/^writ /, ""),
        { rows, like: [...like.matchAll(/`writ ([^`]+)`/g)].map(([, name = ""]) => name) },
      ];
    }),
  );
}

function compile(name: string, sections: ReadonlyMap<string, Section>, shape: (name: string) => Members): Members {
  const members = new Map<string, Entry>();
  const put = (path: string, entry: Entry) => {
    const before = members.get(path);
    const isOptional = entry.isOptional && (before?.isOptional ?? true);
    const kinds = new Set([...(before?.kinds ?? []), ...entry.kinds]);
    const words = before?.words.length === 0 ? [] : [...(before?.words ?? []), ...entry.words];
    members.set(path, { kinds, isOptional, rows: [...(before?.rows ?? []), ...entry.rows], words });
  };
  const section = sections.get(name);
  if (section === undefined) throw new Error(`the page links to a shape that it does not have: ${name}`);
  for (const { member, type, meaning } of section.rows) {
    const isOptional = /^if\b/.test(meaning) || name === "errors";
    const row = `${name}: ${member}`;
    const listed = type.startsWith("list of ");
    const ending = type.endsWith(" or null") ? " or null" : "";
    const inner = (listed ? type.slice("list of ".length) : type).slice(0, ending === "" ? undefined : -ending.length);
    const shapes = [...inner.matchAll(SHAPE)].map(([, anchor = ""]) => anchor.replaceAll("-", " "));
    const kinds = shapes.length > 0 ? ["object"] : inner.split(" or ");
    const own = member === "(all)" ? "" : member;
    if (own !== "" && !own.endsWith("[]")) {
      const first = listed ? ["list"] : kinds;
      put(own, {
        kinds: kindsOf(row, [...first, ...(ending === "" ? [] : ["null"])]),
        isOptional,
        rows: [row],
        words: wordsOf(meaning),
      });
      if (listed) put(`${own}[]`, { kinds: kindsOf(row, kinds), isOptional: false, rows: [], words: [] });
    }
    const under = own === "" ? "" : listed ? `${own}[].` : `${own}.`;
    for (const each of shapes) {
      for (const [path, entry] of shape(each)) {
        const isFree = entry.isOptional || shapes.length > 1 || (isOptional && under === "");
        put(`${under}${path}`, { ...entry, isOptional: isFree });
      }
    }
  }
  return members;
}

/** `a`, `b` or `c` at the beginning, also behind "if …:", and with a remark in brackets behind each. */
function wordsOf(meaning: string): readonly string[] {
  const [list = ""] =
    /^`[^`]+`(?: \([^)]*\))?(?:(?:,| or|, or) `[^`]+`(?: \([^)]*\))?)*/.exec(meaning.replace(/^if [^:`]*: /, "")) ?? [];
  return /^(?:`[\w-]+`|[ ,]|or|\([^)]*\))+$/.test(list)
    ? [...list.matchAll(/`([\w-]+)`/g)].map(([, word = ""]) => word)
    : [];
}

function kindsOf(row: string, words: readonly string[]): ReadonlySet<Kind> {
  const known: readonly string[] = ["text", "number", "flag", "null", "object", "list", "any"];
  const odd = words.filter((word) => !known.includes(word));
  if (odd.length > 0) throw new Error(`${row}: ${odd.join(", ")} is no type`);
  return new Set(words as Kind[]);
}

type Walk = { readonly members: Members; readonly seen: Set<string>; readonly tell: (fault: string) => void };

function walk(value: JsonValue, path: string, at: Walk): void {
  if (path !== "") {
    const entry = at.members.get(path);
    if (entry === undefined) {
      at.tell(`${path} is not named: ${JSON.stringify(value).slice(0, 80)}`);
      return;
    }
    for (const row of entry.rows) at.seen.add(row);
    if (entry.kinds.has("any")) return;
    const kind = kindOf(value);
    if (!entry.kinds.has(kind)) {
      at.tell(`${path} is ${kind}, and not ${[...entry.kinds].join(" or ")}`);
      return;
    }
  }
  const words = at.members.get(path)?.words ?? [];
  if (typeof value === "string" && words.length > 0 && value !== "" && !words.includes(value)) {
    at.tell(`${path} is "${value.slice(0, 40)}", and not ${words.join(" or ")}`);
  }
  if (isArray(value)) for (const each of value) walk(each, `${path}[]`, at);
  if (!isObject(value)) return;
  const under = path === "" ? "" : `${path}.`;
  for (const [key, each] of Object.entries(value)) walk(each, `${under}${key}`, at);
  for (const [member, { isOptional }] of at.members) {
    const key = member.startsWith(under) ? member.slice(under.length) : "";
    if (isOptional || key === "" || /[.[]/.test(key)) continue;
    if (!Object.hasOwn(value, key)) at.tell(`${member} is not there, and the page does not say that it may be missing`);
  }
}

function kindOf(value: JsonValue): Kind {
  if (value === null) return "null";
  if (isArray(value)) return "list";
  if (typeof value === "object") return "object";
  if (typeof value === "string") return "text";
  return typeof value === "boolean" ? "flag" : "number";
}
