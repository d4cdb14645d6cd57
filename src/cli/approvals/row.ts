/** How an approval is shown: with its commands whole, since consent is given to what is read. */
import type { ApprovalRow } from "../../core/approval/repository.ts";
import { commandsOf, readPayload } from "../../core/approval/request.ts";
import { type JsonObject, valueAt } from "../../core/json/value.ts";
import { oneLine } from "../table.ts";

const ASKED = ["command_set", "request_fingerprint", "exact_content"] as const;
const SAID = ["operation", "rationale", "scope", "risk_level", "rollback"] as const;

/** The row with its payload read; a payload that was edited into something else is shown as its text. */
export function documentOf({ id, payload, ...row }: ApprovalRow): JsonObject {
  const read = readPayload(payload);
  const { status, ...rest } = row;
  const asked = Object.fromEntries([...ASKED, ...SAID].map((key) => [key, read === null ? null : at(read, key)]));
  return { status, approval_id: id, ...asked, ...(read === null ? { payload } : {}), ...rest };
}

/** One line a command, then one for each thing that was said about them. */
export function requestLines(row: ApprovalRow): readonly string[] {
  const read = readPayload(row.payload);
  const said = SAID.flatMap((key) => {
    const text = read === null ? null : at(read, key);
    return typeof text === "string" && key !== "risk_level" ? [`    ${key}: ${oneLine(text)}`] : [];
  });
  return [...commandsOf(read).map((command) => `    $ ${command.replaceAll("\n", " ")}`), ...said];
}

function at(payload: JsonObject, key: string) {
  return valueAt(payload, key) ?? null;
}
