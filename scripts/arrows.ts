/**
 * Checks which way the imports of `src/` run, and that the core stays pure. Prints one line for each violation.
 *
 *   main -> { cli mcp } -> { workflows, adapters } -> core
 *
 * Run: bun scripts/arrows.ts [FOLDER]; ends in 1 when anything is wrong, 2 when there is nothing to look at.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";

export type Violation = { readonly file: string; readonly line: number; readonly message: string };

const DOORS = ["cli", "mcp"];
const WORKFLOWS = [
  "editor",
  "record",
  "delegate",
  "seat",
  "node",
  "gate",
  "brief",
  "context",
  "evidence",
  "approval",
  "task",
  "attest",
  "prove",
  "hooks",
  "doctor",
  "board",
  "author",
  "config",
];
const ADAPTERS = ["store", "wire", "llm", "host"];
const ROOMS = ["core", ...DOORS, ...WORKFLOWS, ...ADAPTERS];
/** The libraries that compute and do nothing else. */
const CORE_PACKAGES = [
  "valibot",
  "diff",
  "yaml-ast-parser",
  "re2js",
  "@cfworker/json-schema",
  "@valibot/to-json-schema",
  "@rgrove/parse-xml",
];
const ROOMS_FOR_NOTHING = ["utils", "helpers", "common", "lib"];

/** What the core may not touch, each with what it is called in the message. */
const IMPURE: readonly (readonly [RegExp, string])[] = [
  [/(?<![.\w$])Bun\s*(?:\.|\?\.|\[)/g, "the Bun global"],
  [/(?<![.\w$])process\s*(?:\.|\?\.|\[)/g, "process"],
  [/(?<![.\w$])globalThis\b/g, "globalThis"],
  [/(?<![.\w$])Date\s*\.\s*now\b/g, "Date.now"],
  [/(?<![.\w$])new\s+Date\s*(?:\(\s*\)|(?![\s(\w.]))/g, "new Date() of this moment"],
  [/(?<![.\w$])Math\s*\.\s*random\b/g, "Math.random"],
];

type Import = { readonly specifier: string; readonly line: number };
type Source = { readonly room: string; readonly imports: readonly Import[]; readonly code: string };

/**
 * Everything wrong in a source tree, in the order of files and lines.
 *
 * @param root the folder that holds `main.ts` and the rooms; file names in the answer are relative to it
 * Errors: throws when the folder cannot be read
 */
export function findViolations(root: string): readonly Violation[] {
  const files = readdirSync(root, { recursive: true, encoding: "utf8" })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => file.endsWith(".ts"))
    .sort();
  const sources = new Map<string, Source>();
  for (const file of files) {
    const text = readFileSync(join(root, file), "utf8");
    sources.set(file, { room: roomOf(file), imports: importsOf(text), code: blank(text, false) });
  }
  const violations: Violation[] = [];
  for (const [file, source] of sources) {
    const found: Violation[] = [];
    const report = (line: number, message: string) => found.push({ file, line, message });
    checkName(file, source.room, report);
    for (const each of source.imports) checkImport(file, source.room, each, report);
    if (source.room === "core") checkPurity(source.code, report);
    violations.push(...found.sort((left, right) => left.line - right.line));
  }
  return [...violations, ...findCycles(sources)];
}

type Report = (line: number, message: string) => void;

function checkName(file: string, room: string, report: Report): void {
  const segments = file.replace(/\.ts$/, "").split("/");
  const banned = segments.find((segment) => ROOMS_FOR_NOTHING.includes(segment));
  if (banned !== undefined) report(1, `"${banned}" is no room: what fits no room shows a missing room`);
  else if (segments.at(-1) === "types") report(1, '"types.ts" is no room: a type lives with what it is the type of');
  else if (room !== "main" && !ROOMS.includes(room)) report(1, `"${room}" is not on the map of rooms`);
}

function checkImport(file: string, room: string, { specifier, line }: Import, report: Report): void {
  if (!specifier.startsWith(".")) {
    const builtIn = /^(node|bun)(:|$)/.test(specifier);
    const name = packageOf(specifier);
    if (room === "core" && !CORE_PACKAGES.includes(name)) report(line, `core imports "${specifier}"`);
    if (WORKFLOWS.includes(room)) {
      report(line, `workflow ${room} imports ${builtIn ? "the machine" : "a library"}: "${specifier}"`);
    }
    return;
  }
  const target = resolved(file, specifier);
  if (target.startsWith("..")) {
    if (room === "core" || WORKFLOWS.includes(room)) report(line, `${room} imports "${specifier}" from outside src`);
    return;
  }
  const other = roomOf(target);
  if (other === room || room === "main") return;
  if (other === "main") report(line, `${room} imports main`);
  else if (room === "core") report(line, `core imports ${other}: "${specifier}"`);
  else if (other === "core" || DOORS.includes(room)) return;
  else if (WORKFLOWS.includes(room)) report(line, `workflow ${room} imports ${other}: "${specifier}"`);
  else if (ADAPTERS.includes(room)) report(line, `adapter ${room} imports ${other}: "${specifier}"`);
}

function checkPurity(code: string, report: Report): void {
  for (const [pattern, name] of IMPURE) {
    for (const match of code.matchAll(pattern)) report(lineAt(code, match.index), `core uses ${name}`);
  }
}

/** Each circle once, at the import that closes it; found depth first, with a stack of its own. */
function findCycles(sources: ReadonlyMap<string, Source>): readonly Violation[] {
  const violations: Violation[] = [];
  const done = new Set<string>();
  for (const start of sources.keys()) {
    if (done.has(start)) continue;
    const path = [start];
    const next = [0];
    while (path.length > 0) {
      const file = path.at(-1) ?? "";
      const index = next[next.length - 1] ?? 0;
      next[next.length - 1] = index + 1;
      const each = sources.get(file)?.imports[index];
      if (each === undefined) {
        done.add(file);
        path.pop();
        next.pop();
        continue;
      }
      if (!each.specifier.startsWith(".")) continue;
      const target = resolved(file, each.specifier);
      const from = path.indexOf(target);
      if (from >= 0) {
        const circle = [...path.slice(from), target].join(" -> ");
        violations.push({ file, line: each.line, message: `circle of imports: ${circle}` });
      } else if (sources.has(target) && !done.has(target)) {
        path.push(target);
        next.push(0);
      }
    }
  }
  return violations;
}

function roomOf(file: string): string {
  const first = file.split("/")[0] ?? "";
  return first === "main.ts" ? "main" : first;
}

function packageOf(specifier: string): string {
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}

function resolved(file: string, specifier: string): string {
  return normalize(join(dirname(file), specifier)).replaceAll("\\", "/");
}

/** Static, dynamic and type imports, and re-exports; those inside comments and strings do not count. */
function importsOf(text: string): readonly Import[] {
  const code = blank(text, true);
  const found: Import[] = [];
  const patterns = [
    /(?<![.\w$])(?:import|export)\b(?=[^;"'()]*?\bfrom\s*["'])[^;"'()]*?\bfrom\s*(["'])(.*?)\1/g,
    /(?<![.\w$])import\s*(["'])(.*?)\1/g,
    /(?<![.\w$])(?:import|require)\s*\(\s*(["'`])(.*?)\1/g,
  ];
  for (const pattern of patterns) {
    for (const match of code.matchAll(pattern)) {
      const specifier = match[2] ?? "";
      const at = match.index + match[0].lastIndexOf(specifier);
      // In the blanked text a string keeps its quotes and its place; what it says stands in the original.
      found.push({ specifier: text.slice(at, at + specifier.length), line: lineAt(text, at) });
    }
  }
  return found.sort((left, right) => left.line - right.line);
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split("\n").length;
}

/**
 * The text with comments, strings and regular expressions blanked, lines and columns kept; the code inside
 * `${}` stays. With `keepQuotes`, quotes stay, and what is between them becomes "x".
 */
function blank(text: string, keepQuotes: boolean): string {
  const out =
    [...text].length === text.length ? text.split("") : Array.from({ length: text.length }, (_, i) => text[i] ?? "");
  const braces: number[] = [];
  let depth = 0;
  let before = "";
  const hide = (from: number, to: number, filler: string) => {
    for (let index = from; index < to; index++) if (out[index] !== "\n") out[index] = filler;
  };
  const hideString = (from: number, to: number) => {
    if (!keepQuotes) return hide(from, to, " ");
    hide(from + 1, to - 1, "x");
  };
  let at = 0;
  while (at < text.length) {
    const char = text[at] ?? "";
    const pair = text.slice(at, at + 2);
    if (pair === "//" || pair === "/*") {
      const close = pair === "//" ? text.indexOf("\n", at) : text.indexOf("*/", at + 2);
      const end = close < 0 ? text.length : pair === "//" ? close : close + 2;
      hide(at, end, " ");
      at = end;
      continue;
    }
    if (char === '"' || char === "'") {
      const end = stringEnd(text, at, char);
      hideString(at, end);
      at = end;
      before = '"';
      continue;
    }
    if (char === "`" || (char === "}" && braces.at(-1) === depth)) {
      if (char === "}") braces.pop();
      let end = at + 1;
      while (end < text.length && text[end] !== "`" && text.slice(end, end + 2) !== "${")
        end += text[end] === "\\" ? 2 : 1;
      const opens = text[end] === "$";
      if (opens) hide(at + 1, end, " ");
      else hideString(at, Math.min(text.length, end + 1));
      if (opens) braces.push(depth);
      at = Math.min(text.length, opens ? end + 2 : end + 1);
      before = opens ? "{" : '"';
      continue;
    }
    if (char === "/" && opensRegex(before)) {
      const end = regexEnd(text, at);
      hide(at, end, " ");
      at = end;
      before = '"';
      continue;
    }
    if (char === "{") depth += 1;
    if (char === "}") depth -= 1;
    const word = /[\w$]+/y;
    word.lastIndex = at;
    const found = word.exec(text)?.[0];
    if (found !== undefined) before = found;
    else if (!/\s/.test(char)) before = char;
    at += found?.length ?? 1;
  }
  return out.join("");
}

/** A slash begins a regular expression where no value stands before it. */
function opensRegex(before: string): boolean {
  return (
    before === "" ||
    /^(?:[(,=:[!&|?{};+\-*%~^<>]|return|typeof|case|in|of|do|else|await|yield|void|delete)$/.test(before)
  );
}

function stringEnd(text: string, at: number, quote: string): number {
  let index = at + 1;
  while (index < text.length && text[index] !== quote && text[index] !== "\n") index += text[index] === "\\" ? 2 : 1;
  return Math.min(text.length, index + 1);
}

function regexEnd(text: string, at: number): number {
  let index = at + 1;
  let inClass = false;
  while (index < text.length && text[index] !== "\n" && (inClass || text[index] !== "/")) {
    if (text[index] === "[") inClass = true;
    if (text[index] === "]") inClass = false;
    index += text[index] === "\\" ? 2 : 1;
  }
  return Math.min(text.length, index + 1);
}

function main(argv: readonly string[]): number {
  const root = argv[0] ?? join(import.meta.dir, "..", "src");
  if (!existsSync(root)) {
    console.error(`Error: There is no folder "${root}"`);
    return 2;
  }
  if (!readdirSync(root, { recursive: true, encoding: "utf8" }).some((file) => file.endsWith(".ts"))) {
    console.error(`Error: There is no source file in "${root}"`);
    return 2;
  }
  const violations = findViolations(root);
  for (const { file, line, message } of violations)
    console.log(`${join(relative(process.cwd(), root), file)}:${line}: ${message}`);
  console.error(violations.length === 0 ? "The arrows run as drawn" : `${violations.length} violation(s)`);
  return violations.length === 0 ? 0 : 1;
}

if (import.meta.main) process.exitCode = main(process.argv.slice(2));
