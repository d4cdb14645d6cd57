/** What the operands of `writ resume` name: a brief, a worktree, a spec to take up. */
import { isBrief, parseBrief } from "../../core/brief/parse.ts";
import { stop } from "../../core/brief/stop.ts";
import { WritError } from "../../core/error.ts";
import { commonDir, toplevelOf } from "../git-facts.ts";
import { answerTo } from "./question.ts";
import type { ResumeWorld } from "./world.ts";

export type Operands = {
  /** As typed. */
  readonly words: readonly string[];
  /** The text of standard input for `-`, or when no operand was given; null where nothing came. */
  readonly stdin: string | null;
};

export type Input =
  | {
      readonly kind: "brief";
      readonly text: string;
      /** As typed; "-" for a pasted one. */
      readonly operand: string;
      /** Absolute; null for a pasted one. */
      readonly path: string | null;
      /** The second operand, absolute. */
      readonly override: string | null;
    }
  | { readonly kind: "worktree"; readonly path: string }
  | { readonly kind: "seed"; readonly path: string };

/** The checkout that owns the linked worktrees: where the common git folder lies. Null outside of git. */
export function primaryOf(world: ResumeWorld): string | null {
  const common = commonDir(world, world.cwd);
  return common === null ? null : world.folderOf(common);
}

/** Errors: `not_found`, `not_an_input`, `unreadable`, `answer_needed`. Source: flow state, section 12.2. */
export function classify(world: ResumeWorld, { words, stdin }: Operands): Input {
  const [first, second] = words;
  if (first === undefined || first === "-") {
    if (first === undefined && (stdin === null || stdin.trim() === "")) return discover(world);
    if (stdin !== null && isBrief(stdin)) {
      return { kind: "brief", text: stdin, operand: "-", path: null, override: overrideOf(world, second) };
    }
    throw newIdea();
  }
  const primary = primaryOf(world);
  const specDirs = primary === null ? [] : world.settingsAt(primary).specDirs;
  const path = locate(world, first, primary, specDirs);
  const kind = world.kindOf(path);
  if (kind === "file") return ofFile(world, { operand: first, path, second, primary, specDirs });
  if (kind === "other") throw newIdea([`${path}: ${world.whyUnreadable(path)}`]);
  if (second !== undefined) throw kind === null ? notFound(first) : newIdea();
  if (kind === "folder") {
    const real = world.realPath(path);
    if (real !== null && toplevelOf(world, path) === real && real !== primary) return { kind: "worktree", path: real };
  }
  if (kind === null && (first.endsWith(".md") || first.includes("/"))) throw notFound(first);
  if (primary !== null && !first.includes("/") && first !== "." && first !== "..") {
    return { kind: "worktree", path: world.resolve(primary, `.worktrees/${first}`) };
  }
  throw newIdea();
}

/** A name that is not there is looked for among the specs of the primary checkout. */
function locate(world: ResumeWorld, operand: string, primary: string | null, specDirs: readonly string[]): string {
  const path = world.resolve(world.cwd, operand);
  if (world.kindOf(path) !== null || primary === null || !operand.endsWith(".md") || operand.includes("/")) return path;
  const places = specDirs.map((dir) => world.resolve(primary, `${dir}/${operand}`));
  return places.find((place) => world.kindOf(place) === "file") ?? path;
}

type Named = {
  readonly operand: string;
  readonly path: string;
  readonly second: string | undefined;
  readonly primary: string | null;
  readonly specDirs: readonly string[];
};

function ofFile(world: ResumeWorld, { operand, path, second, primary, specDirs }: Named): Input {
  const read = world.readFile(path);
  if (read === null) throw stop("unreadable", `unreadable: ${operand}`, { path, details: [world.whyUnreadable(path)] });
  if (isBrief(read.text)) {
    return { kind: "brief", text: read.text, operand, path, override: overrideOf(world, second) };
  }
  const real = world.realPath(path) ?? path;
  const isSeed =
    path.endsWith(".md") &&
    primary !== null &&
    specDirs.some((dir) => world.below(world.realPath(world.resolve(primary, dir)) ?? dir, real) !== null);
  if (isSeed && second !== undefined) throw stop("not_an_input", `a spec seed takes no worktree: ${second}`);
  if (isSeed) return { kind: "seed", path: real };
  throw stop("not_an_input", `not a handoff brief and not under ${specDirs.join(", ")}: ${operand}`, { path });
}

function overrideOf(world: ResumeWorld, second: string | undefined): string | null {
  return second === undefined ? null : world.resolve(world.cwd, second);
}

/** The briefs of the mailbox, newest first; a person picks one, also where there is only one. */
function discover(world: ResumeWorld): Input {
  const briefs = world.mailed().flatMap(({ path, modified_at }) => {
    const text = world.readFile(path)?.text ?? "";
    if (!isBrief(text)) return [];
    const title = text.split("\n", 1)[0]?.trimEnd() ?? "";
    return [{ path, text, line: `${title} - worktree: ${worktreeWords(text)} - ${modified_at}` }];
  });
  if (briefs.length === 0) {
    throw stop("not_found", `no handoff briefs found under ${world.mailbox}`, { path: world.mailbox });
  }
  const { pick } = world.answers;
  const read = (typed: string) => (/^\d{1,6}$/.test(typed) ? (briefs[Number(typed) - 1] ?? null) : null);
  const given = pick === null ? null : read(String(pick));
  if (pick !== null && given === null) {
    throw new WritError("usage", `--pick is a number from 1 to ${briefs.length}`);
  }
  const { path, text } = answerTo(world, {
    name: "brief",
    flag: "--pick <n>",
    about: briefs.map(({ line }, index) => `${index + 1}. ${line}`),
    given,
    prompt: `Which brief? (1-${briefs.length})`,
    read,
  });
  return { kind: "brief", text, operand: path, path, override: null };
}

function worktreeWords(text: string): string {
  const worktree = parseBrief(text).brief?.repo_state?.fields?.worktree ?? null;
  if (worktree === null) return "unavailable";
  return worktree.kind === "yes" ? `yes ${worktree.path}` : worktree.kind;
}

function notFound(operand: string) {
  return stop("not_found", `not found: ${operand}`, { path: operand });
}

function newIdea(details: readonly string[] = []) {
  const hint = "writ phase start brainstorm";
  return stop("not_an_input", "this is a new idea - run /skill:brainstorming", { hint, details });
}
