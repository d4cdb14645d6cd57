/**
 * Names of project context by what they say: WHERE something stands (which cluster, project, namespace) is WHAT, and is
 * decided by the orchestrator; HOW a thing there is set up may be corrected by what was seen.
 */
import { isAscii, plainForm } from "./plain-form.ts";

const WHAT_WORDS: ReadonlySet<string> = new Set([
  "environment",
  "environments",
  "env",
  "envs",
  "cluster",
  "clusters",
  "cl",
  "context",
  "contexts",
  "ctx",
  "project",
  "projects",
  "proj",
  "namespace",
  "namespaces",
  "ns",
]);

/** At anything but a letter or digit, and where capitals begin a new word: `dbHost`, `HTTPProxy`. */
const PART_ENDS = /[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/;

/**
 * True when a section or key names a target, or is written so that it might: not in ASCII after NFKC.
 *
 * Source: spec/contract.md 13.7, HOW / WHAT
 */
export function isWhatName(name: string): boolean {
  const plain = plainForm(name);
  if (!isAscii(plain)) return true;
  return plain.split(PART_ENDS).some((part) => WHAT_WORDS.has(part.toLowerCase()));
}
