/** Writes a handoff brief: what a person says, what git says, and the flow to the letter. */
import { GATE_LINE, type RepoState, type Subject, TITLE_START } from "../core/brief/brief.ts";
import {
  FORBIDDEN_HEADINGS,
  gatherText,
  type HumanOptions,
  type HumanText,
  unfaithful,
} from "../core/brief/human-text.ts";
import type { BriefIssue } from "../core/brief/issue.ts";
import { isBrief, parseParts, processSection } from "../core/brief/parse.ts";
import { type ProcessBlock, renderCore, renderProcess, taskSubject } from "../core/brief/render.ts";
import { readReworkRecord } from "../core/brief/rework-record.ts";
import { plainRefusal, stop } from "../core/brief/stop.ts";
import type { TurnText } from "../core/brief/turn-text.ts";
import type { WritError } from "../core/error.ts";
import { isLedger, parseLedger } from "../core/ledger/ledger-file.ts";
import { activePhase, type Flow, flowText } from "../core/tracker/flow.ts";
import { plansDir } from "../core/tracker/settings.ts";
import { deriveBase, readCandidates } from "./candidates.ts";
import { asked, remoteDefault, toplevelOf } from "./git-facts.ts";
import { recordLegs } from "./legs.ts";
import { readRepoState, UNAVAILABLE } from "./repo-state.ts";
import type { BriefWorld } from "./world.ts";

export type HandoffOptions = {
  /** The target checkout, absolute; null: the session's. */
  readonly worktree: string | null;
  readonly out: string | null;
  readonly key: string | null;
  readonly from: string | null;
  readonly human: HumanOptions;
  /** What is said of an open turn; null: nothing. */
  readonly turn: TurnText | null;
  /** As typed; null: found. */
  readonly ledger: string | null;
  readonly hotfix: boolean;
  readonly print: boolean;
};

export type Handoff = {
  readonly text: string;
  /** Absolute; null for a brief that is only printed. */
  readonly path: string | null;
  /** Whether the process-state block was written. */
  readonly process: boolean;
  /** Why it was not. */
  readonly plain: "no phase is in progress" | "hotfix" | null;
  /** The worktree to name when it is resumed: the brief itself names none. */
  readonly toplevel: string | null;
  readonly isInGit: boolean;
  /** What the flow goes on from and the checkout does not show, so that resuming it would stop; null: nothing. */
  readonly lacks: "spec" | "plan" | null;
  readonly dropped: readonly BriefIssue[];
  /** Marks the flow as handed off; called once the brief is where it belongs. */
  mark(): void;
};

/** `Handoff not written: <reason>`. */
export function notWritten(reason: string, isUsage = false, hint: string | null = null): WritError {
  return plainRefusal(isUsage ? "usage" : "handoff_not_written", `Handoff not written: ${reason}`, { hint });
}

/**
 * Errors: `handoff_not_written`, `usage`, `file_unwritable`, `git`, `git_missing`, and those of the store
 * Source: flow state, section 10
 */
export function writeHandoff(world: BriefWorld, options: HandoffOptions): Handoff {
  const target = options.worktree ?? world.cwd;
  if (world.kindOf(target) !== "folder") throw notWritten(`${target} does not exist`);
  const toplevel = oneLinePath(toplevelOf(world, target) ?? target);
  const store = world.storeAt(target);
  const repo = readRepoState(world, target);
  const path = options.print ? null : destination(world, options, target, repo);
  const { text: human, dropped } = humanText(options, branchWord(repo));
  const core = renderCore({ ...human, repo_state: repo });
  const { flow } = store.read();
  const plain = activePhase(flow) === null ? "no phase is in progress" : options.hotfix ? "hotfix" : null;
  const process = plain === null ? processBlock(world, { flow, toplevel, repo, options }) : null;
  const text = core + (process === null ? "" : renderProcess(flow, process.block));
  if (path !== null) place(world, path, text, plain === null);
  return {
    text,
    path,
    process: plain === null,
    plain,
    toplevel: repo.kind === "fields" && repo.fields.worktree?.kind !== "yes" ? toplevel : null,
    isInGit: repo.kind === "fields",
    lacks: repo.kind === "fields" ? (process?.lacks ?? null) : null,
    dropped,
    mark: () => {
      if (plain === null) markFlow(world, { target, flow, text, path });
    },
  };
}

/** A brief names the checkout in a line of its own. Errors: `handoff_not_written` */
function oneLinePath(toplevel: string): string {
  if (!/[\u0000-\u001f\u007f]/.test(toplevel)) return toplevel;
  throw notWritten(`the path of the checkout holds a control character: ${JSON.stringify(toplevel)}`);
}

function humanText(
  options: HandoffOptions,
  branch: string,
): { readonly text: HumanText; readonly dropped: readonly BriefIssue[] } {
  const gathered = gatherText(options.from, options.human);
  if (gathered === null) throw forbidden();
  const { text } = gathered;
  const firstLine = text.intent === "" ? options.turn?.title : text.intent.split("\n", 1)[0]?.trim();
  const whole: HumanText = {
    ...text,
    title: text.title || firstLine || `continue ${branch}`,
    intent: [
      text.intent === "" ? (options.turn?.goal ?? "none recorded") : text.intent,
      ...turnLines(options.turn),
    ].join("\n"),
    open_questions: [...text.open_questions, ...(options.turn?.questions ?? [])],
  };
  const fault = unfaithful(whole);
  if (fault === "forbidden") throw forbidden();
  if (fault !== null) throw notWritten(`the text cannot stand in a brief: ${fault}`);
  return { text: whole, dropped: gathered.dropped };
}

/** A paragraph of its own. */
function turnLines(turn: TurnText | null): readonly string[] {
  return turn === null ? [] : ["", ...turn.lines];
}

function forbidden(): WritError {
  return stop("handoff_not_written", FORBIDDEN_HEADINGS);
}

function branchWord(repo: RepoState): string {
  return repo.fields?.branch ?? "detached";
}

/** Where the brief goes. Source: flow state, section 10.2. */
function destination(world: BriefWorld, { out, key }: HandoffOptions, target: string, repo: RepoState): string {
  if (out !== null) {
    const path = world.resolve(world.cwd, out);
    const folder = world.folderOf(path);
    if (world.kindOf(folder) !== "folder") throw notWritten(`parent directory ${folder} does not exist`);
    return path;
  }
  const stem = key ?? branchKey(world, target, repo);
  if (world.openMailbox() === "another user's") throw notWritten(`${world.mailbox} belongs to another user`);
  const path = world.resolve(world.mailbox, `${stem}.md`);
  if (key === null) keepForeignBrief(world, path, repo);
  return path;
}

/** A branch has one name in many checkouts: under the default key no brief of another one is replaced. */
function keepForeignBrief(world: BriefWorld, path: string, repo: RepoState): void {
  const text = world.readFile(path)?.text ?? "";
  const owner = isBrief(text) ? (parseParts(text).repo_state?.fields?.toplevel ?? null) : null;
  if (owner === null || owner === UNAVAILABLE || owner === repo.fields?.toplevel) return;
  throw notWritten(`${path} is the brief of ${owner} - pass --key or --out`);
}

/** A stem is one part of a path on any system. */
export function isFileStem(key: string): boolean {
  return key.trim() !== "" && key !== "." && key !== ".." && !/[\u0000-\u001f\u007f/\\<>:"|?*]/.test(key);
}

function branchKey(world: BriefWorld, target: string, repo: RepoState): string {
  const branch = branchWord(repo);
  const trunk = remoteDefault(world, target)?.replace(/^origin\//, "") ?? null;
  const key = branch.replaceAll("/", "-");
  if (branch === "detached" || branch === "unavailable" || branch === trunk || !isFileStem(key)) {
    throw notWritten(`no key for ${branch === "unavailable" ? "detached" : branch} - pass --key or --out`);
  }
  return key;
}

type Setting = {
  readonly flow: Flow;
  readonly toplevel: string;
  readonly repo: RepoState;
  readonly options: HandoffOptions;
};

/** Source: flow state, section 10.4 */
function processBlock(
  world: BriefWorld,
  setting: Setting,
): { readonly block: ProcessBlock; readonly lacks: Handoff["lacks"] } {
  const { flow, toplevel, repo } = setting;
  const found = repo.kind === "fields" ? findSpec(world, setting) : { specs: [], plans: 0, spec: null, ledgers: [] };
  const ledger = findLedger(world, setting, found.spec, found.ledgers);
  const spec = found.spec ?? ledger?.spec ?? null;
  const specText = spec === null ? null : (world.readFile(spec)?.text ?? null);
  const record = specText === null ? null : readReworkRecord(specText);
  const { specDirs, siblings } = world.settingsAt(toplevel);
  const legs =
    spec === null || specText === null
      ? []
      : recordLegs(world, { worktree: toplevel, specPath: spec, specText, specDirs, siblings });
  if ("unknown" in legs) throw notWritten(`no recorded HEAD for leg ${legs.unknown}`);
  const block = {
    subject: ledger?.subject ?? taskSubject(flow.tasks),
    prs: record?.prs ?? [],
    rework_base: (record?.prs.length ?? 0) > 0 ? (record?.rework_base ?? null) : null,
    legs,
  };
  return { block, lacks: ledger === null ? lackOf(flow, found, legs.length > 1) : null };
}

/** Where a consumer finds no spec, or no plan that pairs with one, it stops. Source: flow state, section 12.7. */
function lackOf(flow: Flow, { specs, plans }: ReturnType<typeof findSpec>, isCoordinated: boolean): Handoff["lacks"] {
  const active = activePhase(flow)?.name;
  if (active === "brainstorm") return null;
  if (specs.length === 0) return "spec";
  return plans > 0 || active === "plan" || (active === "ship" && isCoordinated) ? null : "plan";
}

/** The one spec that the branch brings; of several the one that was stamped. */
function findSpec(world: BriefWorld, { flow, toplevel }: Setting) {
  // Where no base can be derived, what is untracked is new all the same.
  const base = deriveBase(world, toplevel) ?? asked(world, toplevel, "rev-parse", "-q", "--verify", "HEAD");
  const { specDirs } = world.settingsAt(toplevel);
  const found = base === null ? null : readCandidates(world, { worktree: toplevel, base, specDirs });
  const specs = (found?.specs ?? []).map((path) => world.resolve(toplevel, path));
  const stamped = flow.stamp?.spec_path ?? null;
  const spec = specs.length === 1 ? (specs[0] ?? null) : stamped;
  return {
    specs,
    plans: found?.plans.size ?? 0,
    spec,
    ledgers: (found?.ledgers ?? []).map((path) => world.resolve(toplevel, path)),
  };
}

type FoundLedger = { readonly subject: Subject; readonly spec: string | null };

/**
 * The ledger of `--ledger`; else the one that names the resolved spec; without a resolved spec the one that the branch
 * added or left untracked: an older one says nothing of this flow.
 *
 * Errors: `handoff_not_written`
 */
function findLedger(
  world: BriefWorld,
  { flow, toplevel, options }: Setting,
  spec: string | null,
  added: readonly string[],
): FoundLedger | null {
  if (options.ledger !== null) {
    const path = world.resolve(world.cwd, options.ledger);
    const found = readLedger(world, toplevel, path);
    if (found === null) throw notWritten(`${path} is no loop ledger under ${toplevel}`);
    return found;
  }
  const all = new Set([...added, ...(spec === null ? [] : plansOf(world, toplevel))]);
  const ledgers = [...all].sort().flatMap((path) => {
    const found = readLedger(world, toplevel, path);
    return found === null ? [] : [{ ...found, path }];
  });
  const paired = ledgers.filter((ledger) => ledger.spec !== null && (spec === null || ledger.spec === spec));
  const stamped = paired.find(({ path }) => path === flow.stamp?.plan_path);
  const [only, ...further] = paired;
  if (only === undefined || stamped !== undefined) return stamped ?? null;
  if (further.length > 0) throw notWritten("more than one ledger - pass --ledger");
  return only;
}

/** The Markdown files of the plans directories. */
function plansOf(world: BriefWorld, toplevel: string): readonly string[] {
  const folders = new Set(world.settingsAt(toplevel).specDirs.map(plansDir));
  return [...folders].flatMap((dir) => world.markdownIn(world.resolve(toplevel, dir)).map(({ path }) => path));
}

function readLedger(world: BriefWorld, toplevel: string, path: string): FoundLedger | null {
  const text = world.readFile(path)?.text ?? "";
  const below = world.below(toplevel, path);
  if (!isLedger(text) || below === null) return null;
  const { spec, lastDecision } = parseLedger(text);
  const specPath = spec === null ? null : world.resolve(toplevel, spec);
  return {
    subject: { kind: "ledger", path: below, last_decision: lastDecision },
    spec: specPath !== null && world.kindOf(specPath) === "file" ? specPath : null,
  };
}

/** Writes the brief and reads it back. Errors: `file_unwritable`, `handoff_not_written` */
function place(world: BriefWorld, path: string, text: string, hasBlock: boolean): void {
  world.writeBrief(path, text);
  const back = world.readFile(path)?.text ?? "";
  const last = back.split("\n").at(-2);
  if (!back.startsWith(TITLE_START) || (hasBlock && last !== GATE_LINE)) throw notWritten(`${path} failed read-back`);
}

/** Source: flow state, section 10.6 */
function markFlow(
  world: BriefWorld,
  {
    target,
    flow,
    text,
    path,
  }: { readonly target: string; readonly flow: Flow; readonly text: string; readonly path: string | null },
): void {
  const mark = {
    state_sha256: world.sha256(flowText(flow)),
    brief_path: path === null ? null : (world.realPath(path) ?? path),
    block_sha256: world.sha256(processSection(text) ?? ""),
    at: world.now(),
  };
  world.storeAt(target).write((record) => ({ record: { ...record, mark }, value: null }));
}
