/** Layer 2 of the validator: what only the store can say of an envelope. Runs when the form has no issue. */
import { isObject, type JsonObject, valueAt } from "../json/value.ts";
import type { Issue } from "../result.ts";

/**
 * @param statusOf the status of an approval, or null when there is none of that id; a lookup that fails throws
 *                 nothing here and counts as null
 * @returns at most one issue, `APPROVAL_ID_NOT_PENDING`
 */
export function crossCheck(envelope: JsonObject, statusOf: (approvalId: string) => string | null): readonly Issue[] {
  const request = valueAt(envelope, "approval_request");
  if (!isObject(request)) return [];
  const value = valueAt(request, "approval_id");
  if (value === null || value === undefined) return [];
  const id = (typeof value === "string" ? value : JSON.stringify(value)).trim();
  if (id === "") return [];
  const status = statusOf(id);
  if (status === "pending") return [];
  return [
    {
      code: "APPROVAL_ID_NOT_PENDING",
      path: "approval_request.approval_id",
      message: status === null ? `No approval has the id "${id}"` : `The approval "${id}" is ${status}, not pending`,
      hint: `Copy the id verbatim from the output of: writ approvals request (here "${id}" is ${status ?? "unknown"})`,
    },
  ];
}
