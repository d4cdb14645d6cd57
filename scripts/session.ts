/**
 * Types what the pages show: the blocks of a page go into one shell, from top to bottom. A ```console block prints what
 * stands under its commands; a ```sh block ends in 0. What differs from call to call (ids, digests, times) is numbered
 * in the order in which it comes before it is compared, so that one id in the place of another is a difference.
 *
 * Run: bun scripts/session.ts PAGE...           says where a page differs from what really comes
 *      bun scripts/session.ts --write PAGE...   writes what really comes into the page
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Block, parseBlocks, parseSteps } from "./pages/page.ts";
import { type Typed, typeBlocks } from "./pages/shell.ts";
import { startsScripts } from "./pages/shell-commands.ts";

/** Where a page and the truth differ; empty when they do not. */
export async function checkPage(path: string, write = false): Promise<readonly string[]> {
  const page = readFileSync(path, "utf8");
  const writ = resolve(process.env.WRIT_BIN ?? join(import.meta.dir, "..", "dist", "writ"));
  const sessions = sessionsOf(parseBlocks(page));
  const checked = await Promise.all(
    sessions.map(async (blocks) => {
      const { blocks: typed, problems } = await typeBlocks(blocks, writ);
      return { ...compare(blocks, typed), problems };
    }),
  );
  const edits = checked.flatMap((each) => each.edits).toSorted((left, right) => right.block.start - left.block.start);
  const written = edits.reduce(
    (text, { block, real }) => text.slice(0, block.start) + real + text.slice(block.end),
    page,
  );
  if (write && written !== page) writeFileSync(path, written);
  return checked.flatMap((each) => [...each.differences, ...each.problems]).map((problem) => `${path}: ${problem}`);
}

/** The blocks that are run, by the shell into which they are typed. */
function sessionsOf(blocks: readonly Block[]): readonly (readonly Block[])[] {
  const sessions: Block[][] = [];
  for (const block of blocks) {
    if (block.kind === "text" || block.notRun !== null || startsScripts(block.text)) continue;
    const open = sessions.at(-1);
    if (open === undefined || block.beginsSession) sessions.push([block]);
    else open.push(block);
  }
  return sessions;
}

type Edit = { readonly block: Block; readonly real: string };

function compare(blocks: readonly Block[], typed: readonly Typed[]): { differences: string[]; edits: Edit[] } {
  const page = numbering();
  const truth = numbering();
  const differences: string[] = [];
  const edits: Edit[] = [];
  blocks.forEach((block, index) => {
    const { outputs, status } = typed[index] ?? { outputs: [], status: null };
    if (block.kind === "script") {
      if (status === 0) return;
      const how = status === null ? "the shell ended in it, or before it" : `status ${status}`;
      differences.push(`line ${block.line}: ${how}\n${outputs.join("")}`);
      return;
    }
    let real = "";
    parseSteps(block.text).forEach((step, place) => {
      const output = outputs[place];
      real += `${step.typed}${output ?? step.output}`;
      if (output !== undefined && page(step.output) === truth(output)) return;
      const came = output === undefined ? "the shell did not come to it" : `this came:\n${output}`;
      differences.push(`line ${block.line}: ${step.typed}the page says:\n${step.output}and ${came}`);
    });
    edits.push({ block, real });
  });
  return { differences, edits: differences.length === 0 ? [] : edits };
}

/** What differs from call to call, by what it is called in a comparison. */
const VARYING: readonly (readonly [name: string, pattern: RegExp])[] = [
  ["CONTRACT", /\ba[0-9a-f]{16}\.[0-9a-f]{12}\b/g],
  ["AGENT", /\ba[0-9a-f]{16}\b/g],
  ["DIGEST", /\b[0-9a-f]{64}\b/g],
  ["RUN", /\brun-[0-9a-f]{24}\b/g],
  ["APPROVAL", /\bP-[0-9a-f]{32}\b/g],
  ["JOB", /\bwrt-[0-9a-f]{24}\b/g],
  ["TIME", /\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z/g],
  ["PID", /(?<=\(pid )\d+(?=\))/g],
  // How long a delegation took (writ runs list), its legs, and a leg of a gate.
  ["WALL", /\b\d+s +(?=ended\b)/g],
  ["WALL", /(?<=\bwall=)\d+s\b/g],
  ["WALL", /(?<=^(?:PASS|FAIL|INCONCLUSIVE) \S+ )\d+\.\ds\b/gm],
];

/** Of these two may be alike in one session and differ in the next. */
const COUNTLESS: ReadonlySet<string> = new Set(["TIME", "PID", "WALL"]);

/** Puts a name and a number in the place of what varies: the same number for the same text, over a whole session. */
function numbering(): (text: string) => string {
  const known = new Map<string, string>();
  const counts = new Map<string, number>();
  return (text) =>
    VARYING.reduce(
      (left, [name, pattern]) =>
        left.replace(pattern, (found) => {
          if (COUNTLESS.has(name)) return name;
          const already = known.get(found);
          if (already !== undefined) return already;
          const count = (counts.get(name) ?? 0) + 1;
          counts.set(name, count);
          known.set(found, `${name}-${count}`);
          return `${name}-${count}`;
        }),
      text,
    );
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
