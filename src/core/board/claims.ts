/** What a turn says of itself, as far as it can be read: total over whatever a row holds. */
import { parseJson } from "../json/parse.ts";
import { isArray, isObject, type JsonObject, type JsonValue, valueAt } from "../json/value.ts";

export type Claims = {
  /** Null where the text is no JSON object, or was too large to be read. */
  readonly envelope: JsonObject | null;
  readonly status: JsonObject;
  readonly report: JsonObject;
  readonly verification: JsonObject | null;
  /** Non-blank; null where the verification carries none. */
  readonly command: string | null;
  /** Ids that the verification and the verbatim outputs cite, each once; only those that can be ids. */
  readonly cited: readonly number[];
};

/** Ids beyond this are not looked up. */
const MOST_CITED = 100;

export function readClaims(rawHandoffJson: string): Claims {
  const parsed = parseJson(rawHandoffJson);
  const envelope = parsed.ok && isObject(parsed.value) ? parsed.value : null;
  const status = objectAt(envelope, "agent_status") ?? {};
  const report = objectAt(envelope, "evidence_report") ?? {};
  const verification = objectAt(report, "verification");
  const command = verification === null ? undefined : valueAt(verification, "command");
  const ids = verification === null ? [] : listAt(verification, "evidence_ids");
  const quoted = listAt(report, "verbatim_outputs").flatMap((one) =>
    isObject(one) ? [valueAt(one, "evidence_id") ?? null] : [],
  );
  const cited = [...ids, ...quoted].filter((id): id is number => Number.isSafeInteger(id) && (id as number) > 0);
  return {
    envelope,
    status,
    report,
    verification,
    command: typeof command === "string" && command.trim() !== "" ? command : null,
    cited: [...new Set(cited)].slice(0, MOST_CITED),
  };
}

/** The list at a key; empty where there is none, or something else. */
export function listAt(object: JsonObject, key: string): readonly JsonValue[] {
  const value = valueAt(object, key);
  return isArray(value) ? value : [];
}

export function objectAt(object: JsonObject | null, key: string): JsonObject | null {
  const value = object === null ? undefined : valueAt(object, key);
  return isObject(value) ? value : null;
}

/** The text at a key; null where there is none, or something else. */
export function textAt(object: JsonObject, key: string): string | null {
  const value = valueAt(object, key);
  return typeof value === "string" ? value : null;
}
