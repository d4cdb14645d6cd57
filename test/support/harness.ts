/**
 * A scripted harness: it makes the hook calls that Claude Code makes, with the payloads of `fixtures/hooks`, by
 * spawning the commands that a settings file names. It reads the settings by itself, not with the code under test.
 *
 * As a program: `bun test/support/harness.ts SETTINGS FIXTURE...` plays the fixtures in order and prints what each
 * hook command said.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/core/json/value.ts";

const FIXTURES = join(import.meta.dir, "..", "..", "fixtures", "hooks");

/** What one hook command did with one event. */
export type Called = { readonly exit: number; readonly stdout: string; readonly stderr: string };

/** How a Bash command of an agent went. */
export type Went =
  | "ok"
  | "background"
  | "moved-to-background"
  | "interrupted"
  | "timed-out"
  | "interpreted"
  | "persisted"
  | "failed"
  | "stopped";

type Settings = {
  readonly hooks?: Readonly<Record<string, readonly { matcher?: string; hooks?: readonly Handler[] }[]>>;
};
type Handler = { readonly type: string; readonly command: string; readonly args?: readonly string[] };

/** The payload of `fixtures/hooks/<name>.json`, with other values where they are given; undefined takes a field out. */
export function fixture(name: string, more: Readonly<Record<string, unknown>> = {}): JsonObject {
  const whole = { ...(JSON.parse(readFileSync(join(FIXTURES, `${name}.json`), "utf8")) as JsonObject), ...more };
  return Object.fromEntries(Object.entries(whole).filter(([, value]) => value !== undefined)) as JsonObject;
}

const BASH: Readonly<Record<Went, string>> = {
  ok: "post-tool-use-bash",
  background: "post-tool-use-bash-background",
  "moved-to-background": "post-tool-use-bash-moved-to-background",
  interrupted: "post-tool-use-bash-interrupted",
  "timed-out": "post-tool-use-bash-timed-out",
  interpreted: "post-tool-use-bash-interpreted",
  persisted: "post-tool-use-bash-persisted",
  failed: "post-tool-use-failure-bash",
  stopped: "post-tool-use-failure-bash-interrupt",
};

export class ScriptedHarness {
  private calls = 0;

  /** @param setting the settings files, and where hook commands run */
  constructor(
    private readonly setting: {
      readonly settings: readonly string[];
      readonly cwd: string;
      readonly env: Record<string, string>;
    },
  ) {}

  /** Calls every hook that is registered for the payload's event, all at once, as the harness does. */
  async fire(payload: JsonObject): Promise<readonly Called[]> {
    const event = String(payload.hook_event_name);
    const handlers = this.setting.settings
      .map((path) => JSON.parse(readFileSync(path, "utf8")) as Settings)
      .flatMap(({ hooks = {} }) => hooks[event] ?? [])
      .filter(({ matcher }) => matches(matcher, payload.tool_name))
      .flatMap((group) => group.hooks ?? [])
      .filter((handler) => handler.type === "command");
    return await Promise.all(handlers.map((handler) => this.call(handler, payload)));
  }

  /** One subagent of a session. */
  agent(session_id: string, agent_id: string) {
    const own = { session_id, agent_id, cwd: this.setting.cwd };
    const fire = (name: string, more: Readonly<Record<string, unknown>> = {}) =>
      this.fire(fixture(name, { ...own, ...more }));
    return {
      start: () => fire("subagent-start"),
      /** Reports a command; `more` replaces fields of the payload. */
      bash: (command: string, went: Went = "ok", more: Readonly<Record<string, unknown>> = {}) => {
        const { tool_input } = fixture(BASH[went]);
        this.calls += 1;
        return fire(BASH[went], {
          tool_input: { ...(tool_input as JsonObject), command },
          tool_use_id: `toolu_${agent_id}_${this.calls}`,
          ...more,
        });
      },
      read: (file_path: string) => fire("post-tool-use-read", { tool_input: { file_path } }),
      edit: (file_path: string) => fire("post-tool-use-edit", { tool_input: { file_path } }),
      /** Stops, and answers why it has to go on; null when it may stop. */
      stop: async (more: Readonly<Record<string, unknown>> = {}) => sentBack(await fire("subagent-stop", more)),
      fire,
    };
  }

  private async call(handler: Handler, payload: JsonObject): Promise<Called> {
    const argv = handler.args === undefined ? ["/bin/sh", "-c", handler.command] : [handler.command, ...handler.args];
    const child = Bun.spawn(argv, {
      cwd: this.setting.cwd,
      env: this.setting.env,
      stdin: new TextEncoder().encode(JSON.stringify(payload)),
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr, exit] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    return { exit, stdout, stderr };
  }
}

/** The reason of the first hook that says "block" as the harness understands it: an object, and nothing else. */
export function sentBack(called: readonly Called[]): string | null {
  for (const { exit, stdout } of called) {
    if (exit !== 0 || !stdout.trimStart().startsWith("{")) continue;
    const answer = JSON.parse(stdout) as { decision?: unknown; reason?: unknown };
    if (answer.decision === "block") return String(answer.reason);
  }
  return null;
}

/** No matcher, "" and "*" are every tool; else whole names, or a pattern over the whole name. */
function matches(matcher: string | undefined, tool: unknown): boolean {
  if (matcher === undefined || matcher === "" || matcher === "*" || typeof tool !== "string") return true;
  return new RegExp(`^(?:${matcher})$`).test(tool);
}

if (import.meta.main) {
  const [settings = "", ...names] = process.argv.slice(2);
  const env = Object.fromEntries(
    Object.entries(process.env).filter((each): each is [string, string] => each[1] !== undefined),
  );
  const harness = new ScriptedHarness({ settings: [settings], cwd: process.cwd(), env });
  for (const name of names) for (const called of await harness.fire(fixture(name))) console.log(name, called);
}
