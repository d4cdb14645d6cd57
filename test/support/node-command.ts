/** `writ node serve` as a process of its own, and what asks it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type LivingWorld, writCommand } from "./writ.ts";

export type View = {
  readonly job_id: string;
  readonly state: string;
  readonly rev: number;
  readonly queue_position: number;
  readonly restarts: number;
  readonly result?: { readonly output: string; readonly reason: string; readonly defer_class: string };
};

export type NodeCommand = {
  readonly url: string;
  /** What it has printed on standard output, and on standard error so far. */
  readonly printed: string;
  readonly talk: string;
  readonly pid: number;
  ask(method: string, path: string, body?: string): Promise<Response>;
  health(): Promise<Record<string, unknown>>;
  view(job_id: string): Promise<View>;
  /** Polls until the job is in one of the states. */
  reach(job_id: string, ...states: string[]): Promise<View>;
  /** Waits until its talk matches. */
  says(pattern: RegExp): Promise<void>;
  /** Sends a signal; the status of its end, 128 + n where the signal ended it. */
  stop(signal?: "SIGTERM" | "SIGINT" | "SIGKILL" | null): Promise<number>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Writes the config of the world, with one seat at this URL. */
export function configureNode(
  world: LivingWorld,
  seat: { readonly url: string; readonly more?: object } | null,
  more: { readonly node?: object; readonly [key: string]: unknown } = {},
): void {
  const { node, ...rest } = more;
  const seats =
    seat === null
      ? []
      : [
          {
            name: "s",
            base_url: seat.url,
            model: "scripted/test",
            engine: "llama.cpp",
            ctx_tokens: 16_384,
            slots: 1,
            ...seat.more,
          },
        ];
  const config = { seats, node: { id: "n", listen: "127.0.0.1:0", ...node }, ...rest };
  writeFileSync(join(world.folder, "config.json"), JSON.stringify(config));
}

/** Starts it, and waits for its line. The node is asked with the token that its environment has. */
export async function startNode(
  world: LivingWorld,
  env: Readonly<Record<string, string | undefined>> = {},
  ...args: string[]
): Promise<NodeCommand> {
  const own = world.env({ WRIT_CONFIG: join(world.folder, "config.json"), ...env });
  const child = Bun.spawn([...writCommand(), "node", "serve", ...args], {
    cwd: world.folder,
    env: own,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  let talk = "";
  let talked = Promise.withResolvers<void>();
  const talking = (async () => {
    const decoder = new TextDecoder();
    for await (const piece of child.stderr) {
      talk += decoder.decode(piece, { stream: true });
      talked.resolve();
      talked = Promise.withResolvers();
    }
    talked.resolve();
  })();
  const reader = child.stdout.getReader();
  let printed = "";
  while (!printed.includes("\n")) {
    const { done, value } = await reader.read();
    if (done) {
      await talking;
      throw new Error(`the node ended with ${await child.exited}: ${printed}${talk}`);
    }
    printed += new TextDecoder().decode(value);
  }
  const url = /https?:\/\/[^"\s]*/.exec(printed)?.[0] ?? "";
  const token = own.WRIT_NODE_TOKEN ?? "";
  const ask: NodeCommand["ask"] = (method, path, body) =>
    fetch(`${url}/writ/v1${path}`, {
      method,
      headers: {
        ...(token === "" ? {} : { Authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      },
      ...(body === undefined ? {} : { body }),
      keepalive: false,
    });
  const view = async (job_id: string) => (await (await ask("GET", `/jobs/${job_id}`)).json()) as View;
  const stop: NodeCommand["stop"] = async (signal = "SIGTERM") => {
    if (signal !== null) child.kill(signal);
    const exit = await child.exited;
    await talking;
    return exit;
  };
  return {
    url,
    printed,
    get talk() {
      return talk;
    },
    pid: child.pid,
    ask,
    health: async () => (await (await ask("GET", "/health")).json()) as Record<string, unknown>,
    view,
    async reach(job_id, ...states) {
      for (let now = await view(job_id); ; ) {
        if (states.includes(now.state)) return now;
        now = (await (await ask("GET", `/jobs/${job_id}?wait=5&since=${now.rev}`)).json()) as View;
      }
    },
    async says(pattern) {
      while (!pattern.test(talk)) await talked.promise;
    },
    stop,
    async [Symbol.asyncDispose]() {
      await stop("SIGKILL");
    },
  };
}
