/** The settings of each harness as a document to copy: what `writ hooks print` prints. */
import type { JsonObject, JsonValue } from "../json/value.ts";
import type { Harness } from "../record/hook.ts";
import { ADAPTERS, HOOK_TIMEOUT_SEC, type HookEventName, recordArguments } from "./harness.ts";

/**
 * @param program the words that start writ
 * @param gate    how often a turn is sent back; it stands only where the harness knows how to go on
 */
export function settingsOf(harness: Harness, program: readonly string[], gate: number): JsonObject {
  const wordsOf = (event: HookEventName) => [...program, ...recordArguments(harness, event, gate)];
  const events = (handlerOf: (words: readonly string[]) => JsonObject) =>
    Object.fromEntries(
      ADAPTERS[harness].events.map((event): [string, JsonValue] => [event, [{ hooks: [handlerOf(wordsOf(event))] }]]),
    );
  switch (harness) {
    case "claude-code":
      return {
        hooks: events(([command = "", ...args]) => ({ type: "command", command, args, timeout: HOOK_TIMEOUT_SEC })),
      };
    case "codex":
      // Its command is a line for a shell.
      return {
        hooks: events((words) => ({
          type: "command",
          command: words.map(shellWord).join(" "),
          timeout: HOOK_TIMEOUT_SEC,
        })),
      };
    case "generic": {
      const [command = "", ...args] = [...program, "record", "--harness", harness];
      return {
        command,
        args,
        stdin: {
          tool: "bash",
          command: "make test",
          exit_code: 0,
          output: "3 passed\n",
          agent_id: "...",
          cwd: "/work",
        },
      };
    }
    default:
      return harness satisfies never;
  }
}

function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
}
