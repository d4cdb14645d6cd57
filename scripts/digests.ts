/**
 * Builds the three digest sets, contracts/digests/*.json, from the decision pages: contracts whose answers are known to
 * stand in their documents. A set is never edited by hand; after a change, `writ gate pin` pins the new sums.
 *
 * An anchor is a term that a right digest of a page can hardly leave out. Nothing is written unless each anchor stands in
 * its page and not in the goal, no page looks as if it held a secret, and the fixture gate finds nothing in the sets.
 *
 * Run: bun scripts/digests.ts           writes them
 *      bun scripts/digests.ts --check   ends in 1 when one of them is stale, writing nothing
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { digestSetFindings } from "../src/core/delegation/digest-set.ts";
import { readSource } from "../src/core/json/source.ts";
import { redact } from "../src/core/record/redact.ts";
import { keepMade } from "./made-files.ts";

const PAGES = join(import.meta.dir, "..", "docs", "decisions");

/** A decision page by its number. */
type Chosen = { readonly page: number; readonly anchors: readonly string[] };

/** One page a contract. The anchors are identifiers that are central to it: naming any of them is enough. */
const SINGLE: readonly Chosen[] = [
  { page: 1, anchors: ["draft_sha256", "loadDraft", "newestDigest", "PUBLISH_ROUNDS", "editDraft"] },
  { page: 3, anchors: ["parseJson", "JSON.parse", "MAX_JSON_DEPTH", "inexact_number", "surveyJson"] },
  { page: 6, anchors: ["copyFolder", "COPY_LIMITS", "relocate", "planProof", "proof_inconclusive"] },
  { page: 10, anchors: ["findCollisions", "list_overwrite", "path_through_list", "not_a_list", "MAX_WRITE_DEPTH"] },
  { page: 17, anchors: ["exit_code", "readHook", "PostToolUse", "EXIT_LINE", "returnCodeInterpretation"] },
  { page: 22, anchors: ["mapJson", "planInstall", "ownHooks", "changeSettingsFile", "settings_busy"] },
  { page: 28, anchors: ["main.ts", "splitting", "bytecode", "LOG_PAGES", "process.exit"] },
  { page: 34, anchors: ["decideApproval", "WRIT_CONTRACT_ID", "not_inside_a_turn", "commandFault", "JOINTS"] },
];

/** Three pages a contract that have to do with each other, and one distinctive anchor each. */
const TRIPLES: readonly (readonly [Chosen, Chosen, Chosen])[] = [
  [one(2, "30,000"), one(8, "standingChanges"), one(35, "user_version")],
  [one(7, "continuationSeed"), one(9, "ALLOWED_KEYS"), one(21, "salvaged_truncation")],
  [one(11, "output_sha256"), one(12, "valueRedactor"), one(16, "67,108,864")],
  [one(13, "recordText"), one(4, "record_count"), one(5, "judgeAttestation")],
  [one(14, "content_unverified"), one(15, "20,000"), one(33, "4,096")],
  [one(18, "openTerminal"), one(19, "listUnclaimed"), one(20, "send_backs")],
  [one(25, "4,000"), one(26, "timingSafeEqual"), one(27, "stripControls")],
  [one(29, "parseArguments"), one(30, "ERROR_CODES"), one(31, "scripts/arrows.ts")],
];

function one(page: number, anchor: string): Chosen {
  return { page, anchors: [anchor] };
}

/** Characters of documents that a contract of the hard set has at least. */
const HARD_SIZE = 6000;

/** A figure of four digits or more or with a separator, or a name of the code: no plain word, no small number. */
const DISTINCTIVE = /^\d{4,}$|^\d+(?:[.,]\d+)+$|_|[a-z][A-Z]|^[A-Z]{4,}$|\w\.\w/;

const SCHEMA = {
  type: "object",
  properties: {
    findings: { type: "array", items: { type: "string" } },
    summary: { type: "string" },
  },
  required: ["findings", "summary"],
} as const;

type Document = { readonly name: string; readonly text: string };

/** One contract of a set, with the keys in the order in which they are written. */
export type DigestContract = {
  readonly goal: string;
  readonly context: readonly Document[];
  readonly output_schema: typeof SCHEMA;
  readonly acceptance: readonly string[];
  readonly profile: "research";
  readonly max_steps: number;
  readonly timeout_sec: number;
};

export type BuiltSet = {
  readonly file: string;
  readonly docs_per_subtask: number;
  readonly contracts: readonly DigestContract[];
  readonly text: string;
};

/**
 * Builds the sets.
 *
 * @param pages the decision pages by name
 * @returns     in the order of the manifest
 * Errors: throws with every reason why the sets may not be written
 */
export function buildSets(pages: ReadonlyMap<string, string>): readonly BuiltSet[] {
  const part = (chosen: readonly Chosen[], goalOf: (documents: readonly Document[]) => string): Part => {
    const documents = chosen.map(({ page }) => pageOf(pages, page));
    return { chosen, documents, goal: goalOf(documents) };
  };
  const single = SINGLE.map((chosen) => part([chosen], singleGoal));
  const hard = TRIPLES.map((chosen) => part(chosen, hardGoal));

  const filled = (count: number) => [`min_items:findings:${count}`, "nonempty:summary"];
  const sets = [
    setOf("digest-8.json", 1, single, () => filled(3), [8, 300]),
    setOf("digest-8-grounded.json", 1, single, ({ chosen }) => [...filled(3), anchored(chosen)], [8, 300]),
    setOf("digest-adr-hard-8.json", 3, hard, ({ chosen }) => [...filled(12), anchored(chosen)], [12, 900]),
  ];
  const problems = [
    ...pageProblems([...single, ...hard]),
    ...single.flatMap(({ chosen }) => countProblems(chosen)),
    ...hard.flatMap(hardProblems),
    ...[...single, ...hard].flatMap(anchorProblems),
    ...sets.flatMap((set) => gateProblems(set, pages)),
  ];
  if (problems.length > 0) throw new Error(`The digest sets were not built:\n  ${problems.join("\n  ")}`);
  return sets;
}

/** What one contract is made of. */
type Part = { readonly chosen: readonly Chosen[]; readonly documents: readonly Document[]; readonly goal: string };

function pageProblems(parts: readonly Part[]): readonly string[] {
  const documents = parts.flatMap((part) => part.documents);
  const names = documents.map(({ name }) => name);
  return [
    ...names.filter((name, place) => names.indexOf(name) < place).map((name) => `${name} is used twice`),
    ...documents
      .filter(({ text }) => redact(text, "output") !== text)
      .map(({ name }) => `${name} looks as if it held a secret`),
  ];
}

function countProblems(chosen: readonly Chosen[]): readonly string[] {
  return chosen
    .filter(({ anchors }) => anchors.length < 3 || anchors.length > 5)
    .map(({ page, anchors }) => `page ${page} has ${anchors.length} anchors; three to five are due`);
}

function hardProblems({ chosen, documents }: Part): readonly string[] {
  const size = documents.reduce((sum, { text }) => sum + text.length, 0);
  const anchors = chosen.flatMap((one) => one.anchors);
  return [
    ...(size < HARD_SIZE ? [`${nameOf(documents)}: ${size} characters, fewer than ${HARD_SIZE}`] : []),
    ...anchors.filter((anchor) => !DISTINCTIVE.test(anchor)).map((anchor) => `anchor "${anchor}" is not distinctive`),
  ];
}

/** An anchor stands in its own page, in no other page of the contract, and not in the goal. */
function anchorProblems({ goal, chosen, documents }: Part): readonly string[] {
  return chosen.flatMap(({ anchors }, place) =>
    anchors.flatMap((anchor) => {
      const found = documents.filter(({ text }) => text.includes(anchor)).map(({ name }) => name);
      const own = documents[place]?.name ?? "";
      return [
        ...(found.includes(own) ? [] : [`anchor "${anchor}" is not in ${own}`]),
        ...found.filter((name) => name !== own).map((name) => `anchor "${anchor}" of ${own} is in ${name} too`),
        ...(goal.includes(anchor) ? [`anchor "${anchor}" of ${own} is in the goal`] : []),
      ];
    }),
  );
}

function gateProblems({ file, docs_per_subtask, text }: BuiltSet, pages: ReadonlyMap<string, string>) {
  const read = readSource(text);
  const node = read.ok ? read.node : null;
  const { findings } = digestSetFindings({ file, docs_per_subtask, sha256: "0".repeat(64) }, text, node, pages);
  return findings.map(({ code, path, message }) => `${file} ${path}: ${code}: ${message}`);
}

function setOf(
  name: string,
  docs_per_subtask: number,
  parts: readonly Part[],
  acceptanceOf: (part: Part) => readonly string[],
  [max_steps, timeout_sec]: readonly [number, number],
): BuiltSet {
  const contracts = parts.map(
    (part): DigestContract => ({
      goal: part.goal,
      context: part.documents,
      output_schema: SCHEMA,
      acceptance: acceptanceOf(part),
      profile: "research",
      max_steps,
      timeout_sec,
    }),
  );
  return { file: `digests/${name}`, docs_per_subtask, contracts, text: `${JSON.stringify(contracts, null, 2)}\n` };
}

function singleGoal(documents: readonly Document[]): string {
  return (
    `Digest the decision page ${nameOf(documents)}. Write at least three findings; each of them names a decision, a ` +
    "mechanism or a number of the page and has fewer than 30 words. summary is two sentences: what was decided, and " +
    "what it costs. Leave out what the page does not say."
  );
}

function hardGoal(documents: readonly Document[]): string {
  return (
    `Digest the decision pages ${nameOf(documents)}. For each page write four findings: the decision, the mechanism ` +
    "that enforces it, the exception that it admits, and the figure that matters most, in digits or in words. Quote " +
    "each of them from the page word for word, with the name of the file and a colon in front. Then write one finding " +
    "on how two of the pages depend on each other, with the names of both files. summary is two sentences on what the " +
    "pages have in common. Leave out what no page says."
  );
}

function nameOf(documents: readonly Document[]): string {
  const names = documents.map(({ name }) => name);
  const last = names.pop() ?? "";
  return names.length === 0 ? last : `${names.join(", ")} and ${last}`;
}

/** ONE alternation: a digest that names none of the anchors is shallow, one that names any of them is grounded. */
function anchored(chosen: readonly Chosen[]): string {
  const alternatives = chosen
    .flatMap(({ anchors }) => anchors)
    .map((anchor) => anchor.replace(/[.+*?()|[\]{}^$\\]/g, "\\$&"));
  return `regex:(${alternatives.join("|")})`;
}

function pageOf(pages: ReadonlyMap<string, string>, page: number): Document {
  const start = `${String(page).padStart(4, "0")}-`;
  for (const [name, text] of pages) if (name.startsWith(start)) return { name, text };
  throw new Error(`There is no decision page ${page}`);
}

/** The decision pages of this tree by name. */
export function readPages(): ReadonlyMap<string, string> {
  const names = readdirSync(PAGES).filter((name) => /^\d{4}-.*\.md$/.test(name));
  return new Map(names.sort().map((name) => [name, readFileSync(join(PAGES, name), "utf8")]));
}

if (import.meta.main) {
  const files = buildSets(readPages()).map(({ file, text }) => [`contracts/${file}`, text] as const);
  process.exitCode = keepMade(process.argv.slice(2), "scripts/digests.ts", files, "; pin it with: writ gate pin");
}
