/**
 * The settings file of Claude Code: the hooks that are in it, and a file's text with writ's own put in or taken out.
 * Nothing else of the text changes.
 *
 * `hooks` is an object of events; an event has a list of groups, `{"matcher", "hooks": [...]}`; a hook is a command, in
 * exec form (`command` and `args`) or as a line for a shell.
 */
import { WritError } from "../error.ts";
import { appendChild, type JsonContainer, mapJson, nodeOf, removeChild, replaceValue } from "../json/edit.ts";
import { parseJson } from "../json/parse.ts";
import { isArray, isObject, type JsonObject, type JsonValue, sameJson, valueAt } from "../json/value.ts";
import { HARNESSES, type Harness } from "../record/hook.ts";
import { ADAPTERS, HOOK_TIMEOUT_SEC, recordArguments } from "./harness.ts";

/** A command hook as a file has it. */
export type FoundHook = {
  readonly event: string;
  /** Where it is: `hooks.<event>[group].hooks[index]`. */
  readonly group: number;
  readonly index: number;
  /** Null where the group names none: every tool. */
  readonly matcher: string | null;
  readonly command: string;
  /** Null where the command is a line for a shell. */
  readonly args: readonly string[] | null;
  readonly isAsync: boolean;
  /** What it calls of writ; null where it is somebody else's hook. */
  readonly writ: WritCall | null;
};

export type WritCall = {
  /** The words that start writ; null for a shell line that is more than plain words. */
  readonly program: readonly string[] | null;
  readonly harness: Harness;
  readonly gate: number;
};

/** What is put in: whose settings they are, the words that start writ, how often a turn is sent back. */
export type Wanted = { readonly harness: Harness; readonly program: readonly string[]; readonly gate: number };

export type Planned = {
  /** The text to be written; what was given where nothing is to be done. */
  readonly text: string;
  /** The events whose hooks were put in, changed or taken out, each once. */
  readonly events: readonly string[];
};

/** What a file holds. Errors: `bad_json` with the position, `settings_refused` where it is no object. */
export function parseSettings(text: string, path: string): JsonObject {
  const parsed = parseJson(text);
  if (!parsed.ok) {
    const { line, column, message } = parsed.fault;
    throw new WritError("bad_json", `Cannot read "${path}": line ${line}, column ${column}: ${message}`, {
      path,
      hint: "Mend the file first; nothing was changed",
    });
  }
  if (isObject(parsed.value)) return parsed.value;
  throw unfit(path, "it is no JSON object");
}

/** Every command hook, in the order of the file. What is not of the shape is passed over. Errors: none */
export function findHooks(settings: JsonObject): readonly FoundHook[] {
  const hooks = valueAt(settings, "hooks");
  const found: FoundHook[] = [];
  for (const [event, groups] of Object.entries(isObject(hooks) ? hooks : {})) {
    for (const [group, each] of (isArray(groups) ? groups : []).entries()) {
      if (!isObject(each)) continue;
      const handlers = valueAt(each, "hooks");
      const matcher = valueAt(each, "matcher");
      for (const [index, handler] of (isArray(handlers) ? handlers : []).entries()) {
        const hook = readHandler(handler);
        if (hook === null) continue;
        found.push({ event, group, index, matcher: typeof matcher === "string" ? matcher : null, ...hook });
      }
    }
  }
  return found;
}

/**
 * A settings text with writ's hooks in it. One that is there already is brought up to date where it stands, with
 * whatever its owner added; a second one for the same event goes.
 *
 * @param text null where there is no file
 * Errors: `bad_json`, `settings_refused` where a hook has no place
 */
export function planInstall(text: string | null, path: string, wanted: Wanted): Planned {
  let planned = text ?? "{}\n";
  const events = new Set<string>();
  for (const event of ADAPTERS[wanted.harness].events) {
    const [command = "", ...start] = wanted.program;
    const args = [...start, ...recordArguments(wanted.harness, event, wanted.gate)];
    const [first, ...more] = ownHooks(planned, path, wanted).filter((hook) => hook.event === event);
    for (const surplus of more.toReversed()) planned = without(planned, surplus);
    if (more.length > 0) events.add(event);
    if (first !== undefined && first.command === command && sameJson(first.args ?? [], args)) continue;
    events.add(event);
    planned =
      first === undefined
        ? withHook(planned, path, event, { type: "command", command, args, timeout: HOOK_TIMEOUT_SEC })
        : withValues(planned, first, { command, args });
  }
  return { text: events.size === 0 ? (text ?? planned) : planned, events: [...events] };
}

/**
 * A settings text without the hooks that `planInstall` put in, and without the groups, events and the `hooks` that are
 * empty without them.
 *
 * Errors: `bad_json`, `settings_refused`
 */
export function planUninstall(text: string, path: string, wanted: Omit<Wanted, "gate">): Planned {
  let planned = text;
  const events = new Set<string>();
  for (;;) {
    const hook = ownHooks(planned, path, wanted).at(-1);
    if (hook === undefined) return { text: planned, events: [...events].toReversed() };
    events.add(hook.event);
    planned = without(planned, hook);
  }
}

/** The hooks that an install put in, by whichever writ: exec form, and the words that only an install writes. */
function ownHooks(text: string, path: string, { harness, program }: Omit<Wanted, "gate">): readonly FoundHook[] {
  return findHooks(parseSettings(text, path)).filter(
    ({ args, writ }) =>
      args?.includes("--harness") === true &&
      writ?.program != null &&
      writ.harness === harness &&
      (isWrit(writ.program) || sameJson([...writ.program], [...program])),
  );
}

/** True for an executable called writ, under whatever further name, and for writ's sources run by Bun. */
function isWrit(program: readonly string[]): boolean {
  const name = (word = "") => word.slice(Math.max(word.lastIndexOf("/"), word.lastIndexOf("\\")) + 1);
  const [first, second] = program;
  return second === undefined ? /^writ\b/.test(name(first)) : name(second) === "main.ts";
}

function readHandler(handler: JsonValue): Pick<FoundHook, "command" | "args" | "isAsync" | "writ"> | null {
  if (!isObject(handler) || valueAt(handler, "type") !== "command") return null;
  const command = valueAt(handler, "command");
  if (typeof command !== "string") return null;
  const list = valueAt(handler, "args");
  const words = isArray(list) ? list.filter((word) => typeof word === "string") : null;
  const args = words !== null && isArray(list) && words.length === list.length ? words : null;
  const isAsync = valueAt(handler, "async") === true;
  return { command, args, isAsync, writ: args === null ? readLine(command) : readWords([command, ...args]) };
}

/** A call of `writ record` in words: one word that starts writ, or two (Bun and its sources). */
function readWords(words: readonly string[]): WritCall | null {
  const at = [1, 2].find((place) => words[place] === "record");
  if (at === undefined) return null;
  const behind = words.slice(at + 1);
  const harness = optionOf(behind, "--harness") ?? "claude-code";
  const known = HARNESSES.find((each) => each === harness);
  const program = words.slice(0, at);
  if (known === undefined || (optionOf(behind, "--harness") === null && !isWrit(program))) return null;
  const gate = optionOf(behind, "--gate");
  return { program, harness: known, gate: gate !== null && /^\d{1,6}$/.test(gate) ? Number(gate) : 0 };
}

/** A call of `writ record` in a line for a shell. Only plain words can be told apart from here. */
function readLine(line: string): WritCall | null {
  if (/^[\w@%+=:,./~\\ \t-]*$/.test(line) && !/[~\\]|^\s*\w+=/.test(line))
    return readWords(line.trim().split(/[ \t]+/));
  if (!/(?:^|[/\s"'])writ["']?\s+record\b/.test(line.slice(0, 4_000))) return null;
  return { program: null, harness: "claude-code", gate: 0 };
}

function optionOf(words: readonly string[], option: string): string | null {
  const at = words.indexOf(option);
  const attached = words.find((word) => word.startsWith(`${option}=`));
  return at >= 0 ? (words[at + 1] ?? null) : (attached?.slice(option.length + 1) ?? null);
}

/** Errors: `settings_refused` where the event or `hooks` is of another type. */
function withHook(text: string, path: string, event: string, handler: JsonObject): string {
  const root = mapJson(text);
  const hooks = nodeOf(root, ["hooks"]);
  const groups = nodeOf(root, ["hooks", event]);
  const group = { hooks: [handler] };
  if (hooks === null) return appendChild(text, root as JsonContainer, "hooks", { [event]: [group] });
  if (hooks.kind !== "object") throw unfit(path, 'its "hooks" is no object');
  if (groups === null) return appendChild(text, hooks, event, [group]);
  if (groups.kind !== "list") throw unfit(path, `its "hooks.${event}" is no list`);
  return appendChild(text, groups, null, group);
}

function withValues(text: string, hook: FoundHook, values: JsonObject): string {
  let changed = text;
  for (const [key, value] of Object.entries(values)) {
    const node = nodeOf(mapJson(changed), [...pathOf(hook), key]);
    if (node !== null && !sameJson(JSON.parse(changed.slice(node.start, node.end)), value)) {
      changed = replaceValue(changed, node, value);
    }
  }
  return changed;
}

/** Takes a hook out, and upwards what held it and nothing else. */
function without(text: string, hook: FoundHook): string {
  const { event, group, index } = hook;
  const steps: readonly (readonly [readonly (string | number)[], string | number])[] = [
    [["hooks", event, group, "hooks"], index],
    [["hooks", event], group],
    [["hooks"], event],
    [[], "hooks"],
  ];
  let changed = text;
  for (const [place, child] of steps) {
    const container = nodeOf(mapJson(changed), place);
    if (container === null || container.kind === "scalar") return changed;
    const at = typeof child === "number" ? child : container.children.findIndex((each) => each.key === child);
    changed = removeChild(changed, container, at);
    if (container.children.length > 1) return changed;
    // A group that says more than which hooks it has, and for which tools, is its owner's and stays.
    if (place.length === 4 && !isBareGroup(changed, place.slice(0, 3))) return changed;
  }
  return changed;
}

function isBareGroup(text: string, place: readonly (string | number)[]): boolean {
  const group = nodeOf(mapJson(text), place);
  return group?.kind === "object" && group.children.every((child) => child.key === "hooks" || child.key === "matcher");
}

function pathOf({ event, group, index }: FoundHook): readonly (string | number)[] {
  return ["hooks", event, group, "hooks", index];
}

function unfit(path: string, why: string): WritError {
  return new WritError("settings_refused", `Cannot put hooks into "${path}": ${why}; nothing was changed`, {
    path,
    hint: "Mend the file by hand, or see what belongs into it: writ hooks print claude-code",
  });
}
