/**
 * Which commands are trusted to show a fact of one target and to change nothing.
 *
 * The list is closed: what is not plainly one of a few read-only forms of kubectl, oc and gcloud is none, even where it
 * would do no harm. What a shell would make of a word (braces, expansions) is kept out by asking for plain words.
 */
import { splitWords } from "../record/words.ts";

/** A command may not be longer to be allowed, in UTF-16 code units. */
export const LONGEST_COMMAND = 4096;

const WRAPPERS: ReadonlySet<string> = new Set(["sudo", "env", "time", "nohup", "command", "exec", "writ"]);
const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*\+?=/;
const LINE_END = /[\n\r]/;

/**
 * One command with nothing before it: no assignment, no wrapper, no pipe, list, redirection, substitution or newline.
 *
 * Source: spec/contract.md 13.7, guard 14
 */
export function isSingleCommand(command: string): boolean {
  const [first] = splitWords(command) ?? [];
  if (first === undefined || ASSIGNMENT.test(first) || WRAPPERS.has(first)) return false;
  return !LINE_END.test(command) && !expandsInQuotes(command);
}

/** Whether double quotes hold a `$` or a backtick. Outside of quotes `splitWords` refuses both. */
function expandsInQuotes(command: string): boolean {
  let quote = "";
  for (let at = 0; at < command.length; at += 1) {
    const char = command.charAt(at);
    if (char === "\\" && quote !== "'") at += 1;
    else if (quote === '"' && (char === "$" || char === "`")) return true;
    else if (char === quote) quote = "";
    else if (quote === "" && (char === "'" || char === '"')) quote = char;
  }
  return false;
}

const NOT_READING = /\b(?:plan|template|diff|validate|lint|check|fmt)\b/i;
const NOT_REAL = /--(?:dry-run|plan-only)/i;
const KUBECTL_GET = /^\s*kubectl\s+get(?!\S)/;

/**
 * Tier 0: the command reads, and says nothing of planning, rendering or checking.
 *
 * Source: spec/contract.md 13.7, T0
 */
export function isTierZero(command: string): boolean {
  // Also as a shell would read it: quotes may stand within a word.
  const forms = [command, (splitWords(command) ?? []).join(" ")];
  if (forms.some((text) => NOT_REAL.test(text))) return false;
  return KUBECTL_GET.test(command) || !forms.some((text) => NOT_READING.test(text));
}

/** An option with a value: its spellings, and what the value may be. */
type Option = { readonly names: readonly string[]; readonly value: RegExp };

const PLAIN = /^[A-Za-z0-9][A-Za-z0-9._:@/-]*$/;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._:@-]*$/;
const RESOURCE = /^[A-Za-z0-9][A-Za-z0-9._:@-]*(?:\/[A-Za-z0-9][A-Za-z0-9._:@-]*)?$/;

const CONTEXT: Option = { names: ["--context"], value: PLAIN };
const NAMESPACE: Option = { names: ["-n", "--namespace"], value: PLAIN };
const PROJECT: Option = { names: ["--project"], value: PLAIN };

const KUBE_OPTIONS: readonly Option[] = [
  CONTEXT,
  NAMESPACE,
  { names: ["-o", "--output"], value: /^(?:json|yaml|wide|name)$/ },
];
const GCLOUD_OPTIONS: readonly Option[] = [
  PROJECT,
  { names: ["--format"], value: /^(?:json|yaml)$/ },
  { names: ["--region"], value: NAME },
  { names: ["--zone"], value: NAME },
];

const KUBE_TARGETS: readonly Option[] = [CONTEXT, NAMESPACE];
const GCLOUD_TARGETS: readonly Option[] = [PROJECT];

/** What names the target of a program; null for a program that is not known. */
function targetOptions(program: string | undefined): readonly Option[] | null {
  if (program === "kubectl" || program === "oc") return KUBE_TARGETS;
  return program === "gcloud" ? GCLOUD_TARGETS : null;
}

/**
 * Whether the command is built from nothing but the table of read-only forms.
 *
 * Source: spec/contract.md 13.7, allowlist
 */
export function isAllowlisted(command: string): boolean {
  if (command.length > LONGEST_COMMAND) return false;
  const [program, first = "", ...rest] = splitWords(command) ?? [];
  if (program === "kubectl" || program === "oc") return isKubeRead(first, rest);
  return program === "gcloud" && isGcloudRead(first, rest);
}

function isKubeRead(verb: string, words: readonly string[]): boolean {
  if (verb !== "get" && verb !== "describe") return false;
  const [resource, name, ...more] = readPositionals(words, KUBE_OPTIONS) ?? [];
  if (resource === undefined || !RESOURCE.test(resource) || more.length > 0) return false;
  // `deploy/api` has its name already: a second word would be a second resource.
  return name === undefined || (!resource.includes("/") && NAME.test(name));
}

const GCLOUD_GROUPS: ReadonlySet<string> = new Set([
  "run",
  "container",
  "compute",
  "sql",
  "functions",
  "pubsub",
  "storage",
]);
const PATH_WORD = /^[a-z-]+$/;
/**
 * First words of those verbs of gcloud that do more than read. Behind one of them `list` is no verb but a name, as in
 * `instances delete list`.
 */
const OTHER_VERBS: ReadonlySet<string> = new Set(
  (
    "abandon ack acquire add apply associate attach bulk call cancel cat clear clone commit config connect copy cp " +
    "create delete deploy deprecate detach diagnose disable drain enable execute export failover generate get import " +
    "insert invalidate invoke login migrate modify move mv patch pause perform promote proxy publish pull push recreate " +
    "reencrypt release relocate remove replace reschedule rescue reset resize restart restore resume rewrite rm " +
    "rollback rollout rotate rsync scp seek send set sign simulate snapshot ssh start stop submit suspend switch " +
    "switchover tail test undelete unset update upgrade upload wait write"
  ).split(" "),
);

function isGcloudRead(group: string, words: readonly string[]): boolean {
  if (!GCLOUD_GROUPS.has(group)) return false;
  const positionals = readPositionals(words, GCLOUD_OPTIONS);
  if (positionals === null) return false;
  const verbAt = positionals.findIndex((word) => word === "describe" || word === "list");
  if (verbAt < 0 || !positionals.slice(0, verbAt).every(isPathWord)) return false;
  const [name, ...more] = positionals.slice(verbAt + 1);
  if (name === undefined) return true;
  return positionals[verbAt] === "describe" && more.length === 0 && PLAIN.test(name) && !namesProject(name);
}

function isPathWord(word: string): boolean {
  return PATH_WORD.test(word) && !OTHER_VERBS.has(word.split("-", 1)[0] ?? "");
}

/** A full resource name (`projects/other/…`) overrides `--project`. */
function namesProject(name: string): boolean {
  return name.split("/").includes("projects");
}

/**
 * The words that are neither an option nor the value of one.
 *
 * @returns null when an option is unknown, given twice, glued to its value (`-nshop`) or has a value it may not have
 */
function readPositionals(words: readonly string[], options: readonly Option[]): readonly string[] | null {
  const positionals: string[] = [];
  const seen = new Set<Option>();
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? "";
    if (!word.startsWith("-")) {
      positionals.push(word);
      continue;
    }
    const equals = word.startsWith("--") ? word.indexOf("=") : -1;
    const name = equals < 0 ? word : word.slice(0, equals);
    const option = options.find(({ names }) => names.includes(name));
    if (option === undefined || seen.has(option)) return null;
    seen.add(option);
    if (equals < 0) at += 1;
    const value = equals < 0 ? words[at] : word.slice(equals + 1);
    if (value === undefined || !option.value.test(value)) return null;
  }
  return positionals;
}

/**
 * The target that a command names: for kubectl and oc its context and its namespace, for gcloud its project. Looked for
 * by name over all words, whatever stands beside them.
 *
 * @returns null when it names none, or not exactly one of each
 * Source:  spec/contract.md 13.7, guard 17
 */
export function targetsOf(command: string): readonly string[] | null {
  const words = splitWords(command) ?? [];
  const targets: string[] = [];
  for (const { names } of targetOptions(words[0]) ?? []) {
    const value = onlyValue(words, names);
    if (value === null) return null;
    targets.push(value);
  }
  return targets.length === 0 ? null : targets;
}

function onlyValue(words: readonly string[], names: readonly string[]): string | null {
  const values = words.flatMap((word, at) => {
    if (names.includes(word)) return [words[at + 1] ?? ""];
    const name = names.find((one) => word.startsWith(one.startsWith("--") ? `${one}=` : one));
    if (name === undefined) return [];
    // A value glued to a short option counts as one that cannot be read.
    return [name.startsWith("--") ? word.slice(name.length + 1) : ""];
  });
  const [value = ""] = values;
  return values.length === 1 && value !== "" && !value.startsWith("-") ? value : null;
}
