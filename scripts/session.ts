/**
 * Runs the console sessions of a page: every line behind `$ ` is typed into one shell, with writ on its PATH, in a
 * folder of its own. What differs from call to call (ids, digests, times) is made the same before it is compared.
 *
 * Run: bun scripts/session.ts PAGE...           says where a page differs from what really comes
 *      bun scripts/session.ts --write PAGE...   writes what really comes into the page
 */
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const BLOCK = /^```console\n([\s\S]*?)^```$/gm;
const MARK = "@@@ writ session @@@";

/** A command with the lines under it. A command of several lines continues with `> `. */
type Step = { readonly command: string; readonly typed: string; readonly output: string };

/** Where a page and the truth differ; empty when they do not. */
export async function checkPage(path: string, write = false): Promise<readonly string[]> {
  const page = readFileSync(path, "utf8");
  const problems: string[] = [];
  let written = page;
  for (const [whole, block = ""] of page.matchAll(BLOCK)) {
    const steps = parse(block);
    const outputs = await type(steps.map((step) => step.command));
    const real = steps.map((step, index) => `${step.typed}${outputs[index] ?? ""}`).join("");
    if (same(block) === same(real)) continue;
    written = written.replace(whole, () => `\`\`\`console\n${real}\`\`\``);
    steps.forEach((step, index) => {
      const output = outputs[index] ?? "";
      if (same(step.output) !== same(output)) {
        problems.push(`${path}: ${step.typed}the page says:\n${step.output}and this came:\n${output}`);
      }
    });
  }
  if (write && written !== page) writeFileSync(path, written);
  return problems;
}

function parse(block: string): readonly Step[] {
  const steps: Step[] = [];
  for (const part of block.split(/^(?=\$ )/m)) {
    const lines = part.split("\n");
    const typed = lines.filter((line, index) => index === 0 || line.startsWith("> "));
    const output = lines.slice(typed.length).join("\n");
    const command = typed.map((line) => line.slice(2)).join("\n");
    steps.push({ command, typed: `${typed.join("\n")}\n`, output });
  }
  return steps;
}

async function type(commands: readonly string[]): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), "writ-session-"));
  try {
    const bin = join(folder, "bin");
    const work = join(folder, "work");
    await Bun.$`mkdir -p ${bin} ${work}`.quiet();
    symlinkSync(resolve(process.env.WRIT_BIN ?? join(import.meta.dir, "..", "dist", "writ")), join(bin, "writ"));
    const script = commands.map((command) => `${command}\necho '${MARK}'`).join("\n");
    const child = Bun.spawn(["bash"], {
      cwd: work,
      env: {
        PATH: `${bin}:${process.env.PATH ?? ""}`,
        HOME: folder,
        WRIT_DATA_DIR: join(folder, "data"),
        LC_ALL: "C.UTF-8",
      },
      stdin: new Blob([`exec 2>&1\n${script}\n`]),
      stdout: "pipe",
      stderr: "inherit",
    });
    const [text] = await Promise.all([new Response(child.stdout).text(), child.exited]);
    return text.split(`${MARK}\n`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What differs from call to call, made the same. */
function same(text: string): string {
  return text
    .replace(/\ba[0-9a-f]{16}\.[0-9a-f]{12}\b/g, "CONTRACT")
    .replace(/\ba[0-9a-f]{16}\b/g, "AGENT")
    .replace(/\b[0-9a-f]{64}\b/g, "DIGEST")
    .replace(/\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z/g, "TIME")
    .replace(/\(pid \d+\)/g, "(pid PID)");
}

if (import.meta.main) {
  const write = process.argv.includes("--write");
  const pages = process.argv.slice(2).filter((word) => word !== "--write");
  for (const page of pages) {
    const problems = await checkPage(page, write);
    for (const problem of problems) console.log(problem);
    if (problems.length > 0 && !write) process.exitCode = 1;
  }
}
