/** A scripted world for the doctor: all is well in it, unless a test says otherwise. */
import { planInstall } from "../../src/core/hooks/settings.ts";
import type { Called, Rehearsal, World } from "../../src/doctor/world.ts";

export const DATA = "/home/dev/.writ";
export const USER = "/home/dev/.claude/settings.json";
export const PROJECT = "/work/.claude/settings.json";
export const WRIT = "/opt/writ";

/** The settings that an install makes. */
export function installedText(gate = 1, program: readonly string[] = [WRIT]): string {
  return planInstall(null, PROJECT, { harness: "claude-code", program, gate }).text;
}

export type Rows = Map<string, { readonly exit_code: number | null; readonly failed: boolean }>;

export type DoctorScript = Partial<Omit<World, "readSettings">> & {
  /** Texts of settings files by path. */
  readonly files?: Readonly<Record<string, string>>;
  readonly rehearsal?: Partial<Rehearsal>;
};

export function doctorWorld(script: DoctorScript = {}): World & { closed: number; readonly called: string[] } {
  const { files = { [PROJECT]: installedText() }, rehearsal = {}, ...more } = script;
  const called: string[] = [];
  const world = {
    closed: 0,
    called,
    places: { data: DATA, database: `${DATA}/writ.db`, drafts: `${DATA}/contract_drafts` },
    version: "1.2.3",
    settings: [
      { scope: "user" as const, path: USER },
      { scope: "project" as const, path: PROJECT },
    ],
    readSettings: (path: string) => files[path] ?? null,
    look: (path: string) => ({
      kind: path.endsWith(".db") ? ("file" as const) : ("folder" as const),
      mode: path.endsWith(".db") ? 0o600 : 0o700,
      isMine: true,
      isWritable: true,
    }),
    canMake: () => true,
    inspectStore: () => ({ kind: "read" as const, layout: 2, known: 2, journal_mode: "wal", complaints: [] }),
    walFault: () => null,
    findProgram: ([path = ""]: readonly string[]) => ({
      path,
      isSelf: path === WRIT,
    }),
    versionOf: async () => "1.2.3",
    openRehearsal: () => {
      const runs: Rows = new Map();
      let stops = 0;
      return {
        session_id: "s",
        cwd: "/tmp/rehearsal",
        runs: () => runs,
        row: () => ({ agent_state: "IN_PROGRESS", cut_reason: "reaped" }),
        call: async (argv: readonly string[], payload: Parameters<Rehearsal["call"]>[1]) => {
          called.push(argv.join(" "));
          const { command } = (payload.tool_input ?? {}) as { command?: string };
          if (command !== undefined) {
            runs.set(command, { exit_code: command === "true" ? 0 : command === "false" ? 1 : null, failed: false });
          }
          if (payload.hook_event_name !== "SubagentStop") return said("");
          stops += 1;
          const gate = Number(/--gate (\d+)/.exec(argv.join(" "))?.[1] ?? 0);
          return said(stops <= gate ? '{"decision":"block","reason":"..."}' : "");
        },
        close: () => {
          world.closed += 1;
        },
        ...rehearsal,
      };
    },
    ...more,
  };
  return world;
}

export function said(stdout: string, stderr = "", exit = 0): Called {
  return { kind: "ended", exit, stdout, stderr };
}
