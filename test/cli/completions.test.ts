import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineCommand } from "../../src/cli/command.ts";
import { placesOf, renderBash, renderFish, renderZsh } from "../../src/cli/complete.ts";
import type { Node, Nodes } from "../../src/cli/node.ts";
import { runInFreshWorld, runWrit } from "../support/writ.ts";

function leaf(name: string, args: Parameters<typeof defineCommand>[0]["args"] = {}, rest = false): Node {
  const command = defineCommand({
    meta: { name, description: `Do it: ${name}'s way` },
    args,
    examples: ["writ a", "writ b"],
    exits: {},
    ...(rest ? { rest: { name: "CMD", description: "The command" } } : {}),
    run: () => 0,
  });
  return { summary: command.meta.description, load: async () => ({ command }) };
}

const tree: Nodes = {
  run: leaf("run", { cwd: { type: "string", valueHint: "DIR" } }, true),
  record: { ...leaf("record"), commands: { verify: leaf("record verify") } },
  contract: {
    summary: "Edit it",
    commands: {
      set: leaf("contract set", {
        field: { type: "positional", offers: ["a.b", "c"] },
        value: { type: "positional", required: false, offersAfter: { "a.b": ["on", "out"] } },
        at: { type: "string", valueHint: "PATH", offers: ["c", "d"] },
        state: { type: "enum", options: ["open", "closed"] },
      }),
      fill: leaf("contract fill", { "json-file": { type: "string", valueHint: "PATH|-" } }),
      finalize: leaf("contract finalize", { progress: { type: "boolean", default: true } }),
    },
  },
  completions: leaf("completions", { shell: { type: "positional", valueHint: "bash|zsh|fish" } }),
};

const places = await placesOf(tree, { law: { summary: "What holds", load: async () => ({ render: () => "" }) } });

/** What bash offers for a line; its last word is the one under the cursor. */
async function offered(...line: readonly string[]): Promise<readonly string[]> {
  const script = `${renderBash(places)}
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _writ; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const ran = await runInFreshWorld(["bash", "-c", script, "bash", ...line]);
  expect({ exit: ran.exit, stderr: ran.stderr }).toEqual({ exit: 0, stderr: "" });
  return ran.stdout.split("\n").filter(Boolean).sort();
}

describe("the bash script", () => {
  test.each([
    { line: ["writ", ""], offers: ["completions", "contract", "help", "record", "run"] },
    { line: ["writ", "help", ""], offers: ["completions", "contract", "law", "record", "run"] },
    { line: ["writ", "contract", "set", "a"], offers: ["a.b"] },
    { line: ["writ", "contract", "set", "x", ""], offers: [] },
    { line: ["writ", "contract", "set", "a.b", ""], offers: ["on", "out"] },
    { line: ["writ", "contract", "set", "a.b", "on", ""], offers: [] },
    { line: ["writ", "contract", "set", "--json", ""], offers: ["a.b", "c"] },
    { line: ["writ", "contract", "set", "a.b", "ou"], offers: ["out"] },
    { line: ["writ", "contract", "set", "a.b", "--js"], offers: ["--json"] },
    { line: ["writ", "contract", "set", "--at", ""], offers: ["c", "d"] },
    { line: ["writ", "co"], offers: ["completions", "contract"] },
    { line: ["writ", "contract", "f"], offers: ["fill", "finalize"] },
    { line: ["writ", "contract", ""], offers: ["fill", "finalize", "set"] },
    { line: ["writ", "contract", "x"], offers: [] },
    { line: ["writ", "record", ""], offers: ["verify"] },
    { line: ["writ", "contract", "set", "--s"], offers: ["--state"] },
    { line: ["writ", "contract", "set", "--state", ""], offers: ["closed", "open"] },
    { line: ["writ", "contract", "set", "--state", "o"], offers: ["open"] },
    { line: ["writ", "contract", "set", "--state", "=", "o"], offers: ["open"] },
    { line: ["writ", "contract", "set", "--state", "="], offers: ["closed", "open"] },
    { line: ["writ", "contract", "set", "contract", "--st"], offers: ["--state"] },
    { line: ["writ", "contract", "fill", "--json-file", ""], offers: [] },
    {
      line: ["writ", "contract", "finalize", "--"],
      offers: ["--debug", "--help", "--json", "--no-progress", "--progress"],
    },
    { line: ["writ", "completions", ""], offers: ["bash", "fish", "zsh"] },
    { line: ["writ", "run", "--cwd", "/us"], offers: ["/usr"] },
    { line: ["writ", "run", "--", "ls", "--js"], offers: [] },
    { line: ["writ", "--ver"], offers: ["--version"] },
  ])("offers $offers for $line", async ({ line, offers }) => {
    expect(await offered(...line)).toEqual(offers);
  });

  test("offers the programs of the machine behind run --", async () => {
    expect(await offered("writ", "run", "--", "bas")).toContain("bash");
  });
});

/** What the script of writ itself offers in each shell; the last word is the one under the cursor. */
const SHELLS = {
  bash: `eval "$1"; shift
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _writ; printf '%s\\n' "\${COMPREPLY[@]}"`,
  zsh: `compdef() { }; _files() { }; _command_names() { }
    compadd() { shift; printf '%s\\n' "$@" | grep "^$current" }
    _describe() { printf '%s\\n' "\${(@P)2}" | sed 's/:.*//' | grep "^$current" }
    eval "$1"; shift
    words=("$@"); CURRENT=$#; _writ`,
  fish: `echo $argv[1] | source
    complete -C (string join ' ' -- $argv[2..-1]) | string replace -r '\\t.*' ''`,
} as const;

describe.each(Object.entries(SHELLS))("the script for %s", (shell, script) => {
  const isThere = Bun.which(shell) !== null;
  test.skipIf(!isThere).each([
    { line: ["writ", "contract", "set", "agent_status.p"], offers: ["agent_status.pending_steps"] },
    {
      line: ["writ", "contract", "set", "agent_status.agent_state", "NEEDS"],
      offers: ["NEEDS_INPUT", "NEEDS_VERIFICATION"],
    },
    { line: ["writ", "contract", "add", "evidence_report.o"], offers: ["evidence_report.open_gaps"] },
    { line: ["writ", "contract", "view", "--field", "evidence_report.open"], offers: ["evidence_report.open_gaps"] },
    {
      line: ["writ", "contract", "set", "evidence_report.verification.res"],
      offers: ["evidence_report.verification.result"],
    },
    { line: ["writ", "contract", "list", "--state", "DISP"], offers: ["DISPATCHED"] },
    { line: ["writ", "help", "env"], offers: ["envelope"] },
    { line: ["writ", "contract", "fina"], offers: ["finalize"] },
  ])(`offers $offers for $line (skipped where there is no ${shell})`, async ({ line, offers }) => {
    const { stdout: made } = await runWrit(["completions", shell]);
    const options = shell === "fish" ? [] : [shell];
    const ran = await runInFreshWorld([shell, "-c", script, ...options, made, ...line]);
    expect(ran.stderr).toBe("");
    expect(ran.stdout.split("\n").filter(Boolean).sort()).toEqual([...offers]);
  });
});

describe("writ completions", () => {
  test.each([
    { shell: "bash", check: ["bash", "-n"] },
    { shell: "zsh", check: ["zsh", "-n"] },
    { shell: "fish", check: ["fish", "--no-execute"] },
  ])("$shell prints a script that $shell accepts (skipped where there is no $shell)", async ({ shell, check }) => {
    const ran = await runWrit(["completions", shell]);
    expect({ exit: ran.exit, stderr: ran.stderr }).toEqual({ exit: 0, stderr: "" });
    expect(ran.stdout).toContain("completions");
    if (Bun.which(shell) === null) return console.error(`skipped: there is no ${shell} to check the script with`);
    const render = { bash: renderBash, zsh: renderZsh, fish: renderFish }[shell];
    const folder = mkdtempSync(join(tmpdir(), "writ-completion-"));
    try {
      for (const script of [ran.stdout, render?.(places) ?? ""]) {
        const path = join(folder, `writ.${shell}`);
        writeFileSync(path, script);
        expect(await runInFreshWorld([...check, path])).toEqual({ exit: 0, stdout: "", stderr: "" });
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test("has the script in a document with --json", async () => {
    const script = (await runWrit(["completions", "fish"])).stdout;
    expect(JSON.parse((await runWrit(["completions", "fish", "--json"])).stdout)).toEqual({
      ok: true,
      shell: "fish",
      script,
    });
  });

  test("refuses another shell", async () => {
    const ran = await runWrit(["completions", "tcsh"]);
    expect(ran.exit).toBe(2);
    expect(ran.stderr).toStartWith('Error: There is no completion script for "tcsh"\nbash, zsh or fish\n');
  });
});

describe("every script", () => {
  test.each([
    { shell: "bash", render: renderBash },
    { shell: "zsh", render: renderZsh },
    { shell: "fish", render: renderFish },
  ])("for $shell names every command and every option", ({ render }) => {
    const script = render(places);
    for (const place of places) {
      for (const command of place.commands) expect(script).toContain(command.name);
      for (const option of place.options) expect(script).toContain(option.name.replace(/^--?/, ""));
    }
  });
});
