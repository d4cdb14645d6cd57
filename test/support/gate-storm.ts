/**
 * A storm over gates: several at once prove what scripted seats hand back, a seat that does its tasks rightly and one that
 * does not; some have walls around their proofs and some have none; some are killed or interrupted at drawn moments.
 * Then `gate-audit.ts` counts.
 *
 * One proof starts processes that leave its process group and outlive it, so that a killed gate leaves some behind.
 */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { auditGates, digestOf } from "./gate-audit.ts";
import { type RunningSeat, startScriptedSeat } from "./scripted-seat.ts";
import { type Random, seeded } from "./seeded.ts";
import { printed, type StormCall, StormCaller } from "./storm-call.ts";
import { type StormReport, type StormSetting, Tally } from "./storm-report.ts";
import { type LivingWorld, livingWorld } from "./writ.ts";

const ROOT = join(import.meta.dir, "..", "..");
const KILLED_SHARE = 0.4;
const SIGNALS = ["SIGKILL", "SIGKILL", "SIGINT"] as const;
/** How long what a proof leaves behind would live, in seconds: longer than a storm. */
export const STRAY_SEC = 1_999;

/** One run of a gate. */
export type GateDeed = {
  readonly set: "own" | "write-door";
  readonly seat: "right" | "wrong";
  readonly isWalled: boolean;
  readonly ran: StormCall;
  readonly document: Readonly<Record<string, unknown>> | null;
};

/** Errors: none of the storm's: what goes wrong is a fault of the report */
export async function stormGates(setting: StormSetting): Promise<StormReport> {
  using world = livingWorld();
  const storm = new GateStorm(setting, world);
  try {
    return await storm.run();
  } finally {
    await storm.close();
  }
}

class GateStorm {
  readonly tally = new Tally();
  readonly #random: Random;
  readonly #caller = new StormCaller();
  readonly #deeds: GateDeed[] = [];
  readonly #temporary: string;
  readonly #gate: UserGate;
  #seats: Readonly<Record<GateDeed["seat"], RunningSeat>> | null = null;
  #until = 0;

  constructor(
    readonly setting: StormSetting,
    readonly world: LivingWorld,
  ) {
    this.#random = seeded(setting.seed);
    this.#temporary = join(world.folder, "tmp");
    mkdirSync(this.#temporary);
    this.#gate = writeGate(world);
    // Where this stands first on PATH, a machine has no walls.
    mkdirSync(join(world.folder, "no-walls"));
    writeFileSync(join(world.folder, "no-walls", "bwrap"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
  }

  async run(): Promise<StormReport> {
    const { chaos_ms, isLong } = this.setting;
    this.#seats = {
      right: await startScriptedSeat(scriptOf("right")),
      wrong: await startScriptedSeat(scriptOf("wrong")),
    };
    const before = digestOf(this.#gate.folder);
    this.#until = performance.now() + chaos_ms;
    const lanes = Array.from({ length: isLong ? 5 : 3 }, (_, at) => this.#lane(this.#random.fork(`lane ${at}`)));
    await Promise.all(lanes);
    this.setting.log("calm");
    await auditGates({
      world: this.world,
      fixture: { folder: this.#gate.folder, before },
      proofs: this.#gate.proofs,
      temporary: this.#temporary,
      deeds: this.#deeds,
      last: async () => await this.#run("own", "right", false, null, this.#random),
      tally: this.tally,
    });
    return this.tally.report();
  }

  async close(): Promise<void> {
    for (const seat of Object.values(this.#seats ?? {})) await seat.close();
  }

  async #lane(random: Random): Promise<void> {
    while (performance.now() < this.#until) {
      const set = this.setting.isLong && random.chance(0.2) ? "write-door" : "own";
      const seat = set === "own" && random.chance(0.3) ? "wrong" : "right";
      const kill = random.chance(KILLED_SHARE) ? random.pick(SIGNALS) : null;
      const deed = await this.#run(set, seat, random.chance(0.5), kill, random);
      this.#deeds.push(deed);
      const { ran, document } = deed;
      const end = ran.signal === null ? String(document?.verdict) : `${ran.signal}, ended in ${ran.exit}`;
      this.tally.count(`${set}, ${seat} seat: ${end}`);
      this.setting.log(`${set} ${seat} ${deed.isWalled ? "walled" : "bare"}: ${end}`);
    }
  }

  async #run(
    set: GateDeed["set"],
    seat: GateDeed["seat"],
    isWalled: boolean,
    kill: (typeof SIGNALS)[number] | null,
    random: Random,
  ): Promise<GateDeed> {
    const { world } = this;
    const words = set === "own" ? ["gate", "run", "g/gate.json", "--yes"] : ["gate", "write-door"];
    // All of one set keep what they found in one folder, as two shells of one user would.
    const args = [...words, "--json", "--out", `kept/${set}`];
    const path = world.env().PATH ?? "";
    const env = world.env({
      WRIT_SEAT_URL: this.#seats?.[seat].url ?? "",
      WRIT_AGENT_ALLOW_WRITE: "true",
      TMPDIR: this.#temporary,
      PATH: isWalled ? path : `${join(world.folder, "no-walls")}:${path}`,
    });
    const ran = await this.#caller.call(set, args, random, { env, cwd: world.folder, kill });
    return { set, seat, isWalled, ran, document: printed(ran.stdout) };
  }
}

type UserGate = {
  readonly folder: string;
  /** How many proofs the legs of each set have. */
  readonly proofs: Readonly<Record<GateDeed["set"], Readonly<Record<string, number>>>>;
};

/** A gate of the user's beside its fixture, from two tasks of the shipped set. */
function writeGate(world: LivingWorld): UserGate {
  const folder = join(world.folder, "g");
  for (const task of ["t1", "t4"]) {
    mkdirSync(join(folder, task), { recursive: true });
    const from = join(ROOT, "contracts", "write-door", task);
    for (const name of readdirSync(from)) copyFileSync(join(from, name), join(folder, task, name));
  }
  const shipped = JSON.parse(readFileSync(join(ROOT, "contracts", "write-door", "gate.json"), "utf8")) as {
    readonly legs: readonly { readonly name: string; readonly proofs: readonly object[] }[];
  };
  const stray = `sleep ${STRAY_SEC} > /dev/null 2>&1 &`;
  const legs = shipped.legs
    .filter(({ name }) => name === "t1" || name === "t4")
    .map((leg) => ({
      ...leg,
      proofs: [
        ...leg.proofs,
        {
          kind: "command",
          run: ["sh", "-c", `${stray} setsid ${stray} sleep 0.3; echo done`],
          expect: "pass",
          match: "done",
        },
      ],
    }));
  writeFileSync(join(folder, "gate.json"), JSON.stringify({ schema_version: 1, name: "own", mode: "write", legs }));
  const counted = (all: typeof shipped.legs) =>
    Object.fromEntries(all.map(({ name, proofs }) => [name, proofs.length]));
  return { folder, proofs: { own: counted(legs), "write-door": counted(shipped.legs) } };
}

/** The seat that does every task of the write-door set rightly, or one that leaves its first task wrong. */
function scriptOf(seat: GateDeed["seat"]) {
  const text = readFileSync(join(ROOT, "fixtures", "write-door", "right.json"), "utf8");
  const wrong = text.replace('return hi;"', 'return hi - 0.5;"');
  if (wrong === text) throw new Error("the script of the right seat is another one");
  return JSON.parse(seat === "right" ? text : wrong) as { readonly turns: readonly unknown[] };
}
