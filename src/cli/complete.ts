/**
 * Completion scripts, made from the declarations: what a script offers is what the parser takes.
 *
 * A script is static text: completing starts no writ.
 */
import { declarationOf } from "./declaration.ts";
import type { Nodes, Topics } from "./node.ts";

/** What may follow the words of one node. */
export type Place = {
  /** "writ contract set" */
  readonly words: string;
  /** Further words, with their lines. */
  readonly commands: readonly Offer[];
  readonly options: readonly (Offer & { readonly values: Values })[];
  /** What stands as first operand. */
  readonly operand: Values;
  /** What stands behind an operand of these words. */
  readonly after: Readonly<Record<string, readonly string[]>>;
  /** Behind `--` stands a command of the machine. */
  readonly rest: boolean;
};

export type Offer = { readonly name: string; readonly text: string };

/** The only values there are, the kind of path that is due, or nothing that could be offered; null: takes none. */
export type Values = readonly string[] | "file" | "folder" | "any" | null;

/** Loads every command of the tree; the places in the order of the tree, writ itself and its help first. */
export async function placesOf(tree: Nodes, topics: Topics = {}): Promise<readonly Place[]> {
  const [root, ...places] = await placesUnder(tree, "writ");
  const about = Object.entries(topics).map(([name, topic]) => ({ name, text: topic.summary }));
  const nothing = { options: [], operand: null, after: {}, rest: false };
  const commands = root?.commands ?? [];
  const help = { name: "help", text: "Show the help of a command or a topic" };
  return [
    { ...nothing, words: "writ", commands: [...commands, help] },
    { ...nothing, words: "writ help", commands: [...commands, ...about] },
    ...places,
  ];
}

async function placesUnder(tree: Nodes, words: string): Promise<readonly Place[]> {
  const commands = Object.entries(tree).map(([name, node]) => ({ name, text: node.summary }));
  const places: Place[] = [{ words, commands, options: [], operand: null, after: {}, rest: false }];
  for (const [name, node] of Object.entries(tree)) {
    const inside = await placesUnder(node.commands ?? {}, `${words} ${name}`);
    if (node.load === undefined) {
      places.push(...inside);
      continue;
    }
    const { command } = await node.load();
    const { operands, options } = declarationOf(command);
    const [first, ...further] = inside;
    places.push(
      {
        words: `${words} ${name}`,
        commands: first?.commands ?? [],
        options: options.flatMap((option) => {
          const values =
            option.valueName === null ? null : (option.choices ?? option.offers ?? valuesOf(option.valueName));
          const spellings = [option.flag, ...option.aliases, ...(option.negated === null ? [] : [option.negated])];
          return spellings.map((spelling) => ({ name: spelling, text: option.description, values }));
        }),
        operand: operands[0] === undefined ? null : (operands[0].offers ?? valuesOf(operands[0].name)),
        after: Object.assign({}, ...operands.map((operand) => operand.offersAfter)),
        rest: command.rest !== undefined,
      },
      ...further,
    );
  }
  return places;
}

/** What a value's name tells: `bash|zsh` are the words themselves, FILE and PATH a file, DIR a folder. */
function valuesOf(name: string): Values {
  const alternatives = name.split("|");
  if (alternatives.every((word) => /^[a-z][a-z0-9-]*$/.test(word))) return alternatives;
  if (/(^|[|_])DIR$/.test(name)) return "folder";
  return /(^|[|_])(FILE|PATH)([|]|$)/.test(name) ? "file" : "any";
}

const GLOBAL_OPTIONS = ["--help", "--version"];

/** For `source <(writ completions bash)`; works from bash 3.2 on. */
export function renderBash(places: readonly Place[]): string {
  const lines = [
    "# bash completion of writ; made by: writ completions bash",
    "_writ() {",
    `  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}"`,
    "  local place=writ words= index given=",
    "  COMPREPLY=()",
    "  # bash splits --option=value into three words",
    `  if [ "$before" = "=" ]; then before="\${COMP_WORDS[COMP_CWORD-2]}"`,
    '  elif [ "$current" = "=" ]; then current=; fi',
    "  for ((index = 1; index < COMP_CWORD; index++)); do",
    `    if [ "\${COMP_WORDS[index]}" = "--" ]; then place="$place --"; break; fi`,
    `    case "$place \${COMP_WORDS[index]}" in`,
    ...indented(
      6,
      caseArms(
        places.slice(1).map((place) => place.words),
        `place="$place \${COMP_WORDS[index]}"`,
      ),
    ),
    '      *" -"*) ;;',
    "      # the first operand, or the value of an option: no other first operand is offered",
    "      *) given=1 ;;",
    "    esac",
    "  done",
    '  case "$place $before" in',
  ];
  for (const place of places) {
    for (const option of place.options) {
      if (option.values !== null)
        lines.push(`    "${place.words} ${option.name}") ${bashValues(option.values)}; return ;;`);
    }
    for (const [word, values] of Object.entries(place.after)) {
      const offer = `case "$current" in -*) ;; *) ${bashValues(values)}; return ;; esac`;
      lines.push(`    "${place.words} ${word}") ${offer} ;;`);
    }
    if (place.rest) lines.push(`    "${place.words} -- --") COMPREPLY=($(compgen -c -- "$current")); return ;;`);
  }
  lines.push("  esac", '  case "$place" in');
  for (const place of places) {
    const options = place.options.length === 0 ? GLOBAL_OPTIONS : place.options.map((option) => option.name);
    const words = place.commands.map((offer) => offer.name);
    if (Array.isArray(place.operand)) words.push(...place.operand);
    lines.push(`    "${place.words}")`);
    lines.push(
      `      case "$given$current" in -*|1-*) words="${options.join(" ")}" ;; 1*) ;; *) words="${words.join(" ")}" ;; esac ;;`,
    );
  }
  lines.push("  esac", '  COMPREPLY=($(compgen -W "$words" -- "$current"))', "}");
  lines.push("complete -o default -F _writ writ", "");
  return lines.join("\n");
}

function bashValues(values: Values): string {
  if (values === "folder") return 'COMPREPLY=($(compgen -d -- "$current"))';
  // No reply: the shell falls back to its own completion of file names.
  if (!Array.isArray(values)) return "COMPREPLY=()";
  return `COMPREPLY=($(compgen -W "${values.join(" ")}" -- "$current"))`;
}

function caseArms(patterns: readonly string[], action: string): readonly string[] {
  return patterns.length === 0 ? [] : [`${patterns.map((pattern) => `"${pattern}"`).join("|")}) ${action} ;;`];
}

/** For a file `_writ` in a folder of `$fpath`, or `source <(writ completions zsh)` behind `compinit`. */
export function renderZsh(places: readonly Place[]): string {
  const lines = [
    "#compdef writ",
    "# zsh completion of writ; made by: writ completions zsh",
    "_writ() {",
    `  local place=writ before=\${words[CURRENT-1]} current=\${words[CURRENT]}`,
    "  local -a offers",
    "  local -i index given=0",
    "  for ((index = 2; index < CURRENT; index++)); do",
    `    if [[ \${words[index]} == "--" ]]; then place="$place --"; break; fi`,
    `    case "$place \${words[index]}" in`,
    ...indented(
      6,
      caseArms(
        places.slice(1).map((place) => place.words),
        `place="$place \${words[index]}"`,
      ),
    ),
    '      *" -"*) ;;',
    "      *) given=1 ;;",
    "    esac",
    "  done",
    '  case "$place $before" in',
  ];
  for (const place of places) {
    for (const option of place.options) {
      if (option.values !== null)
        lines.push(`    "${place.words} ${option.name}") ${zshValues(option.values)}; return ;;`);
    }
    for (const [word, values] of Object.entries(place.after)) {
      lines.push(`    "${place.words} ${word}") if [[ $current != -* ]]; then ${zshValues(values)}; return; fi ;;`);
    }
  }
  lines.push("  esac", '  case "$place" in');
  for (const place of places) {
    const options = place.options.length === 0 ? GLOBAL_OPTIONS.map((name) => ({ name, text: "" })) : place.options;
    const fallback = place.commands.length === 0 && !Array.isArray(place.operand);
    const words = [
      ...place.commands,
      ...(Array.isArray(place.operand) ? place.operand : []).map((name) => ({ name, text: "" })),
    ];
    lines.push(`    "${place.words}")`);
    lines.push(`      if [[ $current == -* ]]; then offers=(${options.map(zshOffer).join(" ")})`);
    lines.push(
      fallback
        ? "      else _files; return; fi ;;"
        : `      elif ((given)); then _files; return; else offers=(${words.map(zshOffer).join(" ")}); fi ;;`,
    );
    if (place.rest) lines.push(`    "${place.words} --") _command_names -e; return ;;`);
  }
  lines.push("    *) _files; return ;;", "  esac", "  _describe writ offers", "}");
  // Sourced, it registers itself; found through $fpath, it is called as the function's body.
  lines.push('if [[ $funcstack[1] == _writ ]]; then _writ "$@"; else compdef _writ writ; fi', "");
  return lines.join("\n");
}

function zshValues(values: Values): string {
  if (values === "folder") return "_files -/";
  return Array.isArray(values) ? `compadd -- ${values.join(" ")}` : "_files";
}

function zshOffer(offer: Offer): string {
  return singleQuoted(offer.text === "" ? offer.name : `${offer.name}:${offer.text.replaceAll(":", "\\:")}`);
}

/** For a file `writ.fish` in the folder `completions` of fish. */
export function renderFish(places: readonly Place[]): string {
  const lines = [
    "# fish completion of writ; made by: writ completions fish",
    "function __writ_place",
    "    set -l place writ",
    "    for word in (commandline -opc)[2..-1]",
    '        if test "$word" = "--"',
    '            set place "$place --"',
    "            break",
    "        end",
    '        switch "$place $word"',
    ...(places.length < 2
      ? []
      : [
          `            case ${places
            .slice(1)
            .map((place) => `"${place.words}"`)
            .join(" ")}`,
        ]),
    ...(places.length < 2 ? [] : ['                set place "$place $word"']),
    "        end",
    "    end",
    '    test "$place" = "$argv[1]"',
    "end",
    "# the word before the cursor",
    "function __writ_behind",
    '    test (commandline -opc)[-1] = "$argv[1]"',
    "end",
  ];
  for (const place of places) {
    const here = `complete -c writ -n '__writ_place "${place.words}"'`;
    for (const offer of place.commands) lines.push(`${here} -f -a ${offer.name} -d ${singleQuoted(offer.text)}`);
    const last = place.words.split(" ").at(-1) ?? "";
    if (Array.isArray(place.operand))
      lines.push(`${fishBehind(place, last)} -f -a ${singleQuoted(place.operand.join(" "))}`);
    for (const [word, values] of Object.entries(place.after)) {
      lines.push(`${fishBehind(place, word)} -f -a ${singleQuoted(values.join(" "))}`);
    }
    for (const option of place.options) {
      const spelled = option.name.startsWith("--") ? `-l ${option.name.slice(2)}` : `-s ${option.name.slice(1)}`;
      lines.push(`${here} ${spelled}${fishValues(option.values)} -d ${singleQuoted(option.text)}`);
    }
    if (place.rest)
      lines.push(`complete -c writ -n '__writ_place "${place.words} --"' -f -a '(__fish_complete_command)'`);
  }
  return [...lines, ""].join("\n");
}

function fishBehind(place: Place, word: string): string {
  return `complete -c writ -n '__writ_place "${place.words}"; and __writ_behind ${word}'`;
}

function fishValues(values: Values): string {
  if (values === null) return "";
  if (values === "folder") return " -x -a '(__fish_complete_directories)'";
  return Array.isArray(values) ? ` -x -a ${singleQuoted(values.join(" "))}` : " -r";
}

function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function indented(columns: number, lines: readonly string[]): readonly string[] {
  return lines.map((line) => " ".repeat(columns) + line);
}
