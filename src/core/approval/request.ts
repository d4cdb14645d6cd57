/**
 * What is asked consent for: commands, each of them one command, as they will run.
 *
 * Two requests are the same when their canonical payload is: the commands in order and what was said about them. Who
 * asks is no part of it: the same request by the next turn is the same question.
 */
import { parseJson } from "../json/parse.ts";
import { canonicalJson, isArray, isObject, type JsonObject, valueAt } from "../json/value.ts";
import { readOperators } from "../record/shell-operators.ts";
import { stripControls } from "../terminal.ts";

export const RISKS = ["low", "medium", "high"] as const;

export type ApprovalRequest = {
  /** At least one, each without a fault. */
  readonly commands: readonly string[];
  readonly operation: string | null;
  readonly rationale: string | null;
  readonly scope: string | null;
  readonly risk_level: string | null;
  readonly rollback: string | null;
};

/** A request with its digests, lower-case hex SHA-256. */
export type RenderedRequest = {
  readonly command_set: readonly { readonly command: string; readonly fingerprint: string }[];
  /** Of the compact JSON array of the commands. */
  readonly request_fingerprint: string;
  /** The commands, one a line. */
  readonly exact_content: string;
  /** Canonical JSON. */
  readonly payload: string;
  /** Of the payload. */
  readonly fingerprint: string;
};

/** What makes two commands of one, or hides one inside another; also in quotes, where a reader may miss it. */
const JOINTS = ["&&", "||", ";", "|", "\n", "`", "$(", "<(", ">("] as const;

/**
 * Why a text is not one command that a person can consent to, or null when it is.
 *
 * @returns the end of a sentence, for example `holds "&&"`
 * Linear in the text.
 */
export function commandFault(command: string): string | null {
  if (command.trim() === "") return "is blank";
  if (command !== command.trim()) return "has blanks at an end";
  const joint = JOINTS.find((text) => command.includes(text));
  if (joint !== undefined) return joint === "\n" ? "holds a line break" : `holds "${joint}"`;
  // A single "&" is no joint where it is quoted, or says where output goes: "2>&1", "<&3". Shells differ about the rest.
  if (readOperators(command).operators.length > 0 || holdsLooseAmpersand(command)) return 'holds "&"';
  if (command.includes("$'")) return 'holds "$\'", which may spell any character';
  // Consent is given to what a person sees.
  if (stripControls(command) !== command) return "holds an invisible character";
  return null;
}

/** An ampersand outside of quotes that does not stand directly between an unescaped `>` or `<` and a digit or `-`. */
function holdsLooseAmpersand(command: string): boolean {
  let quote = "";
  for (let at = 0; at < command.length; at++) {
    const character = command[at] ?? "";
    if (character === "\\" && quote !== "'") {
      at++;
      // An escaped redirection is none: what follows it stands alone.
      if (quote === "" && /[<>]/.test(command[at] ?? "") && command[at + 1] === "&") return true;
    } else if (quote !== "") {
      if (character === quote) quote = "";
    } else if (character === '"' || character === "'") quote = character;
    else if (character === "&") {
      if (!/[<>]/.test(command[at - 1] ?? "") || !/[\d-]/.test(command[at + 1] ?? "")) return true;
    }
  }
  return false;
}

/** The request as it is stored and shown. */
export function renderRequest(request: ApprovalRequest, sha256: (text: string) => string): RenderedRequest {
  const { commands, ...said } = request;
  const command_set = commands.map((command) => ({ command, fingerprint: sha256(command) }));
  const request_fingerprint = sha256(JSON.stringify(commands));
  const exact_content = commands.join("\n");
  const payload = canonicalJson({ ...said, command_set, request_fingerprint, exact_content });
  return { command_set, request_fingerprint, exact_content, payload, fingerprint: sha256(payload) };
}

/** A stored payload; null when it was edited by hand into something that is none. */
export function readPayload(payload: string): JsonObject | null {
  const parsed = parseJson(payload);
  return parsed.ok && isObject(parsed.value) ? parsed.value : null;
}

/** The commands of a stored payload, in order; empty when there is none to read. */
export function commandsOf(payload: JsonObject | null): readonly string[] {
  const set = payload === null ? undefined : valueAt(payload, "command_set");
  if (!isArray(set)) return [];
  return set.flatMap((one) => {
    const command = isObject(one) ? valueAt(one, "command") : undefined;
    return typeof command === "string" ? [command] : [];
  });
}
