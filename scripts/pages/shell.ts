/**
 * Types the blocks of a page into one shell, with writ on its PATH, in a folder of its own, and says what came.
 *
 * The shell is one process group: what a page starts and does not end is found, killed, and told as a problem.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Block, parseSteps } from "./page.ts";

const REPOSITORY = join(import.meta.dir, "..", "..");
/** What the folder of the session is called in a page: HOME. `work` in it is where the shell begins, `writ` this repository. */
const HOME_IN_PAGES = "/home/you";
const MARK = "@@@ writ page @@@";
/** Ports that pages write: each stands for one that is free while the session lasts. */
const PORT_IN_PAGES = /\b(127\.0\.0\.1|localhost):(\d{4,5})\b/g;
/** A session that takes longer hangs. */
const LIMIT_MS = 90_000;
/** Below what systems give to outgoing connections, so that a port that is free stays so. */
const PORTS = { from: 20_000, to: 32_000 };

/** What one block printed: a text a step of a console block, one text of a script. */
export type Typed = {
  readonly outputs: readonly string[];
  /** Of a script; null when the shell did not come to its end. Of a console block the status is nobody's matter. */
  readonly status: number | null;
};

export type Session = {
  /** One a block; a block that was not reached has no outputs and the status null. */
  readonly blocks: readonly Typed[];
  /** What is wrong with the session as a whole. */
  readonly problems: readonly string[];
};

export async function typeBlocks(blocks: readonly Block[], writ: string): Promise<Session> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "writ-page-")));
  try {
    const names = await namesFor(folder, blocks);
    const bin = join(folder, "bin");
    const work = join(folder, "work");
    for (const path of [bin, work]) mkdirSync(path);
    symlinkSync(writ, join(bin, "writ"));
    symlinkSync(REPOSITORY, join(folder, "writ"));
    const script = join(folder, "session.sh");
    writeFileSync(script, names.toReal(blocks.map(scriptOf).join("")));
    const { text, problems } = await runShell(script, work, {
      PATH: `${bin}:${process.env.PATH ?? ""}`,
      HOME: folder,
      TMPDIR: join(folder, "tmp"),
      WRIT_DATA_DIR: join(folder, ".writ"),
      LC_ALL: "C.UTF-8",
      ...GIT,
    });
    return { blocks: taken(blocks, names.toPage(text)), problems };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A commit that is made in a page has the same name each time. */
const GIT = {
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_SYSTEM: "/dev/null",
  GIT_AUTHOR_NAME: "you",
  GIT_AUTHOR_EMAIL: "you@example.com",
  GIT_AUTHOR_DATE: "2026-01-01T00:00:00Z",
  GIT_COMMITTER_NAME: "you",
  GIT_COMMITTER_EMAIL: "you@example.com",
  GIT_COMMITTER_DATE: "2026-01-01T00:00:00Z",
};

/** The text of a block for the shell, with a mark and the status behind each command; `$?` is left as it was. */
function scriptOf(block: Block): string {
  const marked = (text: string) =>
    `${text}page_status=$?\nprintf '\\n%s %d\\n' '${MARK}' $page_status\n(exit $page_status)\n`;
  if (block.kind !== "console") return marked(`set -eo pipefail\n${block.text}set +eo pipefail\n`);
  return parseSteps(block.text)
    .map(({ command }) => marked(`${command}\n`))
    .join("");
}

function taken(blocks: readonly Block[], text: string): readonly Typed[] {
  const parts = text.split(new RegExp(`\\n${MARK} (\\d+)\\n`));
  const outputs = parts.filter((_, index) => index % 2 === 0);
  const statuses = parts.filter((_, index) => index % 2 === 1).map(Number);
  let next = 0;
  return blocks.map((block) => {
    const count = block.kind === "console" ? parseSteps(block.text).length : 1;
    const mine = outputs
      .slice(next, next + count)
      .map((output) => (output === "" ? "" : `${output.replace(/\n$/, "")}\n`));
    const status = statuses[next + count - 1] ?? null;
    next += count;
    return { outputs: mine, status };
  });
}

async function runShell(
  script: string,
  cwd: string,
  env: Record<string, string>,
): Promise<{ readonly text: string; readonly problems: readonly string[] }> {
  mkdirSync(env.TMPDIR ?? cwd, { recursive: true });
  const child = Bun.spawn(["bash", "-c", 'exec 2>&1; . "$0"', script], {
    cwd,
    env,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
    detached: true,
  });
  const problems: string[] = [];
  const text = new Response(child.stdout).text();
  const limit = setTimeout(() => {
    problems.push(`the session was not over after ${LIMIT_MS / 1000} s`);
    killGroup(child.pid);
  }, LIMIT_MS);
  await child.exited;
  clearTimeout(limit);
  if (killGroup(child.pid)) problems.push("the session leaves a process that it started running");
  return { text: await text, problems };
}

/** True when there was something to kill. */
function killGroup(leader: number): boolean {
  try {
    process.kill(-leader, "SIGKILL");
    return true;
  } catch (error) {
    // Nobody is left in the group: that is how a session ends.
    if (error instanceof Error && "code" in error && error.code === "ESRCH") return false;
    throw error;
  }
}

/** Puts the real folder and ports in the place of those of the page, and back. Each stands for exactly one. */
async function namesFor(folder: string, blocks: readonly Block[]) {
  const ports = new Map<string, string>();
  for (const { text } of blocks) {
    for (const [, , port = ""] of text.matchAll(PORT_IN_PAGES)) {
      if (!ports.has(port)) ports.set(port, `${await freePort(new Set(ports.values()))}`);
    }
  }
  const back = new Map([...ports].map(([page, real]) => [real, page]));
  const withPorts = (text: string, names: ReadonlyMap<string, string>) =>
    text.replace(PORT_IN_PAGES, (_whole, host: string, port: string) => `${host}:${names.get(port) ?? port}`);
  return {
    toReal: (text: string) => withPorts(text.replaceAll(HOME_IN_PAGES, folder), ports),
    toPage: (text: string) => withPorts(text.replaceAll(folder, HOME_IN_PAGES), back),
  };
}

async function freePort(taken: ReadonlySet<string>): Promise<number> {
  for (;;) {
    const port = PORTS.from + Math.floor(Math.random() * (PORTS.to - PORTS.from));
    if (!taken.has(`${port}`) && (await isFree(port))) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
