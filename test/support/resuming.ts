/** A world for handing off and resuming: a primary checkout, a linked worktree with spec and plan, a mailbox, a scripted gh. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Flow } from "../../src/core/tracker/flow.ts";
import type { PhaseCall } from "../../src/core/tracker/phase-verbs.ts";
import type { PlanCall } from "../../src/core/tracker/plan-verbs.ts";
import { DEFAULT_SETTINGS } from "../../src/core/tracker/settings.ts";
import { sha256 } from "../../src/store/drafts.ts";
import { flowStore } from "../../src/store/flow.ts";
import { type Checkout, GIT_IDENTITY, openCheckouts } from "./checkout.ts";
import { answerTo, flowAfter, tasksOf } from "./flow.ts";
import { PLAN, PLAN_PATH, SOURCES, SPEC, SPEC_PATH } from "./greeting.ts";
import { livingWorld, type Ran, type Setting, shown } from "./writ.ts";

export type Resuming = {
  readonly folder: string;
  readonly mailbox: string;
  /** The primary checkout, on main. */
  readonly primary: Checkout;
  /** A linked worktree on feature/x, with spec and plan. */
  readonly tree: Checkout;
  readonly spec: string;
  readonly plan: string;
  /** Runs writ with these words, in the worktree unless told otherwise. */
  writ(words: readonly string[], setting?: Setting): Promise<Ran>;
  /** The same, shown. */
  shown(words: readonly string[], setting?: Setting): Promise<string>;
  /** Runs lines of a shell in which writ is on PATH. */
  shell(script: string, setting?: Setting): Promise<Ran>;
  /** The environment of a call, for a process that a test starts by itself. */
  env(): Record<string, string>;
  /** Puts a flow into implement, with three tasks and a stamp. */
  flow(): void;
  /** Hands off under a key; the path of the brief. */
  handoff(key: string, ...words: readonly string[]): Promise<string>;
  /** Changes a brief in place. */
  edit(path: string, change: (text: string) => string): void;
  /** What a scripted gh does: a body of sh. */
  gh(script: string): void;
  [Symbol.dispose](): void;
};

export function openResuming(
  files: Readonly<Record<string, string>> = { [SPEC_PATH]: SPEC, [PLAN_PATH]: PLAN },
): Resuming {
  const places = openCheckouts();
  const mailbox = join(places.folder, "mail");
  const programs = join(places.folder, "bin");
  mkdirSync(programs);
  const world = livingWorld({ WRIT_HANDOFF_DIR: mailbox, ...GIT_IDENTITY });
  const primary = places.repository("primary", SOURCES);
  const tree = primary.worktree(join(places.folder, "x tree"), "feature/x");
  for (const [file, text] of Object.entries(files)) tree.write(file, text);
  tree.commit("spec and plan");
  const spec = join(tree.path, SPEC_PATH);
  const plan = join(tree.path, PLAN_PATH);
  const within = (setting: Setting = {}): Setting => ({ cwd: tree.path, ...setting });
  const writ = (words: readonly string[], setting?: Setting) => world.writ(words, within(setting));
  const shell = (script: string, setting?: Setting) =>
    world.shell(`PATH="${programs}:$PATH"; ${script}`, within(setting));
  return {
    folder: places.folder,
    mailbox,
    primary,
    tree,
    spec,
    plan,
    writ,
    shown: async (words, setting) => shown(await writ(words, setting)),
    shell,
    env: () => world.env(),
    flow: () => storeFlow(tree.git("rev-parse", "--absolute-git-dir"), plan, spec),
    async handoff(key, ...words) {
      const ran = await writ(["handoff", "--key", key, ...words]);
      if (ran.exit !== 0) throw new Error(shown(ran));
      return join(mailbox, `${key}.md`);
    },
    edit: (path, change) => writeFileSync(path, change(readFileSync(path, "utf8"))),
    gh(script) {
      const path = join(programs, "gh");
      writeFileSync(path, `#!/bin/sh\n${script}\n`);
      chmodSync(path, 0o755);
    },
    [Symbol.dispose]() {
      world[Symbol.dispose]();
      places[Symbol.dispose]();
    },
  };
}

/** The state that the calls of a flow would have left, without their processes. */
function storeFlow(gitDir: string, plan: string, spec: string): void {
  const digest = (path: string) => sha256(readFileSync(path));
  const stamp = { plan_path: plan, plan_sha256: digest(plan), spec_path: spec, spec_sha256: digest(spec) };
  const armed = flowAfter([
    { action: "start", phase: "brainstorm", force: false },
    { action: "skip", phase: "brainstorm", reason: "r" },
    { action: "complete", phase: "plan" },
  ]);
  const calls: readonly (PhaseCall | PlanCall)[] = [
    { action: "start", phase: "implement", force: false },
    { action: "substep", phase: "implement", substep: "W2" },
    { action: "init", tasks: tasksOf("W1: contract=complete", "W2: producer=in_progress", "W2: consumer") },
  ];
  let flow: Flow = { ...armed, stamp };
  for (const call of calls) {
    const answer = answerTo(flow, call, { settings: DEFAULT_SETTINGS, digestOf: digest });
    if (!answer.ok) throw new Error(answer.refusal.message);
    flow = answer.flow;
  }
  flowStore(join(gitDir, "writ", "store.sqlite")).write(() => ({ record: { flow, mark: null }, value: null }));
}
