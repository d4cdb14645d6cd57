/**
 * From the words of a command line to the node of the tree that they name. Nothing is loaded here.
 */
import { WritError } from "../core/error.ts";
import { nearest } from "../core/near-miss.ts";
import { hasFlag, quoted } from "./arguments.ts";
import { type Node, type Nodes, nodeAt } from "./node.ts";

export type Surface = {
  readonly tree: Nodes;
  /** Words that belong to a namesake, and the hint about it; `FILE` and `*` stand for words. */
  readonly misplaced: Readonly<Record<string, string>>;
  /** What `help WORD` tells of besides commands. */
  readonly topics?: Readonly<Record<string, unknown>>;
};

export type Route = {
  /** The words of the node, empty for writ itself. */
  readonly words: readonly string[];
  /** Null for writ itself. */
  readonly node: Node | null;
  /**
   * What to do there: run its command; print the help that was asked for, of a node or of the topic that the one
   * word names; or print it because the words stop at a group, which is a usage error.
   */
  readonly wanted: "run" | "help" | "topic" | "group";
  /** The words behind the node's, without the flags that stood among them. */
  readonly argv: readonly string[];
  /** `--json` stood before the command's last word: there it is the switch, whatever the command calls `--json`. */
  readonly json: boolean;
};

/** Flags that may stand anywhere, also between `writ` and the command. */
const ANYWHERE: ReadonlySet<string> = new Set(["--json", "--debug", "--help", "-h"]);

/**
 * Finds the node that the words name.
 *
 * Errors: `usage` for a word that names nothing there, with what may have been meant as its hint
 */
export function route({ tree, misplaced, topics = {} }: Surface, argv: readonly string[]): Route {
  refuseMisplaced(misplaced, tree, argv);
  const words: string[] = [];
  let node: Node | null = null;
  let index = 0;
  let json = false;
  let help = hasFlag(argv, "--help", "-h");
  let isAsked = false;
  for (; index < argv.length; index++) {
    const typed = argv[index] ?? "";
    const word = words.length === 0 && typed === "--version" ? "version" : typed;
    if (ANYWHERE.has(word)) {
      // Behind a command of its own words, a flag is read with them, unless a further word of the tree follows.
      if (node?.load !== undefined && nodeAt(node.commands, nextWord(argv, index)) === undefined) break;
      json ||= word === "--json";
      continue;
    }
    if (words.length === 0 && word === "help") {
      help = true;
      isAsked = true;
      continue;
    }
    if (isAsked && node === null && Object.hasOwn(topics, word)) {
      const flags = argv.slice(index + 1);
      return { words: [word], node, wanted: "topic", argv: [], json: json || hasFlag(flags, "--json") };
    }
    const inside: Nodes | undefined = node === null ? tree : node.commands;
    const next = nodeAt(inside, word);
    if (next === undefined) {
      if (node?.load !== undefined) break;
      throw unknownCommand(tree, inside ?? {}, words, word, topics);
    }
    words.push(word);
    node = next;
  }
  const wanted = help ? "help" : node?.load === undefined ? "group" : "run";
  return { words, node, wanted, argv: argv.slice(index), json };
}

function nextWord(argv: readonly string[], index: number): string {
  return argv.slice(index).find((word) => !ANYWHERE.has(word)) ?? "";
}

/** Words are looked at one by one, so that `run list` is told from `run -- list`. */
function refuseMisplaced(misplaced: Surface["misplaced"], tree: Nodes, argv: readonly string[]): void {
  const words = argv.filter((word) => !ANYWHERE.has(word));
  for (const [typed, hint] of Object.entries(misplaced)) {
    const pattern = typed.split(" ");
    const given = words.slice(0, pattern.length);
    if (given.length < pattern.length || isCommand(tree, given)) continue;
    if (!pattern.every((each, place) => fits(each, given[place] ?? ""))) continue;
    // A slip of the finger is the likelier thing.
    if (pattern.at(-1) === "*" && nearest(given.at(-1) ?? "", namesAt(tree, given.slice(0, -1))) !== null) continue;
    throw new WritError("usage", `There is no command ${quoted(`writ ${given.join(" ")}`)}`, { hint });
  }
}

function fits(pattern: string, word: string): boolean {
  if (pattern === "*") return !word.startsWith("-");
  if (pattern === "FILE") return word === "-" || /[/\\]|\.jsonc?$/.test(word);
  return pattern === word;
}

function isCommand(tree: Nodes, words: readonly string[]): boolean {
  return namesAt(tree, words.slice(0, -1)).includes(words.at(-1) ?? "");
}

/** The words that may follow. */
function namesAt(tree: Nodes, words: readonly string[]): readonly string[] {
  const inside = words.reduce<Nodes | undefined>((nodes, word) => nodeAt(nodes, word)?.commands, tree);
  return Object.keys(inside ?? {});
}

function unknownCommand(
  tree: Nodes,
  inside: Nodes,
  words: readonly string[],
  word: string,
  topics: Readonly<Record<string, unknown>>,
): WritError {
  const group = ["writ", ...words].join(" ");
  if (word.startsWith("-")) {
    const close = nearest(word, [...ANYWHERE, "--version"]);
    return new WritError("usage", `Unknown option ${quoted(word)} before the command`, {
      hint:
        close === null ? `Options stand behind the command: ${group} COMMAND [options]` : `Did you mean "${close}"?`,
    });
  }
  const isRoot = words.length === 0;
  const elsewhere = isRoot ? placesOf(tree) : new Map<string, string>();
  const close = nearest(word, Object.keys(inside));
  const far = nearest(word, elsewhere.keys());
  const topic = isRoot ? nearest(word, Object.keys(topics)) : null;
  const meant =
    elsewhere.get(word) ??
    (close !== null ? `${group} ${close}` : topic !== null ? `writ help ${topic}` : (elsewhere.get(far ?? "") ?? null));
  return new WritError("usage", `There is no command ${quoted(`${group} ${word}`)}`, {
    hint: meant === null ? `"${group} --help" lists the commands` : `Did you mean "${meant}"?`,
  });
}

/** The commands inside of the groups by their own word, each as it is typed; the first of several. */
function placesOf(tree: Nodes): ReadonlyMap<string, string> {
  const places = new Map<string, string>();
  for (const [group, node] of Object.entries(tree)) {
    for (const name of Object.keys(node.commands ?? {})) {
      if (!places.has(name)) places.set(name, `writ ${group} ${name}`);
    }
  }
  return places;
}
