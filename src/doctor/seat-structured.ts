/** The check of an answer by schema: which way of asking for it works. */
import type { Seat } from "../core/config/seat.ts";
import type { JsonObject } from "../core/json/value.ts";
import { grammarOf } from "../core/schema/grammar.ts";
import { responseSchemaOf } from "../core/schema/response.ts";
import type { Endpoint } from "../core/seat/endpoint.ts";
import { modesFor } from "../core/seat/modes.ts";
import { judgeStructured, structuredMessages } from "../core/seat/structured.ts";
import type { Finding } from "./check.ts";
import { ask, faultOf, type Say } from "./seat-chat.ts";
import type { World } from "./world.ts";

const SCHEMA: JsonObject = {
  type: "object",
  properties: { ok: { type: "string", enum: ["yes"] } },
  required: ["ok"],
  additionalProperties: false,
};

export async function* structuredFindings(
  world: World,
  endpoint: Endpoint,
  seat: Seat,
  say: Say,
): AsyncGenerator<Finding> {
  const { schema, text: schemaText } = responseSchemaOf(SCHEMA);
  const passedOver: string[] = [];
  for (const mode of modesFor(seat.engine, true)) {
    const answer = await ask(world, endpoint, {
      messages: structuredMessages({
        schema: SCHEMA,
        schemaText,
        mode,
        answer: "ok is yes",
        room: 1000,
        errors: [],
      }),
      max_tokens: 256,
      constraint: { mode, schema, grammar: grammarOf(SCHEMA) },
    });
    if (answer.kind === "mode_refused") {
      passedOver.push(`${mode} is refused`);
      continue;
    }
    if (answer.kind !== "answered") return yield faultOf("structured", answer, say);
    const judged = judgeStructured(answer.completion.content, SCHEMA, SCHEMA);
    if (judged.kind === "valid") {
      const behind = passedOver.length === 0 ? "" : ` (${passedOver.join(", ")})`;
      return yield say.pass("structured", `It answers by schema in the mode ${mode}${behind}`);
    }
    passedOver.push(`${mode} is ${judged.kind === "ignored" ? "ignored" : "not kept to"}`);
  }
  yield say.fail("structured", `It does not answer by schema: ${passedOver.join(", ")}`);
}
