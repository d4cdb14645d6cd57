/** Whether the pull requests that a brief names are those of the worktree and of its spec. */
import { type ProcessState, prIdentity } from "../../core/brief/brief.ts";
import { readReworkRecord } from "../../core/brief/rework-record.ts";
import { stop } from "../../core/brief/stop.ts";
import { isObject, valueAt } from "../../core/json/value.ts";
import { branchOf } from "../git-facts.ts";
import type { ResumeWorld } from "./world.ts";

/**
 * Errors: `gh` when it is missing or fails, `pr_identity` when what it says differs
 * Source: flow state, section 12.8
 */
export function checkPullRequests(
  world: ResumeWorld,
  worktree: string,
  spec: string | null,
  { prs }: ProcessState,
): void {
  const [home] = prs;
  if (home === undefined) return;
  if (world.answers.skipPrCheck) world.notice(`PR identity not verified: ${prIdentity(home)}`);
  else {
    const head = headRefName(world, home.repo, home.number);
    const branch = branchOf(world, worktree) ?? "detached";
    if (head !== branch) {
      throw stop("pr_identity", `brief names PR #${home.number} on ${head}, worktree is on ${branch}`, {
        path: worktree,
      });
    }
  }
  const text = spec === null ? null : (world.readFile(spec)?.text ?? null);
  const recorded = text === null ? [] : (readReworkRecord(text)?.prs ?? []);
  const [ours, theirs] = [prs, recorded].map((list) => list.map(prIdentity).join(", ") || "none");
  if (ours !== theirs) throw stop("pr_identity", `brief lists ${ours}, record lists ${theirs}`, { path: spec });
}

function headRefName(world: ResumeWorld, repo: string, number: number): string {
  const answer = world.gh(["pr", "view", String(number), "--repo", repo, "--json", "headRefName"]);
  const failed = (line: string) => stop("gh", `gh pr view ${number} --repo ${repo} failed: ${line}`);
  if (answer === null) throw failed("gh: command not found");
  if (!answer.ok) throw failed(answer.stderr.split("\n").find((line) => line.trim() !== "") ?? "it said nothing");
  const value = world.parseJson(answer.stdout);
  const name = value !== null && isObject(value) ? valueAt(value, "headRefName") : undefined;
  if (typeof name !== "string" || name === "") throw failed("it named no headRefName");
  return name;
}
