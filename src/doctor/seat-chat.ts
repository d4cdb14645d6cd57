/** Asking a seat for one answer, as every check of seats does, and what it means when none comes. */
import type { ChatOutcome, ChatRequest, Endpoint, Watch } from "../core/seat/endpoint.ts";
import type { Finding, findingsOf } from "./check.ts";
import type { World } from "./world.ts";

/** How long one question to a server may take, in milliseconds. */
export const ASK_MS = 5000;

/** One chat, from its beginning to its end. */
const CHAT_MS = 300_000;

/** How long a server may be silent in a chat, in milliseconds. A processor without an accelerator reads slowly. */
const SILENT_MS = { prefill: 240_000, decoding: 60_000 } as const;

/** Its script was written for a contract, and not for the doctor's questions. */
const SCRIPT_HINT = "Its script needs turns for the doctor's questions: writ docs scripted-seat has them";

/** The findings of one seat. */
export type Say = ReturnType<typeof findingsOf>;

export function ask(
  world: World,
  endpoint: Endpoint,
  request: Pick<ChatRequest, "messages" | "max_tokens"> & Partial<ChatRequest>,
): Promise<ChatOutcome> {
  return endpoint.chat({ tools: [], thinking: "off", constraint: null, ...request }, watchOf(world));
}

export function watchOf(world: World): Watch {
  return {
    signal: world.deadline(CHAT_MS),
    allowance_ms: (phase) => SILENT_MS[phase],
    look: async () => "abort",
    onProgress: () => {},
  };
}

/** What came in place of an answer. That others keep it busy is nobody's fault. */
export function faultOf(subject: string, outcome: Exclude<ChatOutcome, { kind: "answered" }>, say: Say): Finding {
  switch (outcome.kind) {
    case "busy":
      return say.warn(subject, `Others keep it busy: ${outcome.message}`, "Try again");
    case "loading":
      return say.warn(subject, `It is loading: ${outcome.message}`, "Try again");
    case "refused": {
      const isKey = outcome.status === 401 || outcome.status === 403;
      return say.fail(
        subject,
        `It refused (HTTP ${outcome.status}): ${outcome.message}`,
        isKey ? "See api_key_env" : /^scripted seat: /.test(outcome.message) ? SCRIPT_HINT : null,
      );
    }
    case "stalled":
      return say.fail(subject, `Nothing came for ${Math.round(outcome.silent_ms / 1000)} s (${outcome.phase})`);
    case "too_large":
      return say.fail(subject, `It answered with more than is kept: ${outcome.bytes} bytes`);
    case "aborted":
      return say.fail(subject, `There was no whole answer in ${CHAT_MS / 1000} s`);
    case "too_long":
    case "bad_call":
    case "mode_refused":
    case "not_served":
    case "died":
      return say.fail(subject, outcome.message);
    default:
      return outcome satisfies never;
  }
}
