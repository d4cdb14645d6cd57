/** A short turn as Claude Code's hooks would report it, for seeing whether what is installed records it. */
import type { JsonObject } from "../json/value.ts";
import type { HookEventName } from "./harness.ts";

export type Scene = {
  readonly session_id: string;
  readonly agent_id: string;
  readonly cwd: string;
};

/** One run of the rehearsal, and how it has to stand in the record: null is an unknown outcome. */
export type RehearsedRun = {
  readonly event: Extract<HookEventName, "PostToolUse" | "PostToolUseFailure">;
  readonly command: string;
  readonly payload: JsonObject;
  readonly exit_code: number | null;
};

export function startPayload(scene: Scene): JsonObject {
  return { ...commonOf(scene), hook_event_name: "SubagentStart" };
}

export function stopPayload(scene: Scene, isActive: boolean): JsonObject {
  return {
    ...commonOf(scene),
    hook_event_name: "SubagentStop",
    stop_hook_active: isActive,
    agent_transcript_path: `${scene.cwd}/agent-${scene.agent_id}.jsonl`,
    last_assistant_message: "Done.",
  };
}

/** A command that succeeds, one that fails, and one that goes on in the background. */
export function rehearsedRuns(scene: Scene): readonly RehearsedRun[] {
  const response = { stdout: "", stderr: "", interrupted: false, isImage: false, noOutputExpected: true };
  const tool = (event: RehearsedRun["event"], command: string, more: JsonObject, input: JsonObject = {}) => ({
    ...commonOf(scene),
    hook_event_name: event,
    tool_name: "Bash",
    tool_input: { command, description: "A rehearsal of writ doctor", ...input },
    tool_use_id: `toolu_rehearsal_${command.replace(/\W/g, "_")}`,
    ...more,
  });
  return [
    {
      event: "PostToolUse",
      command: "true",
      payload: tool("PostToolUse", "true", { tool_response: response, duration_ms: 3 }),
      exit_code: 0,
    },
    {
      event: "PostToolUseFailure",
      command: "false",
      payload: tool("PostToolUseFailure", "false", { error: "Exit code 1", is_interrupt: false, duration_ms: 3 }),
      exit_code: 1,
    },
    {
      event: "PostToolUse",
      command: "sleep 60",
      payload: tool(
        "PostToolUse",
        "sleep 60",
        { tool_response: { ...response, backgroundTaskId: "rehearsal" }, duration_ms: 3 },
        { run_in_background: true },
      ),
      exit_code: null,
    },
  ];
}

function commonOf({ session_id, agent_id, cwd }: Scene): JsonObject {
  return {
    session_id,
    transcript_path: `${cwd}/${session_id}.jsonl`,
    cwd,
    permission_mode: "default",
    agent_id,
    agent_type: "general-purpose",
  };
}
