/** Delegators and nodes as real processes, joined over loopback, each with a world of its own. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/core/json/value.ts";
import { openIntents } from "../../src/core/node/intents.ts";
import { readIntents } from "../../src/host/intents.ts";
import type { ScriptObject } from "./scripted-seat.ts";
import { type LivingWorld, livingWorld, type Ran, writCommand } from "./writ.ts";

export const TOKEN = "correct-horse-battery-staple";
const SCHEMA = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };

/** A contract whose answer must hold its own tag: the scripted seats say their goal again. */
export function tagged(tag: string, more: JsonObject = {}): JsonObject {
  return { goal: `Say ${tag}.`, output_schema: SCHEMA, acceptance: [`contains:${tag}.`], ...more };
}

/** A seat that answers everything, after so long; `turns` come first. */
export function willing(delay_ms = 0, turns: readonly object[] = [], slots = 8): ScriptObject {
  return {
    slots,
    turns: [
      ...turns,
      { id: "form", when: { constraint: "any" }, reply: { json: { a: "x" } } },
      { id: "say", reply: { content: [{ echo: "goal" }], chunk: { by: "all" }, delay_ms } },
    ],
  };
}

/** The first so many requests of a server are never answered. */
export const STUCK = (times = 1) => ({
  id: "stuck",
  times,
  count: "server",
  reply: { content: "never", cut: { how: "hang", at: "tokens", n: 0 } },
});

export type Leg = {
  readonly index: number;
  readonly status: string;
  readonly node: string;
  readonly job_id?: string;
  readonly output?: string;
  readonly reason?: string;
  readonly defer_class?: string;
  readonly attempts: readonly {
    readonly kind: string;
    readonly node: string;
    readonly job_id: string;
    readonly status: string;
    readonly code?: string;
  }[];
};
export type Printed = {
  readonly ok: boolean;
  readonly run_id: string;
  readonly summary: Readonly<Record<string, number>>;
  readonly results: readonly Leg[];
};

export type Call = {
  readonly pid: number;
  /** What it has said on standard error so far. */
  readonly talk: string;
  /** Waits until its talk matches. */
  says(pattern: RegExp): Promise<void>;
  kill(signal: "SIGKILL" | "SIGINT" | "SIGTERM"): void;
  readonly ended: Promise<Ran>;
  /** The document of one that ended by itself. */
  readonly document: Promise<Printed>;
};

export type Delegator = {
  readonly world: LivingWorld;
  readonly state: string;
  /** Starts `writ delegate` with these contracts in one file. */
  call(contracts: readonly JsonObject[], ...args: string[]): Call;
  /** The same, under a label that stands in its records and at the nodes. */
  labelled(label: string, contracts: readonly JsonObject[], ...args: string[]): Call;
  /** Jobs that the ledger does not close. */
  open(): readonly string[];
  /** The results that were collected, by job. */
  recovered(): Readonly<Record<string, { readonly output: string }>>;
  recover(env?: Readonly<Record<string, string>>): Promise<Ran>;
  [Symbol.dispose](): void;
};

/** Limits under which faults show soon. */
export const QUICK = { orphan_grace_sec: 1, capacity_wait_sec: 30 } as const;

/** A delegator without seats of its own, which knows these nodes. */
export function delegator(urls: readonly string[], config: JsonObject = {}): Delegator {
  const world = livingWorld({ WRIT_NODE_TOKEN: TOKEN });
  const state = join(world.data, "run");
  writeFileSync(
    join(world.folder, "config.json"),
    JSON.stringify({ remotes: urls.map((url) => ({ url })), limits: QUICK, ...config }),
  );
  const config_path = join(world.folder, "config.json");
  let files = 0;
  const labelled: Delegator["labelled"] = (label, contracts, ...args) => {
    const file = join(world.folder, `legs-${files++}.json`);
    writeFileSync(file, JSON.stringify(contracts));
    return startCall(world, ["--contract", file, "--config", config_path, "--json", ...args], { WRIT_LABEL: label });
  };
  return {
    world,
    state,
    call: (contracts, ...args) => labelled("", contracts, ...args),
    labelled,
    open: () => openIntents(readIntents(state).texts).map(({ job }) => job),
    recovered() {
      const folder = join(state, "recovered");
      const names = readFolder(folder).filter((name) => name.endsWith(".json"));
      return Object.fromEntries(
        names.map((name) => [name.slice(0, -".json".length), JSON.parse(readFileSync(join(folder, name), "utf8"))]),
      );
    },
    recover: (env = {}) => world.writ(["runs", "recover", "--config", config_path, "--json"], { env }),
    [Symbol.dispose]: () => world[Symbol.dispose](),
  };
}

export function readFolder(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function startCall(world: LivingWorld, args: readonly string[], env: Readonly<Record<string, string>>): Call {
  const child = Bun.spawn([...writCommand(), "delegate", ...args], {
    cwd: world.folder,
    env: world.env(env),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  let talk = "";
  let isOver = false;
  let talked = Promise.withResolvers<void>();
  const talking = (async () => {
    const decoder = new TextDecoder();
    for await (const piece of child.stderr) {
      talk += decoder.decode(piece, { stream: true });
      talked.resolve();
      talked = Promise.withResolvers();
    }
    isOver = true;
    talked.resolve();
  })();
  const ended = (async (): Promise<Ran> => {
    const [stdout, exit] = await Promise.all([new Response(child.stdout).text(), child.exited, talking]);
    return { exit, stdout, stderr: talk };
  })();
  return {
    pid: child.pid,
    get talk() {
      return talk;
    },
    async says(pattern) {
      while (!pattern.test(talk)) {
        if (isOver) throw new Error(`it ended before it said ${pattern}: ${talk}`);
        await talked.promise;
      }
    },
    kill: (signal) => child.kill(signal),
    ended,
    get document() {
      return ended.then((ran) => {
        if (!ran.stdout.endsWith("}\n")) throw new Error(`no document: ${ran.exit} ${ran.stdout}${ran.stderr}`);
        return JSON.parse(ran.stdout) as Printed;
      });
    },
  };
}

/** The only leg of a call. */
export async function onlyLeg(call: Call): Promise<Leg> {
  const { results } = await call.document;
  const [leg, ...more] = results;
  if (leg === undefined || more.length > 0) throw new Error(`${results.length} legs`);
  return leg;
}
