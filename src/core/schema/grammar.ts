/**
 * A schema's shape as a grammar that a model's output can be forced into (GBNF of llama.cpp). It takes every field, in
 * field order and once; white space is bounded, since a small model left free writes it until its budget is gone.
 */
import type { JsonObject } from "../json/value.ts";
import { type ObjectShape, type Shape, shapeOf } from "./shape.ts";

/** The terminals, in the order in which they are written. */
const TERMINALS: readonly (readonly [name: string, body: string])[] = [
  ["ws", "[ \\t\\n]{0,20}"],
  [
    "string",
    '"\\"" ( [^"\\\\\\x00-\\x1F] | "\\\\" ( ["\\\\/bfnrt] | "u" [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F] ) )* "\\""',
  ],
  ["stringlist", '"[" ws ( string ( ws "," ws string )* )? ws "]"'],
  ["number", '"-"? ( "0" | [1-9] [0-9]* ) ( "." [0-9]+ )? ( [eE] [-+]? [0-9]+ )?'],
  ["integer", '"-"? ( "0" | [1-9] [0-9]* )'],
  ["boolean", '"true" | "false"'],
];

type Nested = { readonly name: string; readonly shape: Shape };

/**
 * The grammar of a schema: `root`, then a rule for each nested object (`o1`, …) and list (`l1`, …) in the order in which
 * they are first used, then the terminals that are used.
 *
 * @param schema read with bounded nesting; a schema without compilable properties gives the grammar of `{}`
 * @returns      the same text for the same schema, with a line end behind each rule
 * Source: https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md
 */
export function grammarOf(schema: JsonObject): string {
  const writer = new Writer();
  const rules = [`root ::= ${writer.object(shapeOf(schema))}`];
  for (const { name, shape } of writer.nested) rules.push(`${name} ::= ${writer.body(shape)}`);
  for (const [name, body] of TERMINALS) if (writer.terminals.has(name)) rules.push(`${name} ::= ${body}`);
  return `${rules.join("\n")}\n`;
}

class Writer {
  /** Grows while its bodies are written. */
  readonly nested: Nested[] = [];
  readonly terminals = new Set<string>(["ws"]);
  private objects = 0;
  private lists = 0;

  body(shape: Shape): string {
    if (shape.kind === "object") return this.object(shape);
    const item = this.use(shape.kind === "list" ? shape.item : shape);
    return `"[" ws ( ${item} ( ws "," ws ${item} )* ws )? "]"`;
  }

  object({ fields }: ObjectShape): string {
    if (fields.length === 0) return '"{" ws "}"';
    const members = fields.map(({ key, shape }) => `${literal(key)} ws ":" ws ${this.use(shape)}`);
    return `"{" ws ${members.join(' ws "," ws ')} ws "}"`;
  }

  /** What stands for a shape inside of another. */
  private use(shape: Shape): string {
    switch (shape.kind) {
      case "enum":
        return `( ${[...new Set(shape.values)].map(literal).join(" | ")} )`;
      case "object":
        this.objects += 1;
        return this.nest(`o${this.objects}`, shape);
      case "list":
        if (shape.item.kind === "string") {
          this.terminals.add("string");
          return this.terminal("stringlist");
        }
        this.lists += 1;
        return this.nest(`l${this.lists}`, shape);
      default:
        return this.terminal(shape.kind);
    }
  }

  private nest(name: string, shape: Shape): string {
    this.nested.push({ name, shape });
    return name;
  }

  private terminal(name: string): string {
    this.terminals.add(name);
    return name;
  }
}

/** A text as a JSON literal in its shortest form, as a literal of the grammar. */
function literal(text: string): string {
  // JSON has already made escapes of all control characters, line ends among them.
  return `"${JSON.stringify(text).replace(/["\\]/g, "\\$&")}"`;
}
