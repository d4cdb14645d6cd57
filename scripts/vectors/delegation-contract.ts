/** Runs the cases of area "delegation-contract": a contract file, read whole. */
import { readContracts } from "../../src/core/delegation/contract.ts";
import { JUDGES } from "../../src/core/delegation/judges.ts";
import { isArray, isObject, type JsonObject, type JsonValue, valueAt } from "../../src/core/json/value.ts";

type Input = { readonly file_text: string } | { readonly file_template: JsonValue };

/** @returns what the case should expect; undefined when it names an operation, which this area has not */
export function run(op: string, input: unknown): unknown {
  if (op !== "") return undefined;
  const given = input as Input;
  const text = "file_text" in given ? given.file_text : JSON.stringify(unfold(given.file_template));
  const { issues, subtasks } = readContracts(text, JUDGES);
  if (issues.length > 0) return { ok: false, error: issues[0]?.code };
  return {
    ok: true,
    subtasks: subtasks.map(({ contract }) => ({
      goal: contract.goal,
      max_steps: contract.max_steps,
      timeout_sec: contract.timeout_sec,
      depth: contract.depth,
      schema_version: contract.schema_version,
      docs: contract.context.length,
      acceptance: contract.acceptance.length,
    })),
  };
}

/** A template with the texts that it describes: `repeat: {text, count}` stands for a `text` that is too long to write. */
function unfold(value: JsonValue): JsonValue {
  if (isArray(value)) return value.map(unfold);
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([key, member]) =>
    key === "repeat" && isObject(member) ? ["text", repeated(member)] : [key, unfold(member)],
  );
  return Object.fromEntries(members) as JsonObject;
}

function repeated(repeat: JsonObject): string {
  return String(valueAt(repeat, "text")).repeat(Number(valueAt(repeat, "count")));
}
