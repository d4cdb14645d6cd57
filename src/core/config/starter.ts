/** The config that `writ config init` writes: every key with its value, and the seats that answered. */
import { type JsonObject, type JsonValue, prettyJson } from "../json/value.ts";
import { BUILT_IN } from "./read.ts";
import { type FoundSeat, MODEL_PATTERN, type Seat } from "./seat.ts";
import { OLLAMA_WINDOW, seatWith } from "./seat-with.ts";

/**
 * A seat for a server that answered, named after its model.
 *
 * @param taken names that other seats have
 * @returns     null when it lists no model that a request can name
 */
export function starterSeat(baseUrl: string, found: FoundSeat, taken: ReadonlySet<string>): Seat | null {
  const model = found.models.find((each) => MODEL_PATTERN.pattern.test(each));
  if (model === undefined) return null;
  return seatWith({
    name: freeName(model, taken),
    base_url: baseUrl,
    model,
    engine: found.engine,
    proxy: found.proxy,
    // The others tell it whenever they are asked; what ollama has loaded is its window.
    ctx_tokens: found.engine === "ollama" ? (found.ctx_tokens ?? OLLAMA_WINDOW) : 0,
    ...(found.takes_tools === false ? { tools: false } : {}),
  });
}

/** The text of the file. It reads without an issue, whatever was found. */
export function starterText(seats: readonly Seat[]): string {
  const { $schema, ...values } = BUILT_IN.values;
  const config = { ...values, seats, default_seat: seats[0]?.name ?? "" };
  return `${prettyJson(config as unknown as JsonObject satisfies JsonValue)}\n`;
}

/** `org/Qwen3-8B:q4` is `Qwen3-8B-q4`. */
function freeName(model: string, taken: ReadonlySet<string>): string {
  const last = model.split("/").findLast((part) => part !== "") ?? "";
  const name = last.replaceAll(/[^A-Za-z0-9._-]+/g, "-").replace(/^[^A-Za-z0-9]+/, "");
  const base = name === "" ? "seat" : name.slice(0, 60);
  for (let n = 1; ; n += 1) {
    const each = n === 1 ? base : `${base}-${n}`;
    if (!taken.has(each)) return each;
  }
}
