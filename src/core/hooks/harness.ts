/**
 * What writ knows of each harness: the events it has hooks for, whether their arrival tells an outcome, and how it is
 * told to go on. One adapter a harness, chosen where the hook is installed and never guessed from a payload.
 */
import type { JsonObject } from "../json/value.ts";
import type { Harness } from "../record/hook.ts";

/** The events that are fed to `writ record`, in the order in which they are written. */
export const HOOK_EVENTS = ["PostToolUse", "PostToolUseFailure", "SubagentStart", "SubagentStop"] as const;
export type HookEventName = (typeof HOOK_EVENTS)[number];

/** How long a harness waits for one call, in seconds: longer than a locked store is waited for. */
export const HOOK_TIMEOUT_SEC = 60;

/** How often a turn is sent back unless told otherwise. */
export const DEFAULT_GATE = 1;

export type Adapter = {
  readonly events: readonly HookEventName[];
  /** Whether `writ hooks install` writes its settings. */
  readonly installs: boolean;
  /** What it needs to be told at its set-up; whole sentences. */
  readonly notes: readonly string[];
  /** What makes the agent go on instead of stopping; null where there is no such answer. */
  readonly goOn: ((reason: string) => JsonObject) | null;
};

export const ADAPTERS: Readonly<Record<Harness, Adapter>> = {
  "claude-code": {
    events: HOOK_EVENTS,
    installs: true,
    notes: [],
    goOn: (reason) => ({ decision: "block", reason }),
  },
  codex: {
    // PostToolUse comes for successes and failures alike, and PostToolUseFailure never.
    events: ["PostToolUse", "SubagentStart", "SubagentStop"],
    installs: false,
    notes: [
      "codex does not tell how a command ended: its runs are recorded with an unknown outcome. writ run -- CMD knows it",
      "There is no stop gate for codex: a turn that stops unfinalized is recorded as cut",
    ],
    goOn: null,
  },
  generic: {
    events: [],
    installs: false,
    notes: [
      "Give exit_code with every run: without it the outcome is unknown",
      "There is no stop gate for a generic harness: a turn that stops unfinalized is recorded as cut",
    ],
    goOn: null,
  },
};

/** The words behind writ in the hook of an event. */
export function recordArguments(harness: Harness, event: HookEventName, gate: number): readonly string[] {
  const words = ["record", "--harness", harness];
  const isGated = event === "SubagentStop" && gate > 0 && ADAPTERS[harness].goOn !== null;
  return isGated ? [...words, "--gate", String(gate)] : words;
}
