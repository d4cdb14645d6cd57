/**
 * Writes the reference pages from the declarations: docs/reference/commands.md, errors.md and tools.md.
 *
 * Run: bun scripts/reference.ts           writes them
 *      bun scripts/reference.ts --check   ends in 1 when one of them is stale, writing nothing
 */
import type { AnyCommand } from "../src/cli/command.ts";
import { declarationOf, usageOf } from "../src/cli/declaration.ts";
import type { Nodes } from "../src/cli/node.ts";
import { FACES } from "../src/cli/tree.ts";
import { ERROR_CODES, EXIT, type ExitName } from "../src/core/error.ts";
import { isArray, isObject, type JsonObject, type JsonValue, valueAt } from "../src/core/json/value.ts";
import { TOOLS } from "../src/mcp/tools.ts";
import { keepMade } from "./made-files.ts";
import { ISSUE_CODES } from "./pages/issue-codes.ts";

const MADE = "<!-- Written by scripts/reference.ts from the declarations; edit those. -->";

const EXIT_MEANINGS: Readonly<Record<ExitName, string>> = {
  ok: "done, or the answer is yes",
  no: "looked at and found wanting",
  usage: "the command line or a document makes no sense; nothing ran",
  refused: "understood, but the state forbids it",
  unavailable: "something needed did not answer",
  internal: "a defect in writ",
};

/** Every command, in the order of the help, each with its options, exit statuses and notes. */
export async function renderCommands(): Promise<string> {
  const parts = ["# Commands", MADE];
  for (const face of FACES) {
    parts.push(`## ${face.title}`, ...(await renderNodes(face.commands)));
  }
  return `${parts.join("\n\n")}\n`;
}

/** Every error code with its exit status, in the order of the table. */
export function renderErrors(): string {
  const statuses = Object.entries(EXIT).map(([name, status]) => [`${status}`, name, EXIT_MEANINGS[name as ExitName]]);
  const codes = Object.entries(ERROR_CODES).map(([code, [exit, text]]) => [`\`${code}\``, `${EXIT[exit]}`, text]);
  return `${[
    "# Errors",
    MADE,
    "With `--json` an error is one document on standard output, with `ok` false, `status`, `code`, `path`, `message` and `hint`. A document with `ok` false and without a `code` is no error but a verdict: what was asked for was looked at and is not so, or could not be looked at, and the command's own members say what was found. [Documents](documents.md#a-verdict-or-an-error) says which commands give one, and what each document holds.",
    "## Exit statuses",
    table(["status", "name", "meaning"], [...statuses, ["128+n", "signal", "stopped by signal n"]]),
    "## Codes",
    "`code` of an error. The stops of a handoff brief stand [below](#of-a-handoff-brief).",
    table(["code", "status", "when"], codes),
    "## Codes inside a document",
    "The second level: what is in the lists of a document. They are stable as well; the messages beside them are not.",
    ...ISSUE_CODES.flatMap(({ title, where, codes: inside }) => [
      `### ${title}`,
      where,
      table(
        ["code", "when"],
        Object.entries(inside).map(([code, when]) => [`\`${code}\``, when]),
      ),
    ]),
  ].join("\n\n")}\n`;
}

/** Every tool of `writ mcp`, in the order in which clients list them, each with its arguments. */
export async function renderTools(): Promise<string> {
  const parts = ["# Tools", MADE, "What `writ mcp` serves. [MCP](../mcp.md) says how a client starts it."];
  for (const { load } of Object.values(TOOLS)) {
    const { name, description, inputSchema } = (await load()).tool;
    const rows = propertyRows(inputSchema, "");
    parts.push(`## ${name}`, description);
    parts.push(rows.length === 0 ? "It takes no arguments." : table(["argument", "type", "meaning"], rows));
  }
  return `${parts.join("\n\n")}\n`;
}

/** A row for each member of an object, and under a list of objects one for each of theirs. */
function propertyRows(schema: JsonObject, prefix: string): readonly (readonly string[])[] {
  const properties = valueAt(schema, "properties");
  const required = valueAt(schema, "required");
  if (!isObject(properties)) return [];
  return Object.entries(properties).flatMap(([name, property]) => {
    if (!isObject(property)) return [];
    const isRequired = isArray(required) && required.includes(name);
    const meaning = [valueAt(property, "description") ?? "", ...(isRequired ? ["(required)"] : [])].join(" ").trim();
    const items = valueAt(property, "items");
    const inner = isObject(items)
      ? propertyRows(items, `${prefix}${name}[].`)
      : propertyRows(property, `${prefix}${name}.`);
    return [[`\`${prefix}${name}\``, typeText(property), meaning], ...inner];
  });
}

function typeText(schema: JsonObject): string {
  const type = valueAt(schema, "type");
  const choices = valueAt(schema, "enum");
  const preset = valueAt(schema, "default");
  const items = valueAt(schema, "items");
  const names = isArray(choices)
    ? choices.map((each) => `\`${text(each)}\``)
    : isArray(type)
      ? type.map(text)
      : [text(type ?? "any JSON")];
  const listed = isObject(items) ? [`array of ${typeText(items)}`] : names;
  return `${listed.join(", ")}${preset === undefined ? "" : ` (default \`${text(preset)}\`)`}`;
}

function text(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

async function renderNodes(nodes: Nodes): Promise<readonly string[]> {
  const parts: string[] = [];
  for (const node of Object.values(nodes)) {
    if (node.load !== undefined) parts.push(renderCommand((await node.load()).command));
    parts.push(...(await renderNodes(node.commands ?? {})));
  }
  return parts;
}

function renderCommand(command: AnyCommand): string {
  const { operands, options } = declarationOf(command);
  const rows = operands.map((operand) => [
    `\`${operand.name}${operand.multiple ? "..." : ""}\``,
    described(operand.description, operand.required, operand.default),
  ]);
  if (command.rest !== undefined) rows.push([`\`-- ${command.rest.name}\``, command.rest.description]);
  for (const option of options) {
    if (option.standard && option.key !== "json") continue;
    const spellings = [option.flag, ...option.aliases, ...(option.negated === null ? [] : [option.negated])];
    const value = option.valueName === null ? "" : ` ${option.valueName}`;
    const default_ = typeof option.default === "string" ? option.default : undefined;
    rows.push([
      spellings.map((flag) => `\`${flag}${value}\``).join(", "),
      described(option.description, option.required, default_) + (option.multiple ? " (several times)" : ""),
    ]);
  }
  const exits = Object.entries(command.exits).map(([status, text]) => [status, text]);
  return [
    `### writ ${command.meta.name}`,
    `${command.meta.description}.`,
    fenced("text", usageOf(command)),
    "For example:",
    fenced("sh", command.examples),
    ...(rows.length === 0 ? [] : [table(["argument", "meaning"], rows)]),
    table(["status", "when"], exits),
    ...(command.notes ?? []),
  ].join("\n\n");
}

function described(text: string, required: boolean, fallback: string | undefined): string {
  if (required) return `${text} (required)`;
  return fallback === undefined ? text : `${text} (default \`${fallback}\`)`;
}

function fenced(language: string, lines: readonly string[]): string {
  return [`\`\`\`${language}`, ...lines, "```"].join("\n");
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

if (import.meta.main) {
  process.exitCode = keepMade(process.argv.slice(2), "scripts/reference.ts", [
    ["docs/reference/commands.md", await renderCommands()],
    ["docs/reference/errors.md", renderErrors()],
    ["docs/reference/tools.md", await renderTools()],
  ]);
}
