/** A small set of fixtures, sound as it is; a test puts one defect into a copy of its files. */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { JsonObject } from "../../src/core/json/value.ts";

/** Texts by path. */
export type Files = Record<string, string>;

export const SET_FILE = "digests/eight.json";
export const PLAIN_FILE = "templates/plain.json";

const SCHEMA = { type: "object", properties: { summary: { type: "string" } }, required: ["summary"] };

/** One contract of the set; page `p3.md` has the anchors QX-3 and keyThree3. */
export function contractOf(at: number): JsonObject {
  return {
    goal: "Say what the page decides",
    context: [{ name: `p${at}.md`, text: `Rule ${at}: bay QX-${at} holds what key_${at} names.` }],
    output_schema: SCHEMA,
    acceptance: ["nonempty:summary", `regex:(QX-${at}|key_${at})`],
  };
}

export function pretty(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

export function digest(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}

/** The files of the sound set, its manifest among them; the pages of its corpus are in `pages/`. */
export function soundSet(): Files {
  const contracts = Array.from({ length: 8 }, (_, at) => contractOf(at));
  const pages = contracts.map((_, at) => [`pages/p${at}.md`, `Rule ${at}: bay QX-${at} holds what key_${at} names.`]);
  const set = pretty(contracts);
  return {
    [SET_FILE]: set,
    [PLAIN_FILE]: pretty({ goal: "Count the bays", acceptance: ["contains:bays", "min_items:bays:1"] }),
    "templates/nodes.json": pretty({ nodes: [{ id: "node-a" }] }),
    "manifest.json": pretty(manifestOf({ sha256: digest(set) })),
    ...Object.fromEntries(pages),
  };
}

export function manifestOf({ sha256 }: { readonly sha256: string }): JsonObject {
  return {
    schema_version: 1,
    corpus: Array.from({ length: 8 }, (_, at) => `p${at}.md`),
    corpus_dir: "pages",
    digest_sets: [{ file: SET_FILE, docs_per_subtask: 1, sha256 }],
    files_with_acceptance: [SET_FILE, PLAIN_FILE],
    schemas: [],
  };
}

/** The set with other texts in the place of some files (null takes one away), its pins still right. */
export function changedSet(changes: Readonly<Record<string, string | null>>, pins = true): Files {
  const files = soundSet();
  for (const [path, text] of Object.entries(changes)) {
    if (text === null) delete files[path];
    else files[path] = text;
  }
  const set = files[SET_FILE];
  if (pins && set !== undefined && changes["manifest.json"] === undefined) {
    files["manifest.json"] = pretty(manifestOf({ sha256: digest(set) }));
  }
  return files;
}

/** The contracts of the set with one of them changed. */
export function withContract(at: number, changes: JsonObject): string {
  return pretty(Array.from({ length: 8 }, (_, each) => ({ ...contractOf(each), ...(each === at ? changes : {}) })));
}

/** Writes files into a new folder, which the caller removes. */
export function writeSet(files: Files): string {
  const folder = mkdtempSync(join(tmpdir(), "writ-fixtures-"));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}
