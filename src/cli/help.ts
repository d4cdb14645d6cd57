/**
 * Help: of writ itself, of a group, of a command. Rendering is pure; two functions at the end print.
 *
 * A page fits the width it is given, but for lines that are there to be copied: examples stay whole, and for single
 * words that are wider than the page.
 */
import { EXIT, WritError } from "../core/error.ts";
import { isTerminal, writeAll } from "../host/stream.ts";
import type { AnyCommand } from "./command.ts";
import { declarationOf, type Option, usageOf } from "./declaration.ts";
import type { Face, Node, Nodes, Topics } from "./node.ts";
import { type Look, plainLook, type Row, rows, wrap } from "./page.ts";
import { openOutput } from "./print.ts";
import type { Route } from "./route.ts";
import { EXAMPLES, FACES, TOPICS } from "./tree.ts";
import { pageWidth } from "./width.ts";

/** The lines of a terminal that nobody has resized. */
const SCREEN_LINES = 24;

/**
 * The page of writ itself: its commands by face, each with its line; with blank lines between the faces while that
 * fits one screen of 24 lines.
 */
export function renderTopHelp(faces: readonly Face[], topics: Topics, examples: readonly string[], look: Look): string {
  const head = wrap("Hand work to coding agents, and count a claim only with its evidence", look.width, "");
  const typed = examples.map((example) => `  ${example}`);
  const about = Object.entries(topics).map(([name, topic]) => `"writ help ${name}": ${topic.summary}`);
  const foot = [...about, '"writ help COMMAND" tells more; every command takes --help, most take --json'].flatMap(
    (line) => wrap(line, look.width, "", "  "),
  );
  const sections = faces.map((face) => [...titled(face.title, look), ...rows(rowsOf(face.commands), look, 2)]);
  const airy = [head, typed, ...sections, foot].flatMap((part) => [...part, ""]).slice(0, -1);
  return (airy.length < SCREEN_LINES ? airy : [...head, ...typed, ...sections.flat(), ...foot]).join("\n");
}

function titled(title: string, look: Look): readonly string[] {
  return wrap(title, look.width, "").map(look.title);
}

/** The page of a group: its line and its commands. */
export function renderGroupHelp(words: readonly string[], node: Node, look: Look): string {
  const group = ["writ", ...words].join(" ");
  return [
    ...wrap(node.summary, look.width, ""),
    "",
    look.title("Usage"),
    ...wrap(`${group} COMMAND [options]`, look.width, "  ", "      "),
    "",
    look.title("Commands"),
    ...rows(rowsOf(node.commands ?? {}), look, 2),
    "",
    ...wrap(`"${group} COMMAND --help" tells more`, look.width, ""),
  ].join("\n");
}

/** The page of a command: its line, examples, usage, operands, options, exit statuses, notes. */
export function renderCommandHelp(command: AnyCommand, commands: Nodes, look: Look): string {
  const { operands, options } = declarationOf(command);
  const lines = [...wrap(command.meta.description, look.width, ""), ""];
  const section = (title: string, content: readonly string[]) => {
    if (content.length > 0) lines.push(look.title(title), ...content, "");
  };
  const operandRows: Row[] = operands.map((operand) => [
    operand.multiple ? `${operand.name}...` : operand.name,
    sentence(operand.description, operand.default === undefined ? [] : [`default ${operand.default}`]),
  ]);
  if (command.rest !== undefined) operandRows.push([`-- ${command.rest.name}`, command.rest.description]);
  section(
    "Examples",
    command.examples.map((example) => `  ${example}`),
  );
  section(
    "Usage",
    usageOf(command).flatMap((line) => wrap(line, look.width, "  ", "      ")),
  );
  section("Commands", rows(rowsOf(commands, `${command.meta.name} `), look, 2));
  section("Operands", rows(operandRows, look, 2));
  section("Options", rows(options.map(optionRow), look, 2));
  section("Exit status", rows(Object.entries(command.exits), look, 2));
  section(
    "Notes",
    (command.notes ?? []).flatMap((note) => wrap(note, look.width, "  ")),
  );
  return lines.slice(0, -1).join("\n");
}

function optionRow(option: Option): Row {
  const spellings = [
    ...option.aliases.filter(isLetter),
    option.flag,
    ...option.aliases.filter((alias) => !isLetter(alias)),
  ];
  if (option.negated !== null) spellings.push(option.negated);
  const extra: string[] = [];
  if (option.required) extra.push("required");
  if (option.multiple) extra.push("may be given several times");
  if (typeof option.default === "string") extra.push(`default ${option.default}`);
  return [
    [spellings.join(", "), option.valueName].filter((part) => part !== null).join(" "),
    sentence(option.description, extra),
  ];
}

function isLetter(flag: string): boolean {
  return !flag.startsWith("--");
}

function sentence(text: string, extra: readonly string[]): string {
  return extra.length === 0 ? text : `${text} (${extra.join(", ")})`.trimStart();
}

function rowsOf(nodes: Nodes, prefix = ""): readonly Row[] {
  return Object.entries(nodes).map(([name, node]) => [`${prefix}${name}`, node.summary]);
}

/** Prints the help of a command, because it was asked for. */
export async function printCommandHelp(command: AnyCommand, node: Node, json: boolean): Promise<number> {
  return await printPage(1, json, (look) => renderCommandHelp(command, node.commands ?? {}, look));
}

/**
 * Prints the help of a group or of writ itself: on standard output when it was asked for, else on standard
 * error, since then the words stopped short of a command.
 *
 * Errors: `usage` when no help was asked for and standard output is owed a document
 */
export async function printGroupHelp(found: Route, json: boolean): Promise<number> {
  const { words, node } = found;
  const asked = found.wanted === "help";
  const group = ["writ", ...words].join(" ");
  if (!asked && json) {
    throw new WritError("usage", `"${group}" needs a command`, { hint: `"${group} --help" lists them` });
  }
  await printPage(asked ? 1 : 2, json, (look) =>
    node === null ? renderTopHelp(FACES, TOPICS, EXAMPLES, look) : renderGroupHelp(words, node, look),
  );
  return asked ? EXIT.ok : EXIT.usage;
}

/** Prints a page about something that is no command. */
export async function printTopic(name: string, json: boolean): Promise<number> {
  const topic = TOPICS[name];
  if (topic === undefined) throw new Error(`There is no topic ${name}`);
  const { render } = await topic.load();
  return await printPage(1, json, render);
}

async function printPage(fd: 1 | 2, json: boolean, render: (look: Look) => string): Promise<number> {
  const width = pageWidth(fd, process.env.COLUMNS);
  if (json) openOutput().document({ ok: true, help: render(plainLook(width)) });
  else writeAll(fd, `${render(await lookOf(fd, width))}\n`);
  return EXIT.ok;
}

/** Colour where this very stream is a terminal that wants it; elsewhere the colour library is not even loaded. */
async function lookOf(fd: 1 | 2, width: number): Promise<Look> {
  const { NO_COLOR, TERM } = process.env;
  if ((NO_COLOR ?? "") !== "" || TERM === "dumb" || TERM === "" || !isTerminal(fd)) return plainLook(width);
  const { createColors } = (await import("picocolors")).default;
  const colors = createColors(true);
  return { width, title: colors.bold, name: colors.cyan };
}
