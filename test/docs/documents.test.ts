/** docs/reference/documents.md is held to the documents that really come: it names every member, and none that never does. */
import { beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY, readPage } from "../../scripts/pages/pages.ts";
import type { Nodes } from "../../src/cli/node.ts";
import { TREE } from "../../src/cli/tree.ts";
import { readDocumentPage } from "../support/document-page.ts";
import { type Played, playDocuments } from "../support/document-scenes.ts";

const text = readPage("docs/reference/documents.md");
const page = readDocumentPage(text);
const PLAY_MS = 120_000;

/** What every error says before all else. */
const ERROR = ["ok", "status", "code", "path", "message", "hint"];

/** Members that come where a place is busy, breaks or is met by another: no scene here brings them about for sure. */
const RARE: Readonly<Record<string, readonly string[]>> = {
  written: ["mirror_skipped_reason", "canonicalized"],
  summary: [
    ...["fleet_unreachable", "retry_recovered", "replaced", "replacement_recovered", "waited", "orphaned"],
    ...["quarantined", "canceled", "telemetry_lost", "telemetry_attempted"],
  ],
  leg: [
    ...["defer_class", "failed", "acceptance_note", "stop_note", "forced_final", "output_truncated", "repack.note"],
    ...["capacity_wait_sec", "retry_after_sec", "queue_wait_sec", "admission_wait_sec", "admission_note"],
    ...["contention_wait_sec", "seat_down_wait_sec", "node_wall_ms", "trace[].note", "attempts[].http"],
    ...["attempts[].code", "attempts[].defer_class", "replacements", "replacement_note"],
  ],
  "contract validate": ["cross_check"],
  lint: ["files[].issues"],
  resume: ["prs[].repo", "prs[].number", "prs[].pre_rework_head"],
  "brief check": ["issues[].lines"],
  "config init": ["seats[].name", "seats[].base_url", "seats[].model", "seats[].engine", "seats[].proxy"],
  agent_delegate: ["ended"],
  fleet_status: ["index", "where", "doing", "silent_sec"].map((name) => `running[].unfinished[].${name}`),
  "runs show": ["unfinished[].recovered"],
  errors: ["omitted"],
};
const rare = new Set(Object.entries(RARE).flatMap(([name, members]) => members.map((each) => `${name}: ${each}`)));

function namesOf(nodes: Nodes, before = ""): readonly string[] {
  return Object.entries(nodes).flatMap(([word, { load, commands = {} }]) => [
    ...(load === undefined ? [] : [`${before}${word}`]),
    ...namesOf(commands, `${before}${word} `),
  ]);
}
const commands = namesOf(TREE);

let played: readonly Played[] = [];
const seen = new Set<string>();
const faults: string[] = [];
beforeAll(async () => {
  played = await playDocuments([...commands, "help"]);
  for (const { name, line, document } of played) {
    const { ok, ...members } = document;
    const rest = isError(document)
      ? Object.fromEntries(Object.entries(document).filter(([key]) => !ERROR.includes(key)))
      : members;
    const found = page.faultsOf(isError(document) ? "errors" : name, rest, seen);
    faults.push(...found.map((fault) => `${line}: ${fault}`));
  }
}, PLAY_MS);

const isError = (document: Played["document"]) => document.ok === false && "code" in document;

test("every member of every document stands on the page, with its type and its words, and what it calls always there is", () => {
  expect(faults).toEqual([]);
});

test("no row of the page speaks of what never came; of what seldom comes the code speaks", () => {
  expect([...page.rows].filter((row) => !seen.has(row) && !rare.has(row))).toEqual([]);
  expect([...rare].filter((row) => !page.rows.has(row))).toEqual([]);
  const code = [...new Bun.Glob("src/**/*.ts").scanSync(REPOSITORY)].map((file) =>
    readFileSync(join(REPOSITORY, file), "utf8"),
  );
  const all = code.join("\n");
  const words = [...rare].map((row) => row.split(/[.[\]: ]+/).at(-1) ?? "");
  expect(words.filter((word) => !new RegExp(`\\b${word}\\b`).test(all))).toEqual([]);
});

/** Commands whose standard output is no document, which the page says. */
const NO_DOCUMENT = ["context get", "contract view", "hooks print", "mcp", "run", "template show"];

test("every command that prints a document has a section and was played", () => {
  const due = commands.filter((name) => !NO_DOCUMENT.includes(name));
  expect(due.filter((name) => !page.names.includes(name))).toEqual([]);
  const done = new Set(played.filter(({ document }) => !isError(document)).map(({ name }) => name));
  expect(due.filter((name) => !done.has(name))).toEqual([]);
  const [, itself = ""] = text.split("### What prints the thing itself");
  expect(NO_DOCUMENT.filter((name) => !(itself.split(/^##/m, 1)[0] ?? "").includes(`\`${name}\``))).toEqual([]);
});

test("ok agrees with the status, and an error has all of its members", () => {
  const odd = played.filter(({ exit, document }) => (exit === 0) !== (document.ok === true));
  expect(odd.map(({ line, exit }) => [line, exit])).toEqual([["record", 0]]);
  expect(text.replaceAll(/\s+/g, " ")).toContain("`writ record` alone ends in 0");
  const errors = played.filter(({ document }) => isError(document));
  expect(errors.length).toBeGreaterThan(20);
  const lacking = errors.filter(({ document }) => ERROR.some((key) => !(key in document)));
  expect(lacking.map(({ line }) => line)).toEqual([]);
});

test("the page lists the commands and tools that answer with a verdict, and no other does", () => {
  const [, list = ""] = /^Verdicts come from (.*?)\. Every/ms.exec(text) ?? [];
  const listed = [...list.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
  const verdicts = new Set(
    played
      .filter(({ document }) => document.ok === false && !isError(document))
      .map(({ name, line }) => (/^[a-z]+_[a-z]+ \{/.test(line) ? (line.split(" ")[0] ?? "") : name)),
  );
  expect([...verdicts].filter((name) => !listed.includes(name))).toEqual([]);
  expect(
    listed.filter((name) => ![...commands, "agent_delegate"].includes(name) && !/^delegation_/.test(name)),
  ).toEqual([]);
});
