/**
 * What a turn is told that stops before its contract is closed: the first thing in the way, and what to type next.
 *
 * An agent reads it instead of an answer, so it is short, and no text of a stranger in it can move a cursor.
 */
import { EXIT, exitOf, type WritError } from "../error.ts";
import { stripControls } from "../terminal.ts";

/** The longest reason, in UTF-16 code units; a harness has hung on long ones. */
export const REASON_LIMIT = 2_000;

/** What stands between a turn and its clean close. */
export type Obstacle =
  /** The agent has not said how the turn ended: its state is IN_PROGRESS. */
  | { readonly kind: "undeclared" }
  /** Nothing but the call of finalize is missing. */
  | { readonly kind: "unfinalized" }
  | { readonly kind: "refused"; readonly error: WritError };

/** True for an answer about the contract; what is unavailable or a defect says nothing about it. */
export function isRefusal(error: WritError): boolean {
  const status = exitOf(error.code);
  return status === EXIT.no || status === EXIT.refused;
}

/**
 * The reason for sending a turn back.
 *
 * @param count which time this is, from 1; @param limit how often it may happen
 * Units: at most `REASON_LIMIT` code units
 */
export function sendBackReason(sent: {
  readonly draft_id: string;
  readonly obstacle: Obstacle;
  readonly count: number;
  readonly limit: number;
}): string {
  const { draft_id, obstacle, count, limit } = sent;
  const head = `The contract ${draft_id} of this turn is not finalized (sent back ${count} of ${limit}).`;
  const address = `--draft-id ${draft_id}`;
  const room = REASON_LIMIT - head.length - 4 * address.length - 400;
  const lines = [head, clip(whatIsMissing(obstacle), Math.max(room, 0)), ...nextCommands(obstacle, address)];
  return clip(stripControls(lines.join("\n")), REASON_LIMIT);
}

function whatIsMissing(obstacle: Obstacle): string {
  switch (obstacle.kind) {
    case "undeclared":
      return "Its agent_status.agent_state is IN_PROGRESS: the turn has not said how it ended.";
    case "unfinalized":
      return "It is valid and ready to close.";
    case "refused":
      return refusalText(obstacle.error);
    default:
      return obstacle satisfies never;
  }
}

function refusalText(error: WritError): string {
  const [issue, ...more] = error.issues;
  if (issue === undefined)
    return [`${error.code}: ${error.message}`, ...(error.hint === null ? [] : [error.hint])].join("\n");
  const place = issue.path === null ? "" : ` [${issue.path}]`;
  const further = more.length === 0 ? [] : [`${more.length} more; the first command below lists them all.`];
  return [`${issue.code}${place}: ${issue.message}`, ...(issue.hint === null ? [] : [issue.hint]), ...further].join(
    "\n",
  );
}

function nextCommands(obstacle: Obstacle, address: string): readonly string[] {
  const finalize = `writ contract finalize ${address}`;
  const close = `writ contract validate --close ${address}`;
  switch (obstacle.kind) {
    case "unfinalized":
      return [`Type: ${finalize}`];
    case "undeclared":
      return [
        "Say how it ended (COMPLETE, NEEDS_VERIFICATION, BLOCKED, NEEDS_INPUT or APPROVAL_REQUEST), for example:",
        `Type: writ contract fill ${address} --json '{"conclusion":"...","agent_status":{"agent_state":"BLOCKED","next_action":"..."}}'`,
        `Then: ${close}`,
        `Then: ${finalize}`,
      ];
    case "refused":
      // A draft that is not there is made anew by looking at it.
      if (obstacle.error.code === "no_draft") return [`Type: writ contract view ${address}`, `Then: ${close}`];
      return [`Type: ${close}`, `Then: ${finalize}`];
    default:
      return obstacle satisfies never;
  }
}

function clip(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, Math.max(length - 1, 0)).toWellFormed()}…`;
}
