/** Whether the members of a coordinated flow are what its brief and its home spec say. */
import type { Leg, ProcessState } from "../../core/brief/brief.ts";
import { homeTuple, membershipFault, readHomeTuple, readSpecLegs, type SpecLeg } from "../../core/brief/leg-files.ts";
import { stop } from "../../core/brief/stop.ts";
import { isObject, valueAt } from "../../core/json/value.ts";
import { branchOf, commonDir, headOf, porcelainOf } from "../git-facts.ts";
import { companionTree, declaredPrimary, dirtText, type Home, openReceipt } from "../legs.ts";
import type { ResumeWorld } from "./world.ts";

/** A receipt is held against the live pull request; what keeps that from happening is a detail of the stop. */
type ReceiptCheck = { readonly isValid: boolean; readonly detail: string | null };

/**
 * Admits the legs of a brief. Nothing is written.
 *
 * @returns whether every companion has a receipt that holds: a ship brief may then lack its plan
 * Errors: `legs`; `gh` for a receipt that nobody can validate
 * Source: flow state, section 14.2
 */
export function admitLegs(world: ResumeWorld, home: Home, { legs }: ProcessState): boolean {
  if (legs.length < 2) return false;
  const members = readSpecLegs(home.specText);
  const [ours, theirs] = [legs.map(({ repo }) => repo), members.map(({ repo }) => repo)];
  const fault = membershipFault(ours, theirs);
  if (fault !== null) {
    throw stop("legs", fault, { details: [`brief: ${ours.join(", ")}`, `spec: ${theirs.join(", ")}`] });
  }
  const [first, ...companions] = legs;
  if (first !== undefined && (world.realPath(first.worktree) ?? first.worktree) !== home.worktree) {
    throw stop("legs", `leg ${first.repo}: run home is ${home.worktree}, brief says ${first.worktree}`);
  }
  let areDelivered = true;
  for (const [place, leg] of companions.entries()) {
    const member = members[place + 1];
    if (member === undefined) continue;
    const isDelivered = admitCompanion(world, home, { leg, member, homeRepo: first?.repo ?? "" });
    areDelivered &&= isDelivered;
  }
  for (const leg of legs) noticeDrift(world, leg);
  return areDelivered;
}

type Companion = { readonly leg: Leg; readonly member: SpecLeg; readonly homeRepo: string };

function admitCompanion(world: ResumeWorld, home: Home, companion: Companion): boolean {
  const { leg, member } = companion;
  const primary = declaredPrimary(world, home, leg.repo);
  if (primary === null) throw stop("legs", `no sibling clone for leg ${leg.repo}`);
  const isLive = leg.worktree !== "missing" && world.kindOf(leg.worktree) === "folder";
  if (isLive) {
    checkTree(world, home, companion, primary);
    return leg.receipt !== null && checkReceipt(world, home, leg).isValid;
  }
  const { isValid, detail } = checkReceipt(world, home, leg);
  if (isValid) return true;
  const tree = companionTree(world, home, member);
  throw stop(detail === NO_GH ? "gh" : "legs", `leg ${leg.repo}: tree missing, no valid receipt`, {
    details: [
      `home: ${tree?.pattern ?? "none"}`,
      `NAME: ${tree?.name ?? "none"}`,
      `path: ${tree?.path ?? "none"}`,
      "The pattern locates the tree; it does not authorize recreating it, making up a receipt, or inferring approval.",
      ...(detail === null ? [] : [detail]),
    ],
  });
}

function checkTree(world: ResumeWorld, home: Home, { leg, member, homeRepo }: Companion, primary: string): void {
  const [observed, declared] = [commonDir(world, leg.worktree), commonDir(world, primary)];
  if (observed === null || observed !== declared) {
    throw stop("legs", `leg ${leg.repo}: worktree belongs to ${observed ?? "none"}, expected ${declared ?? primary}`, {
      path: leg.worktree,
    });
  }
  const branch = branchOf(world, leg.worktree) ?? "detached";
  if (branch !== member.branch) {
    throw stop("legs", `leg ${leg.repo}: branch is ${branch}, expected ${member.branch ?? "none"}`, {
      path: leg.worktree,
    });
  }
  const expected = homeTuple([homeRepo, branch, world.below(home.worktree, home.specPath) ?? home.specPath]);
  const tuple = legTuple(world, home, leg.worktree) ?? "none";
  if (tuple !== expected) {
    throw stop("legs", `leg ${leg.repo}: Home is ${tuple}, expected ${expected}`, { path: leg.worktree });
  }
}

function legTuple(world: ResumeWorld, { specPath, specDirs }: Home, worktree: string): string | null {
  const name = specPath.slice(specPath.lastIndexOf("/") + 1).replace(/\.md$/, "");
  for (const dir of specDirs) {
    const text = world.readFile(world.resolve(worktree, `${dir}/${name}.leg.md`))?.text;
    if (text !== undefined) return readHomeTuple(text);
  }
  return null;
}

const NO_GH = "gh: command not found";

function checkReceipt(world: ResumeWorld, { worktree }: Home, leg: Leg): ReceiptCheck {
  const receipt = leg.receipt === null ? null : openReceipt(world, worktree, leg.receipt);
  if (receipt === null) return { isValid: false, detail: null };
  if (receipt.repo !== leg.repo || receipt.branch !== leg.branch || receipt.head !== leg.head) {
    return { isValid: false, detail: `receipt: ${receipt.repo} ${receipt.branch} ${receipt.head}` };
  }
  const fields = "headRefName,headRefOid,state";
  const answer = world.gh(["pr", "view", String(receipt.pr), "--repo", receipt.repository, "--json", fields]);
  if (answer === null) return { isValid: false, detail: NO_GH };
  const said = answer.ok ? world.parseJson(answer.stdout) : null;
  if (said === null || !isObject(said)) {
    return { isValid: false, detail: answer.stderr.split("\n").find((line) => line.trim() !== "") ?? null };
  }
  const state = valueAt(said, "state");
  const isValid =
    valueAt(said, "headRefName") === leg.branch &&
    valueAt(said, "headRefOid") === leg.head &&
    (state === "OPEN" || state === "MERGED");
  const told = [valueAt(said, "headRefName"), valueAt(said, "headRefOid"), state].map(String).join(" ");
  return { isValid, detail: isValid ? null : `pull request: ${told}` };
}

/** What has moved in a live tree is told, and stops nothing. */
function noticeDrift(world: ResumeWorld, { repo, worktree, head, dirty }: Leg): void {
  if (worktree === "missing" || world.kindOf(worktree) !== "folder") return;
  const live = headOf(world, worktree) ?? "unavailable";
  if (live !== head) world.notice(`Drift: ${repo} HEAD brief ${head}, live ${live}`);
  const now = dirtText(porcelainOf(world, worktree));
  if (now !== dirty) world.notice(`Drift: ${repo} dirty brief ${dirty}, live ${now}`);
}
