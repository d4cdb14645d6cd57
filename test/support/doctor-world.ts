/** A scripted world for the doctor: all is well in it, unless a test says otherwise. */
import { mergeConfig } from "../../src/core/config/merge.ts";
import { readConfig } from "../../src/core/config/read.ts";
import { planInstall } from "../../src/core/hooks/settings.ts";
import type { NodeAnswer } from "../../src/core/node/client.ts";
import type { ChatOutcome, ChatRequest, Completion, Endpoint, SeatLook } from "../../src/core/seat/endpoint.ts";
import type { Called, ConfigLook, Rehearsal, World } from "../../src/doctor/world.ts";

export const DATA = "/home/dev/.writ";
export const USER = "/home/dev/.claude/settings.json";
export const PROJECT = "/work/.claude/settings.json";
export const WRIT = "/opt/writ";

export const SEAT = {
  name: "qwen",
  base_url: "http://127.0.0.1:8080",
  model: "qwen3-8b",
  engine: "llama.cpp",
} as const;

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
    asked: { only: null, load: false },
    config: async () => configLook({ seats: [SEAT], remotes: ["http://10.0.0.2:18811"] }),
    isSet: () => true,
    variable: () => "",
    stateFault: () => ({ folder: `${DATA}/run`, fault: null }),
    certificate: () => ({ kind: "none" as const }),
    openSeat: () => scriptedEndpoint(),
    openNode: () => ({ health: async () => healthyNode("health"), poll: async () => healthyNode("job") }),
    passedOver: () => null,
    deadline: () => new AbortController().signal,
    versionAsBun: async () => "1.4.5",
    which: (program: string) => `/usr/bin/${program}`,
    otherUsers: () => [],
    places: { data: DATA, database: `${DATA}/writ.db`, drafts: `${DATA}/contract_drafts`, temporary: "/tmp" },
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

/** What a config file with these values is, under an empty environment. */
export function configLook(config: object, file: string | null = `${DATA}/config.json`): ConfigLook {
  const merged = mergeConfig(readConfig(JSON.stringify(config)), {});
  if (!merged.ok) return { kind: "invalid", file, issues: merged.issues };
  return { kind: "loaded", config: merged.config, sources: merged.sources, file, silent: null };
}

/** What a node that is well answers. */
export function answeredNode(status: number, text: string): NodeAnswer {
  return { kind: "answer", status, code: "", message: "", text, retry_after_sec: null };
}

export function healthyNode(about: "health" | "job", more: object = {}): NodeAnswer {
  if (about === "job") return answeredNode(404, '{"error":{"code":"not_found"}}');
  const seats = [{ name: "pool", engine: "vllm", model: "m", ctx_tokens: 8192, slots: 2, served: true }];
  const record = {
    ok: true,
    protocol: 1,
    schema_versions: [1],
    node_id: "node-b",
    running: 1,
    queued: 0,
    seats,
    ...more,
  };
  return answeredNode(200, JSON.stringify(record));
}

export type EndpointScript = {
  readonly look?: Partial<SeatLook>;
  /** What the server says of its window. */
  readonly window?: number | null;
  readonly loaded?: number | null;
  readonly warmUp?: ChatOutcome;
  /** In place of an answer that is as it should be; undefined leaves it. */
  readonly takesTools?: boolean;
  readonly chat?: (request: ChatRequest) => ChatOutcome | undefined;
  /** What its answers to these requests have told. */
  readonly isScripted?: (requests: readonly ChatRequest[]) => boolean;
};

/** A server that does all that is asked of it, unless a test says otherwise. */
export function scriptedEndpoint(script: EndpointScript = {}): Endpoint & { readonly requests: ChatRequest[] } {
  const requests: ChatRequest[] = [];
  const { look = {}, window = 8192, loaded = 8192 } = script;
  return {
    requests,
    chat: async (request) => {
      requests.push(request);
      return script.chat?.(request) ?? answerOf(request);
    },
    look: async () => ({ state: "ready", busy_slots: null, total_slots: null, message: "it is ready", ...look }),
    hasFreeSlot: async () => true,
    windowTokens: async () => window,
    totalSlots: async () => null,
    countTokens: async () => null,
    loadedWindowTokens: async () => loaded,
    takesTools: async () => script.takesTools ?? null,
    warmUp: async () => script.warmUp ?? answered({ content: "." }),
    pin: async () => null,
    isScripted: () => script.isScripted?.(requests) ?? false,
  };
}

export function answered(completion: Partial<Completion>): ChatOutcome {
  return {
    kind: "answered",
    completion: {
      content: "",
      reasoning: "",
      calls: [],
      finish_reason: "stop",
      is_cut: false,
      usage: null,
      first_byte_ms: 1,
      prefill_ms: 10,
      decode_ms: 20,
      ...completion,
    },
  };
}

function answerOf({ messages, tools, constraint }: ChatRequest): ChatOutcome {
  if (constraint !== null) return answered({ content: '{"ok":"yes"}' });
  const last = messages.at(-1);
  if (last?.role === "tool") return answered({ content: `The word is ${last.content}.` });
  if (tools.length > 0) {
    return answered({ calls: [{ id: "c1", name: tools[0]?.name ?? "", arguments: '{"colour":"blue"}' }] });
  }
  const words = (last?.content ?? "").split(" ").length;
  return answered({
    content: "ok",
    usage: { prompt_tokens: words, completion_tokens: 2, reasoning_tokens: 0, cached_tokens: 0 },
  });
}
