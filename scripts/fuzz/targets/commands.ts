/**
 * Whole commands, through the executable, on the inputs of the other targets: whatever stands in a file, no command ends
 * as a defect, and what it prints is what it says it prints.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripControls } from "../../../src/core/terminal.ts";
import { type LivingWorld, livingWorld, type Ran, shown, type Turn } from "../../../test/support/writ.ts";
import { hold, type Part, type ReadingTarget, reading, type Target } from "../target.ts";
import { brief, legs, plan, tasks } from "./brief.ts";
import { envelope, write } from "./contract.ts";
import { contractFile } from "./delegation.ts";
import { mcpLine, script } from "./door.ts";
import { fixtureSet, gateFile } from "./gate.ts";
import { patch } from "./patch.ts";
import { hook } from "./record.ts";
import { config, harness } from "./settings.ts";
import { attestation, runRecord } from "./state.ts";

type Place = { readonly world: LivingWorld; readonly turn: Turn };
type Call = {
  /** Whose inputs it is given. */
  readonly of: ReadingTarget;
  /** The words behind `writ`; the parts of the input lie in `files`. */
  readonly words: (files: readonly string[]) => readonly string[];
  readonly stdin?: boolean;
  /** It prints one document: with `--json`, or always. */
  readonly json?: "asked" | "always";
  /** Where the first part lies, from the folder of the call; else in a file of its own. */
  readonly at?: string;
};

const CALLS: Readonly<Record<string, Call>> = {
  lint: { of: contractFile, words: ([file = ""]) => ["lint", file], json: "asked" },
  grade: { of: runRecord, words: ([file = ""]) => ["grade", "contract.json", "--result", file], json: "asked" },
  "gate check": { of: gateFile, words: ([file = ""]) => ["gate", "check", file], json: "asked" },
  "gate apply": { of: patch, words: ([, , file = ""]) => ["gate", "apply", file, "--to", "tree"], json: "asked" },
  "gate fixtures": {
    of: fixtureSet,
    words: ([, file = ""]) => ["gate", "fixtures", "--name-only", file, file],
    json: "asked",
  },
  "config check": { of: config, words: ([file = ""]) => ["config", "check", "--config", file], json: "asked" },
  "config show": { of: config, words: ([file = ""]) => ["config", "show", "--config", file], json: "asked" },
  "brief check": { of: brief, words: ([file = ""]) => ["brief", "check", file], json: "asked" },
  "brief show": { of: brief, words: ([file = ""]) => ["brief", "show", file], json: "asked" },
  resume: { of: brief, words: ([file = ""]) => ["resume", "--plan-only", file], json: "asked" },
  handoff: { of: legs, words: ([file = ""]) => ["handoff", "--hotfix", "--print", "--from", file] },
  "plan check": { of: plan, words: ([file = "", spec = ""]) => ["plan", "check", file, "--spec", spec], json: "asked" },
  "plan init": { of: tasks, words: ([file = ""]) => ["plan", "init", "--tasks", file], json: "asked" },
  attest: { of: attestation, words: ([file = ""]) => ["contract", "attest", "--verify", file], json: "asked" },
  "seat serve": { of: script, words: ([file = ""]) => ["seat", "serve", "--check", "--script", file], json: "asked" },
  hooks: { of: harness, words: () => ["hooks", "install", "claude-code", "--dry-run"], at: ".claude/settings.json" },
  record: { of: hook, words: () => ["record", "--harness", "claude-code"], stdin: true },
  fill: { of: envelope, words: ([file = ""]) => ["contract", "fill", "--json-file", file], json: "always" },
  set: {
    of: write,
    words: ([, , file = ""]) => ["contract", "set", "evidence_report", "--json-file", file],
    json: "asked",
  },
  mcp: { of: mcpLine, words: () => ["mcp"], stdin: true },
};

const READINGS = Object.entries(CALLS).map(([name, call]) => {
  const { parts, corpus, words = [], max_bytes } = call.of.reader;
  const bounded = max_bytes === undefined ? {} : { max_bytes };
  return reading({
    name: `writ ${name}`,
    parts,
    corpus,
    words,
    ...bounded,
    grown_bytes: 0,
    read: async (...given) => await called(name, call, given),
  });
});

/** The seed says which command, too. */
export const commands: Target = {
  name: "commands",
  hang_ms: 20_000,
  attempt: async (seed) => await ofSeed(seed).attempt(seed),
  show: (seed) => `  ${ofSeed(seed).name}\n${ofSeed(seed).show(seed)}`,
  growth: null,
};

function ofSeed(seed: number): ReadingTarget {
  const picked = READINGS[seed % READINGS.length];
  if (picked === undefined) throw new Error("there is a reading for each seed");
  return picked;
}

let opened: Promise<Place> | null = null;

async function open(): Promise<Place> {
  const world = livingWorld({ WRIT_NODE_TOKEN: undefined });
  mkdirSync(join(world.folder, ".claude"));
  writeFileSync(join(world.folder, "contract.json"), '{"goal":"count","acceptance":["contains:412","min_items:a:1"]}');
  return { world, turn: await world.turn() };
}

async function called(name: string, call: Call, parts: readonly Part[]): Promise<void> {
  opened ??= open();
  const { world, turn } = await opened;
  const files = parts.map((_, at) => (at === 0 && call.at !== undefined ? call.at : `part-${at}.json`));
  for (const [at, { bytes }] of parts.entries()) writeFileSync(join(world.folder, files[at] ?? ""), bytes);
  const tree = join(world.folder, "tree");
  rmSync(tree, { recursive: true, force: true });
  mkdirSync(join(tree, "src"), { recursive: true });
  if (name === "gate apply") writeFileSync(join(tree, "src", "a.txt"), parts[0]?.bytes ?? "");
  const [first] = parts;
  const stdin =
    call.stdin === true ? { stdin: Buffer.concat([first?.bytes ?? Buffer.from(""), Buffer.from("\n")]) } : {};
  for (const json of call.json === "asked" ? [false, true] : [false]) {
    const ran = await turn.writ([...call.words(files), ...(json ? ["--json"] : [])], stdin);
    hold("a command ends as its table says", ran.exit >= 0 && ran.exit <= 4, name, shown(ran));
    if (json || call.json === "always" || name === "mcp") documents(name, ran);
    else hold("what a person reads steers no terminal", isPlain(ran.stdout) && isPlain(ran.stderr), name, shown(ran));
  }
}

function isPlain(text: string): boolean {
  return stripControls(text) === text;
}

/** One document, or one a line where the command is a protocol. */
function documents(name: string, ran: Ran): void {
  const lines = ran.stdout.split("\n").slice(0, -1);
  hold("there is one document", name === "mcp" || lines.length === 1, name, shown(ran));
  for (const line of lines) {
    const value: unknown = JSON.parse(line);
    hold("a document is an object", typeof value === "object" && value !== null, name, line);
    if (name === "mcp") continue;
    const { ok } = value as { readonly ok?: unknown };
    hold("a document says whether it is ok, as the status does", ok === (ran.exit === 0), name, shown(ran));
  }
}
