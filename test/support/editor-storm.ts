/**
 * A storm over the editor: many real processes work on a few turns in one store. Some are killed at drawn moments; the disk
 * is full for a while, or read-only; some have another time. Then all of it is over, and `editor-audit.ts` counts.
 *
 * Where this process may not mount, the disk stays as it is; without libfaketime the clocks do, and without strace nobody
 * is killed at a drawn call to the system. The counts say so.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findCrashPoints } from "./crash-point.ts";
import { auditEditor } from "./editor-audit.ts";
import { type Random, seeded } from "./seeded.ts";
import { canMount, smallDisk } from "./small-disk.ts";
import { findSteppedClock } from "./stepped-clock.ts";
import { printed, StormCaller } from "./storm-call.ts";
import { type StormReport, type StormSetting, Tally } from "./storm-report.ts";
import { type LivingWorld, livingWorld } from "./writ.ts";

export const BRIEF = "storm";
const DISK_MB = 96;
/** Clocks of processes, by what they are away from the machine's. */
const FAR_AHEAD = "+400d";
const STEPS = ["-400d", "-2h", "-30", "+30", "+2h", FAR_AHEAD] as const;
const SIGNALS = ["SIGKILL", "SIGKILL", "SIGKILL", "SIGINT"] as const;
const KILLED_SHARE = 0.2;
const STEPPED_SHARE = 0.15;

/** What a call was to do, and how it ended. */
export type Deed = {
  readonly kind: Kind;
  /** A text of this deed alone. */
  readonly mark: string;
  readonly ran: Awaited<ReturnType<StormCaller["call"]>>;
  readonly document: Readonly<Record<string, unknown>> | null;
  /** What it is worth to whoever made the call. */
  readonly fate: "acknowledged" | "refused" | "unavailable" | "killed";
};

const KINDS = {
  add: 8,
  set: 3,
  fill: 3,
  run: 5,
  hook: 5,
  stop: 2,
  "evidence text": 2,
  "evidence file": 2,
  task: 2,
  dispatch: 1,
  block: 2,
  complete: 2,
  finalize: 1,
  read: 6,
} as const;
export type Kind = keyof typeof KINDS;
const DRAWN = Object.entries(KINDS).flatMap(([kind, weight]) => Array.from({ length: weight }, () => kind as Kind));
const READS: readonly [readonly string[], ...(readonly string[])[]] = [
  ["contract", "view"],
  ["contract", "validate"],
  ["contract", "chain", "--json"],
  ["contract", "log", "--json"],
  ["record", "verify", "--json"],
];

/** Errors: none of the storm's: what goes wrong is a fault of the report */
export async function stormEditor(setting: StormSetting): Promise<StormReport> {
  using world = livingWorld();
  using storm = new EditorStorm(setting, world);
  return await storm.run();
}

type Stretch = { readonly from_ms: number; to_ms: number };

class EditorStorm {
  readonly tally = new Tally();
  readonly #random: Random;
  readonly #caller = new StormCaller();
  readonly #disk: ReturnType<typeof smallDisk> | null;
  readonly #clock = findSteppedClock();
  readonly #crash = findCrashPoints();
  readonly #deeds: Deed[] = [];
  readonly #roots: string[] = [];
  readonly #env: Record<string, string>;
  #until = 0;
  #marks = 0;
  /** How many calls are under way, and what they wait for before they begin. */
  #underway = 0;
  #gate: Promise<void> = Promise.resolve();
  /** When the disk was full or read-only, oldest first. */
  readonly #broken: Stretch[] = [];
  /** When a process tidied up whose clock is so far ahead that every draft is old. */
  readonly #swept: Stretch[] = [];

  constructor(
    readonly setting: StormSetting,
    readonly world: LivingWorld,
  ) {
    this.#random = seeded(setting.seed);
    this.#disk = canMount() ? smallDisk(world.data, DISK_MB) : null;
    const temporary = join(world.folder, "tmp");
    mkdirSync(temporary);
    this.#env = world.env({ TMPDIR: temporary });
  }

  async run(): Promise<StormReport> {
    const { chaos_ms, isLong } = this.setting;
    for (let at = 0; at < 3; at += 1) this.#roots.push(await this.world.born("--goal", `turn ${at}`));
    await this.world.writ(["task", "brief", "add", BRIEF]);
    this.#until = performance.now() + chaos_ms;
    const lanes = Array.from({ length: isLong ? 8 : 5 }, (_, at) => this.#lane(this.#random.fork(`lane ${at}`)));
    const trouble = this.#trouble(this.#random.fork("trouble"));
    await Promise.all([...lanes, trouble]);
    this.setting.log("calm");
    if (this.#disk === null) this.tally.count("not covered: disks (mounting is not allowed)");
    if (this.#crash === null) this.tally.count("not covered: kills at a call to the system (strace is not there)");
    if (this.#clock === null) this.tally.count("not covered: clocks (libfaketime is not there)");
    await auditEditor({ world: this.world, env: this.#env, deeds: this.#deeds, roots: this.#roots, tally: this.tally });
    return this.tally.report();
  }

  [Symbol.dispose](): void {
    this.#disk?.[Symbol.dispose]();
  }

  get #isOver(): boolean {
    return performance.now() >= this.#until;
  }

  /** What befalls the disk, one thing after the other. */
  async #trouble(random: Random): Promise<void> {
    const disk = this.#disk;
    while (disk !== null && !this.#isOver) {
      await Bun.sleep(random.between(300, 1500));
      if (this.#isOver) break;
      const what = random.pick(["full", "read-only"]);
      const stretch: Stretch = { from_ms: performance.now(), to_ms: Number.POSITIVE_INFINITY };
      this.#broken.push(stretch);
      const break_ms = random.between(100, 800);
      if (what === "full") {
        disk.fill();
        await Bun.sleep(break_ms);
        disk.free();
      } else if (await this.#between(() => disk.lock())) {
        await Bun.sleep(break_ms);
        await this.#between(() => disk.unlock());
      }
      stretch.to_ms = performance.now();
      this.tally.count(`trouble: ${what}`);
      this.setting.log(`${what} for ${Math.round(stretch.to_ms - stretch.from_ms)} ms`);
    }
  }

  /** Does something while no call is under way. */
  async #between<T>(act: () => T): Promise<T> {
    const open = Promise.withResolvers<void>();
    this.#gate = open.promise;
    try {
      while (this.#underway > 0) await Bun.sleep(2);
      return act();
    } finally {
      open.resolve();
    }
  }

  async #lane(random: Random): Promise<void> {
    const folder = mkdtempSync(join(this.world.folder, "lane-"));
    // A slow machine does a few things, too, before it is over.
    for (let made = 0; !this.#isOver || made < 3; made += 1) {
      await this.#gate;
      this.#underway += 1;
      try {
        await this.#work(random, folder);
      } finally {
        this.#underway -= 1;
      }
    }
    rmSync(folder, { recursive: true, force: true });
  }

  /** One call, or those that close a turn. */
  async #work(random: Random, folder: string): Promise<void> {
    const [first = "run", ...rest] = DRAWN;
    const kind = random.pick([first, ...rest]);
    const [one = "", ...more] = this.#roots;
    const root = random.pick([one, ...more]);
    const deed = (each: Kind, cited = "") => this.#deed({ kind: each, root, cited, random, folder });
    const cited = kind === "complete" ? await deed("run") : "";
    await deed(kind, cited);
    if (kind !== "block" && kind !== "complete") return;
    // Another one may do the same at the same moment, or write what opens the next contract.
    await deed("finalize");
    if (random.chance(0.4)) await deed("finalize");
  }

  /** The mark of one call, when it is over. */
  async #deed(order: Order): Promise<string> {
    const { kind, random, folder } = order;
    this.#marks += 1;
    const mark = `mark-${this.#marks}.`;
    const { args, stdin = "" } = wordsOf(order, mark);
    const kill = random.chance(KILLED_SHARE) ? random.pick(SIGNALS) : null;
    const step = random.chance(STEPPED_SHARE) && this.#clock !== null ? random.pick(STEPS) : null;
    const env = { ...this.#env, ...(step === null ? {} : this.#clock?.(step)) };
    if (step !== null) this.tally.count("clocks stepped");
    const crash = kill === "SIGKILL" && this.#crash !== null && random.chance(0.5) ? this.#crash(random) : [];
    const life: Stretch = { from_ms: performance.now(), to_ms: Number.POSITIVE_INFINITY };
    if (kind === "dispatch" && step === FAR_AHEAD) this.#swept.push(life);
    const ran = await this.#caller.call(kind, args, random, { env, cwd: folder, stdin, kill, crash });
    life.to_ms = performance.now();
    if (crash.length > 0 && ran.signal !== null) this.tally.count("killed while writing");
    const document = printed(ran.stdout);
    const isBroken = this.#broken.some((each) => overlap(each, ran));
    const fate = fateOf(kind, ran, document);
    const isExpected = isRefusable(kind, ran, document) || (kind === "read" && this.#mayBeSwept(order.root, ran));
    if (fate === "refused" && !isExpected) this.#complain(kind, ran);
    if (fate === "unavailable" && !isBroken) this.#complain(kind, ran);
    if (kind === "dispatch" && fate === "acknowledged") this.#adopt(String(document?.contract_id));
    this.tally.count(`${kind}: ${fate}`);
    this.#deeds.push({ kind, mark, ran, document, fate });
    return mark;
  }

  /**
   * Whether the draft may be one that was swept, and not written since: `validate` finds none then. Its row has all that
   * it held, and the next write makes it anew.
   */
  #mayBeSwept(root: string, { args, exit, stderr, ...read }: Deed["ran"]): boolean {
    if (!args.includes("validate") || exit !== 3 || !stderr.startsWith("Error: No draft found")) return false;
    const written = this.#deeds.findLast(
      ({ fate, document, ran }) =>
        fate === "acknowledged" &&
        document?.draft_id === root &&
        WRITES.has(ran.args[1] ?? "") &&
        ran.to_ms < read.from_ms,
    );
    const since = { from_ms: written?.ran.from_ms ?? 0, to_ms: read.to_ms };
    return this.#swept.some((each) => overlap(each, since));
  }

  /** A few turns at a time: the oldest is left alone from now on. */
  #adopt(root: string): void {
    this.#roots.push(root);
    if (this.#roots.length > 4) this.#roots.shift();
  }

  #complain(kind: Kind, { args, exit, stdout, stderr }: Deed["ran"]): void {
    this.tally.fault(`${kind} (${args.join(" ").slice(0, 120)}) ended in ${exit}: ${(stdout + stderr).slice(0, 500)}`);
  }
}

type Order = {
  readonly kind: Kind;
  /** The contract that it is addressed to, be it closed and continued by now. */
  readonly root: string;
  /** The mark of the run that a verification cites. */
  readonly cited: string;
  readonly random: Random;
  readonly folder: string;
};

function wordsOf(
  { kind, root, cited, random, folder }: Order,
  mark: string,
): { readonly args: readonly string[]; readonly stdin?: string } {
  const at = ["--draft-id", root];
  const fill = (patch: object) => ({ args: ["contract", "fill", "--json", JSON.stringify(patch), ...at] });
  switch (kind) {
    case "add":
      return { args: ["contract", "add", "evidence_report.key_outputs", mark, "--json", ...at] };
    case "set":
      return { args: ["contract", "set", "conclusion", mark, "--json", ...at] };
    case "fill":
      return fill({ conclusion: mark });
    case "run":
      return { args: ["run", "--contract-id", root, "--", "echo", mark] };
    case "hook":
      return {
        args: ["record", "--json", "--contract-id", root],
        stdin: JSON.stringify({
          hook_event_name: "PostToolUse",
          session_id: "storm",
          cwd: folder,
          tool_name: "Bash",
          tool_use_id: mark,
          tool_input: { command: `make ${mark}` },
          tool_response: { stdout: mark, stderr: "", interrupted: false },
        }),
      };
    case "stop":
      return {
        args: ["record", "--stop", "--gate", "1", "--json", "--contract-id", root],
        stdin: JSON.stringify({ hook_event_name: "SubagentStop", session_id: "storm", cwd: folder }),
      };
    case "evidence text":
      return { args: [...evidenceWords("text"), "--text", mark] };
    case "evidence file": {
      const file = join(folder, "artifact.log");
      writeFileSync(file, artifactOf(mark));
      return { args: [...evidenceWords("command_output"), "--artifact-file", file] };
    }
    case "task":
      return { args: ["task", "add", "--brief", BRIEF, "--goal", mark, "--json"] };
    case "dispatch":
      return { args: ["dispatch", "--agent", "storm", "--goal", mark, "--json"] };
    case "block":
      return fill({ conclusion: mark, agent_status: { agent_state: "BLOCKED", next_action: "look at it" } });
    case "complete":
      return fill({
        conclusion: mark,
        evidence_report: { verification: { type: "command", command: `echo ${cited}`, result: "pass" } },
        agent_status: { agent_state: "COMPLETE", next_action: "done" },
      });
    case "finalize":
      return { args: ["contract", "finalize", "--json", ...at] };
    case "read":
      return { args: [...random.pick(READS), ...at] };
    default:
      return kind satisfies never;
  }
}

function evidenceWords(type: string): readonly string[] {
  return ["evidence", "add", "--brief", BRIEF, "--ac", "AC-1", "--type", type, "--json"];
}

/** More than a row holds. */
export function artifactOf(mark: string): string {
  return `${mark}\n`.repeat(2000);
}

function fateOf(kind: Kind, ran: Deed["ran"], document: Deed["document"]): Deed["fate"] {
  const { exit, signal, stderr } = ran;
  // A signal can come when all is done; what counts is what the caller saw.
  if (signal !== null && exit >= 128) return "killed";
  if (exit === 4) return "unavailable";
  if (exit !== 0) return "refused";
  // These never end in another status.
  if (kind === "run") return stderr.includes("nothing was recorded") ? "unavailable" : "acknowledged";
  if (kind === "hook") return document?.status === "recorded" ? "acknowledged" : "unavailable";
  if (kind === "stop") return document?.ok === true ? "acknowledged" : "unavailable";
  return "acknowledged";
}

/** What a state forbids, or a record refutes, is an answer. */
function isRefusable(kind: Kind, { exit }: Deed["ran"], document: Deed["document"]): boolean {
  const code = String(document?.code);
  if (kind === "finalize") return exit === 1 ? CLOSE_REFUSALS.has(code) : exit === 3 && code === "closed";
  return false;
}

function overlap(one: Stretch, other: Stretch): boolean {
  return one.from_ms <= other.to_ms && other.from_ms <= one.to_ms;
}

/** Verbs of `contract` that write the draft. */
const WRITES: ReadonlySet<string> = new Set(["set", "add", "fill"]);
const CLOSE_REFUSALS = new Set(["content_unverified", "conclusion_required", "validation"]);
