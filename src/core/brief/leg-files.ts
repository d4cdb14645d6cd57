/** What a coordinated flow keeps in files: the legs of its home spec, a companion's leg file, a delivery receipt. */
import { isObject, type JsonValue, valueAt } from "../json/value.ts";
import { briefLines, isFenceMark } from "./line.ts";

/** One `### Leg:` block of the home spec. */
export type SpecLeg = {
  readonly repo: string;
  readonly branch: string | null;
  /** The `home:` pattern, in which `<NAME>` stands for the branch; null for the run home. */
  readonly home: string | null;
};

export type Receipt = {
  readonly repo: string;
  readonly branch: string;
  readonly head: string;
  readonly pr: number;
  readonly repository: string;
};

const LEG = "### Leg:";

/** The legs of a spec, home first; empty where it has no `## Legs`. Source: flow state, section 14.1. */
export function readSpecLegs(text: string): readonly SpecLeg[] {
  const legs: { repo: string; branch: string | null; home: string | null }[] = [];
  let isInside = false;
  let isFenced = false;
  for (const { text: line } of briefLines(text)) {
    if (isFenceMark(line)) isFenced = !isFenced;
    if (isFenced) continue;
    if (line.startsWith("## ")) isInside = line.trimEnd() === "## Legs";
    if (!isInside) continue;
    if (line.startsWith(LEG)) legs.push({ repo: line.slice(LEG.length).trim(), branch: null, home: null });
    const leg = legs.at(-1);
    if (leg === undefined) continue;
    if (line.startsWith("branch: ")) leg.branch ??= line.slice("branch: ".length).trim();
    if (line.startsWith("home: ")) leg.home ??= line.slice("home: ".length).trim();
  }
  return legs;
}

/** The `**Home:**` tuple of a leg file, its parts trimmed and joined as it is written; null where there is none. */
export function readHomeTuple(text: string): string | null {
  const key = "**Home:**";
  const line = briefLines(text).find((each) => each.text.startsWith(key))?.text;
  return line === undefined ? null : homeTuple(line.slice(key.length).split("|"));
}

/** `repo-a | feature/x | doc/specs/x.md`. */
export function homeTuple(parts: readonly string[]): string {
  return parts.map((part) => part.trim()).join(" | ");
}

/** Null when it is no receipt. */
export function readReceipt(value: JsonValue): Receipt | null {
  if (!isObject(value)) return null;
  const text = (key: string) => {
    const found = valueAt(value, key);
    return typeof found === "string" && found !== "" ? found : null;
  };
  const [repo, branch, head, repository] = ["repo", "branch", "head", "repository"].map(text);
  const pr = valueAt(value, "pr");
  if (repo == null || branch == null || head == null || repository == null) return null;
  return typeof pr === "number" && Number.isSafeInteger(pr) && pr > 0 ? { repo, branch, head, pr, repository } : null;
}

/** The path that a `home:` pattern gives for a branch, and the name that was put into it. */
export function resolveHome(pattern: string, branch: string): { readonly path: string; readonly name: string } {
  const name = branch.replaceAll("/", "-");
  return { path: pattern.replaceAll("<NAME>", name), name };
}

/**
 * Why the members of a brief are not those of the spec; null when they are, in the same order.
 *
 * Source: flow state, section 14.2, requirement 1
 */
export function membershipFault(brief: readonly string[], spec: readonly string[]): string | null {
  const missing = spec.filter((repo) => !brief.includes(repo));
  const extra = brief.filter((repo) => !spec.includes(repo));
  if (missing.length + extra.length > 0 || brief.length !== spec.length) {
    const parts = [
      ...(missing.length > 0 ? [`missing ${missing.join(", ")}`] : []),
      ...(extra.length > 0 ? [`extra ${extra.join(", ")}`] : []),
    ];
    const repeated = brief.filter((repo, index) => brief.indexOf(repo) < index);
    return `leg membership differs: ${parts.length > 0 ? parts.join(", ") : `extra ${repeated.join(", ")}`}`;
  }
  const moved = brief.filter((repo, index) => repo !== spec[index]);
  return moved.length === 0 ? null : `leg membership differs: reordered ${moved.join(", ")}`;
}
