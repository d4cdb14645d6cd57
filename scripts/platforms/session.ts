/**
 * One session that every artefact plays: a turn under capture with a claim that the record refutes, a terminal, a
 * delegation to a seat through a node, the tools over MCP, and what the environment may not change. Each step has the
 * status it must end in and what it must print.
 */
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serve } from "../serve.ts";

const ROOT = join(import.meta.dir, "..", "..");
/** An emulated node with a delegation takes a few seconds; this is for one that hangs. */
const LIMIT_MS = 120_000;

/** What is played with. */
export type Player = {
  /** The words that start the artefact. */
  readonly words: readonly string[];
  /** It is not the processor's own: what it starts by its own name does not start. */
  readonly isEmulated: boolean;
};

export type Played = {
  readonly steps: number;
  /** Null: every step went as it must. */
  readonly fault: string | null;
  /** What `--version` printed; "" where it printed nothing. */
  readonly version: string;
};

type Step = {
  readonly words: readonly string[];
  readonly exit: number;
  /** What standard output and, behind it, standard error must match. */
  readonly prints?: RegExp;
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** A script of sh, in which "$@" is the call. */
  readonly within?: string;
};

class Surprise extends Error {}

/** Errors: none: what goes wrong is the fault. */
export async function playSession(player: Player): Promise<Played> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "writ-platform-")));
  let steps = 0;
  let version = "";
  const env = environment(folder);

  async function type(step: Step): Promise<string> {
    steps += 1;
    const { status, out, text } = await call(step.words, step);
    if (status !== step.exit || step.prints?.test(text) === false) {
      const wanted = `wanted status ${step.exit}${step.prints === undefined ? "" : ` and ${step.prints}`}`;
      throw new Surprise(
        `writ ${step.words.join(" ")}: status ${status}, ${wanted}; it printed: ${text.slice(0, 2000)}`,
      );
    }
    return out;
  }

  async function call(words: readonly string[], step: Pick<Step, "within" | "stdin" | "env"> = {}) {
    const argv = [...player.words, ...words];
    const child = Bun.spawn(step.within === undefined ? argv : ["sh", "-c", step.within, "sh", ...argv], {
      cwd: folder,
      env: { ...env, ...step.env },
      stdin: new TextEncoder().encode(step.stdin ?? ""),
      stdout: "pipe",
      stderr: "pipe",
      timeout: LIMIT_MS,
      killSignal: "SIGKILL",
    });
    const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    return { status: await child.exited, out, text: `${out}${err}` };
  }

  /** A command of the turn has a terminal where writ has one. */
  async function typeInTerminal(words: readonly string[], prints: RegExp): Promise<void> {
    steps += 1;
    let text = "";
    const decoder = new TextDecoder();
    const child = Bun.spawn([...player.words, ...words], {
      cwd: folder,
      env: { ...env, TERM: "dumb" },
      timeout: LIMIT_MS,
      killSignal: "SIGKILL",
      terminal: {
        cols: 80,
        rows: 24,
        data: (_, bytes) => {
          text += decoder.decode(bytes, { stream: true });
        },
      },
    });
    const exit = await child.exited;
    child.terminal?.close();
    if (exit !== 0 || !prints.test(text)) {
      throw new Surprise(`writ ${words.join(" ")}: in a terminal: status ${exit}, wanted ${prints}: ${text}`);
    }
  }

  async function playTurn(): Promise<void> {
    const born = await type({ words: ["dispatch", "--agent", "t", "--goal", "See what runs here"], exit: 0 });
    const turn = { WRIT_CONTRACT_ID: /^WRIT_CONTRACT_ID=(.+)$/m.exec(born)?.[1] ?? "" };
    const run = ["run", "--", "sh"];
    await type({ words: [...run, "-c", "echo out; echo err >&2; exit 3"], exit: 3, prints: /^out\nerr\n/, env: turn });
    await type({ words: [...run, "check.sh"], exit: 0, prints: /^1 passed, 0 failed\n/, env: turn });
    const claim = (command: string) => ({ verification: { type: "command", command, result: "pass" } });
    const closing = { conclusion: "It holds.", agent_status: { agent_state: "COMPLETE", next_action: "done" } };
    const fill = async (patch: object) =>
      await type({ words: ["contract", "fill", "--json", JSON.stringify(patch)], exit: 0, env: turn });
    await fill({ ...closing, evidence_report: claim("sh never-ran.sh") });
    await type({ words: ["contract", "finalize"], exit: 1, prints: /never-ran/, env: turn });
    await fill({ evidence_report: claim("sh check.sh") });
    await type({ words: ["contract", "finalize"], exit: 0, prints: /^OK: /, env: turn });
    await type({ words: ["record", "verify"], exit: 0, prints: /^OK: .* is whole \(2 entries/, env: turn });
  }

  /** A node that has just begun does not know its seat yet; where everything is slow, that takes a while. */
  async function awaitSeat(url: string): Promise<void> {
    const began = performance.now();
    for (;;) {
      const { status, text } = await call(["node", "status", url]);
      if (status === 0 && /^env .* served +\d/m.test(text)) break;
      if (performance.now() - began > LIMIT_MS) throw new Surprise(`The node does not know its seat: ${text}`);
    }
    steps += 1;
  }

  async function delegate(): Promise<void> {
    const script = join(ROOT, "fixtures", "write-door", "right.json");
    const [first, ...more] = player.words;
    const words = [first ?? "", ...more];
    const seat = await serve([...words, "seat", "serve", "--script", script], folder, env, LIMIT_MS);
    try {
      const own = { WRIT_DATA_DIR: join(folder, "node"), WRIT_SEAT_URL: seat.url, WRIT_AGENT_ALLOW_WRITE: "true" };
      const node = await serve(
        [...words, "node", "serve", "--listen", "127.0.0.1:0"],
        folder,
        { ...env, ...own },
        LIMIT_MS,
      );
      try {
        await awaitSeat(node.url);
        const sent = ["--contract", "clamp/contract.json", "--read-root", "clamp", "--remote", node.url, "--json"];
        await type({ words: ["delegate", ...sent], exit: 0, prints: /"summary":\{"succeeded":1,/ });
        if (!player.isEmulated) {
          await type({ words: ["gate", "write-door", "--remote", node.url], exit: 0, prints: /PASS/ });
        }
      } finally {
        await node.close();
      }
    } finally {
      await seat.close();
    }
  }

  try {
    mkdirSync(join(folder, "home"));
    writeFileSync(join(folder, "check.sh"), "echo '1 passed, 0 failed'\n");
    cpSync(join(ROOT, "contracts", "write-door", "t1"), join(folder, "clamp"), { recursive: true });
    version = (await type({ words: ["--version"], exit: 0, prints: /^writ [\w.-]+ \(Bun / })).trim();
    await playTurn();
    await type({ words: ["gate", "fixtures"], exit: 0, prints: /^PASS fixtures \(embedded\)/m });
    await type({ words: ["lint", "clamp/contract.json", "--read-root", "clamp"], exit: 0 });
    await type({ words: ["mcp"], exit: 0, prints: /"serverInfo":/, stdin: `${JSON.stringify(INITIALIZE)}\n` });
    await type({ words: ["contract", "list"], exit: 0, prints: /COMPLETE/, env: { BUN_OPTIONS: "--version" } });
    const gone = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"';
    await type({ words: ["contract", "list"], exit: 0, prints: /COMPLETE/, within: gone });
    await typeInTerminal(["run", "--", "sh", "-c", "test -t 1 && echo a terminal"], /a terminal/);
    await delegate();
    return { steps, fault: null, version };
  } catch (error) {
    return { steps, fault: error instanceof Error ? error.message : String(error), version };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "platforms", version: "1" } },
};

/** The caller's, without what would lead writ or Bun elsewhere. */
function environment(folder: string): Record<string, string> {
  const inherited = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !/^(WRIT_|BUN_|NODE_OPTIONS$)/.test(entry[0]),
  );
  return { ...Object.fromEntries(inherited), HOME: join(folder, "home"), WRIT_DATA_DIR: join(folder, "data") };
}
