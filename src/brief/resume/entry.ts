/** The entry checks of a resumption: an idle flow, a worktree of this repository, and what has moved since. */
import type { Brief } from "../../core/brief/brief.ts";
import { processSection } from "../../core/brief/parse.ts";
import { quoteWords } from "../../core/brief/quote.ts";
import { stop } from "../../core/brief/stop.ts";
import { flowText, isIdle } from "../../core/tracker/flow.ts";
import type { FlowRecord } from "../../core/tracker/repository.ts";
import { renderPhase } from "../../core/tracker/status-text.ts";
import { asked, commonDir, headOf, porcelainOf, toplevelOf } from "../git-facts.ts";
import type { Input } from "./operands.ts";
import type { ResumeWorld } from "./world.ts";

type BriefInput = Extract<Input, { kind: "brief" }>;

/** The worktree that is resumed: its toplevel, and whether a flow there gives its place. */
export type Entry = { readonly worktree: string };

/** The SHA-256 of a brief's process-state section; null where it has none. */
export function blockDigest(world: ResumeWorld, text: string): string | null {
  const section = processSection(text);
  return section === null ? null : world.sha256(section);
}

/**
 * Entry checks 1 to 5 for a brief.
 *
 * @returns null for a plain brief that names no worktree and was given none
 * Errors: `not_idle`, `not_found`, `worktree`, `other_repository`, `git_missing`
 * Source: flow state, section 12.4
 */
export function enterBrief(
  world: ResumeWorld,
  input: BriefInput,
  brief: Brief,
  { skillsDir, planOnly }: { readonly skillsDir: string | null; readonly planOnly: boolean },
): Entry | null {
  const named = brief.repo_state?.fields?.worktree ?? null;
  const target = input.override ?? (named?.kind === "yes" ? named.path : null);
  if (target !== null && world.kindOf(target) === "folder") {
    const isInPlace = checkIdle(world, target, input);
    if (isInPlace && planOnly) world.notice("--plan-only: nothing is archived");
  }
  const entry = target === null ? withoutTarget(brief) : enterTarget(world, target, input.override, brief);
  if (entry !== null) {
    checkRepository(world, entry.worktree);
    noticeDrift(world, brief, entry.worktree);
  }
  noticeSkills(world, brief, skillsDir);
  return entry;
}

/** Entry checks 1 to 3 for a bare worktree. Errors: as above */
export function enterWorktree(world: ResumeWorld, path: string): Entry {
  if (world.kindOf(path) === "folder") checkIdle(world, path, null);
  const worktree = openWorktree(world, path);
  checkRepository(world, worktree);
  return { worktree };
}

/**
 * Check 1.
 *
 * @returns whether a flow stands there that this brief handed off
 * Source: flow state, section 12.4, "Resume in place"
 */
export function checkIdle(world: ResumeWorld, target: string, input: BriefInput | null): boolean {
  const record = world.storeAt(target).read();
  if (isIdle(record.flow)) return false;
  const { mark } = record;
  const block = input === null ? null : blockDigest(world, input.text);
  const isMarked = mark !== null && block !== null && mark.block_sha256 === block;
  if (isMarked && mark.state_sha256 === world.sha256(flowText(record.flow))) {
    world.notice(`Resuming in place: the flow handed off at ${mark.at} is archived`);
    return true;
  }
  const details = record.flow.phases.filter(({ status }) => status !== "pending").map(renderPhase);
  throw stop("not_idle", "session already carries flow state - reset is your call", {
    details: details.map((line) => line.trimStart()),
    hint: idleHint(record, isMarked),
    path: target,
  });
}

function idleHint({ mark }: FlowRecord, isMarked: boolean): string {
  if (mark === null) return "writ phase reset and writ plan clear";
  if (isMarked) return "the flow has moved since the brief was written: a new writ handoff carries the newer state";
  if (mark.brief_path === null) return "the flow was handed off by another brief, which was only printed";
  return `the flow was handed off by another brief: writ resume ${quoteWords([mark.brief_path])}`;
}

function withoutTarget(brief: Brief): null {
  const { repo_state, process } = brief;
  const value =
    repo_state?.kind === "not-a-git-repo" ? "not a git repo" : (repo_state?.fields?.worktree?.kind ?? "unavailable");
  // A plain brief that was written outside of a worktree starts or continues elsewhere.
  if (value === "no" && process === null) return null;
  throw stop("worktree", `brief names no worktree (worktree: ${value}) - pass one as the second argument`);
}

function enterTarget(world: ResumeWorld, target: string, override: string | null, brief: Brief): Entry {
  const worktree = openWorktree(world, target);
  const named = brief.repo_state?.fields?.worktree ?? null;
  if (override !== null && named?.kind === "yes") {
    const same = (world.realPath(override) ?? override) === (world.realPath(named.path) ?? named.path);
    if (!same) throw stop("worktree", `worktree override differs from the brief: ${override} vs ${named.path}`);
  }
  return { worktree };
}

/** Check 2. */
function openWorktree(world: ResumeWorld, path: string): string {
  if (world.kindOf(path) === null) throw stop("not_found", `worktree path missing: ${path}`, { path });
  const isInside = asked(world, path, "rev-parse", "--is-inside-work-tree") === "true";
  const toplevel = isInside ? toplevelOf(world, path) : null;
  if (toplevel === null) throw stop("worktree", `not a git worktree: ${path}`, { path });
  return toplevel;
}

/** Check 3. */
export function checkRepository(world: ResumeWorld, worktree: string): void {
  const target = commonDir(world, worktree);
  const session = commonDir(world, world.cwd);
  if (target !== null && target === session) return;
  throw stop(
    "other_repository",
    `the resolved worktree belongs to a different repository: ${target ?? "none"} vs ${session ?? "none"} - run writ in that repository's primary checkout`,
    { path: worktree },
  );
}

/** Check 4: what has moved is told, and stops nothing. */
export function noticeDrift(world: ResumeWorld, brief: Brief, worktree: string): void {
  const fields = brief.repo_state?.fields ?? null;
  if (fields === null) return;
  const live = headOf(world, worktree) ?? "unavailable";
  if (fields.head !== null && fields.head !== live) world.notice(`Drift: HEAD brief ${fields.head}, live ${live}`);
  if (fields.dirty === null) return;
  const dirty = porcelainOf(world, worktree) ?? ["unavailable"];
  const now = dirty.length === 0 ? ["clean"] : dirty;
  if (sameLines(fields.dirty, now)) return;
  world.notice(`Drift: dirty brief ${entries(fields.dirty)}, live ${entries(now)}`);
}

function sameLines(one: readonly string[], other: readonly string[]): boolean {
  const lines = new Set(one);
  return lines.size === new Set(other).size && other.every((line) => lines.has(line));
}

function entries(lines: readonly string[]): string {
  const [only] = lines;
  if (lines.length === 1 && (only === "clean" || only === "unavailable")) return only;
  return `${lines.length} entries`;
}

/** Check 5. */
function noticeSkills(world: ResumeWorld, { skills }: Brief, folder: string | null): void {
  if (folder === null) {
    world.notice(`Skills: ${skills.length === 0 ? "none" : skills.join(", ")}`);
    return;
  }
  const found = new Map<string, string>();
  for (const name of world.foldersIn(folder)) {
    const path = world.resolve(folder, `${name}/SKILL.md`);
    const text = world.readFile(path)?.text;
    const skill = text === undefined ? null : world.skillName(text);
    if (skill !== null && !found.has(skill)) found.set(skill, path);
  }
  for (const skill of skills) {
    const path = found.get(skill);
    world.notice(path === undefined ? `Skill skipped: ${skill}` : `Skill: ${skill} ${path}`);
  }
}
