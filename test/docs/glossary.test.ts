import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { listPages, REPOSITORY, readPage } from "../../scripts/pages/pages.ts";
import { declarationOf } from "../../src/cli/declaration.ts";
import type { Nodes } from "../../src/cli/node.ts";
import { TREE } from "../../src/cli/tree.ts";

const rows = [...readPage("docs/glossary.md").matchAll(/^\| ([^|]+) \| (.+) \|$/gm)]
  .map(([, words = "", meaning = ""]) => ({ words: words.split(", "), meaning }))
  .filter(({ words }) => words[0] !== "word" && words[0] !== "---");
const known = new Set(rows.flatMap(({ words }) => words));

/** What a command of the tree is about, where its word is a plural or names no thing. */
const NOUNS: Readonly<Record<string, string>> = {
  approvals: "approval",
  context: "project context",
  docs: "page",
  fixtures: "fixture",
  hooks: "hook",
  key: "key id",
  proposals: "proposal",
  runs: "leg", // of a past delegation; a run is a command as it happened
};

/** Words of the help that somebody who is new to writ cannot know. */
const TERMS = `chain, claim, consent, contract, criterion, delegation contract, diff, draft, evidence, envelope,
fingerprint, fixture, flow, fresh copy, gate, harness, handoff brief, hook, job, leg, mailbox, node, orchestrator,
phase, place, proof, project context, proposal, quarantine, read root, record, sandbox, seat, section, skill, store,
task, template, token, turn, verifier, workspace, worktree`
  .split(",")
  .map((term) => term.trim());

function namesOf(nodes: Nodes): readonly string[] {
  return Object.entries(nodes).flatMap(([name, { commands }]) =>
    commands === undefined ? [] : [name, ...namesOf(commands)],
  );
}

async function helpOf(nodes: Nodes): Promise<string> {
  const texts = Object.values(nodes).map(async ({ summary, load, commands = {} }) => {
    const command = (await load?.())?.command;
    const described = command === undefined ? [] : Object.values(declarationOf(command)).flat();
    const inside = await helpOf(commands);
    return [
      summary,
      ...described.map(({ description }) => description),
      ...(command?.notes ?? []),
      ...Object.values(command?.exits ?? {}),
      inside,
    ].join("\n");
  });
  return (await Promise.all(texts)).join("\n");
}

test("docs/glossary.md has what each group of commands is about", () => {
  const nouns = namesOf(TREE).map((name) => NOUNS[name] ?? name);
  expect(nouns.filter((noun) => !known.has(noun))).toEqual([]);
});

test("it has the words of the help that nobody knows who is new to writ", async () => {
  const help = (await helpOf(TREE)).toLowerCase();
  expect(TERMS.filter((term) => !known.has(term))).toEqual([]);
  // A word that the help has given up is none that it has to explain.
  expect(TERMS.filter((term) => !new RegExp(`\\b${term}`).test(help))).toEqual([]);
});

/** A text without what tells `slot line`, `slot-line` and `slotLine` apart. */
const bare = (text: string) => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");

test("it has no word that stands nowhere else: not in the help, on no page, not in the code", async () => {
  const pages = listPages().filter((page) => page !== "docs/glossary.md");
  const code = [...new Bun.Glob("src/**/*.ts").scanSync(REPOSITORY)].map((file) => join(REPOSITORY, file));
  const texts = [await helpOf(TREE), ...pages.map(readPage), ...code.map((file) => readFileSync(file, "utf8"))];
  const all = bare(texts.join("\n"));
  expect(known.size).toBeGreaterThan(0);
  expect([...known].filter((word) => !all.includes(bare(word)))).toEqual([]);
});
