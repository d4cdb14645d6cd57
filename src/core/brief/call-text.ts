/** The calls of a restore as they are printed. */
import type { JsonObject } from "../json/value.ts";
import { quoteWords } from "./quote.ts";
import type { Call } from "./restore.ts";

/** `3. phase start plan`. Source: flow state, section 12.11. */
export function callLine(call: Call, index: number): string {
  const after =
    call.action === "check" ? (call.on_fail === "repair" ? "  # FAIL -> plan repair" : "  # FAIL -> stop") : "";
  return `${index + 1}. ${quoteWords(words(call))}${after}`;
}

export function callDocument(call: Call): JsonObject {
  return call.action === "init" ? { ...call, tasks: call.tasks.map((task) => ({ ...task })) } : { ...call };
}

function words(call: Call): readonly string[] {
  switch (call.action) {
    case "start":
      return ["phase", "start", call.phase];
    case "skip":
      return ["phase", "skip", call.phase, "--reason", call.reason];
    case "substep":
      return ["phase", "substep", call.phase, call.substep];
    case "check":
      return ["plan", "check", call.path];
    case "init":
      return ["plan", "init", "--tasks", JSON.stringify(call.tasks)];
    case "refresh":
      return ["plan", "refresh", call.path];
    case "pending-recovery":
    case "ledger-migrate":
    case "ledger-allowance":
      return ["host", call.action, call.path];
    default:
      return call satisfies never;
  }
}
