/** A gate over its legs, in order, one at a time (delegation run, sections 10.2 and 10.4). */
import type { Leg, LegGate } from "../core/gate/gate-file.ts";
import { type LegReport, legLine, type Verdict, verdictOver } from "../core/gate/report.ts";
import { proveLeg } from "./prove-leg.ts";
import type { GateWorld } from "./world.ts";

export type RunOptions = {
  /** The legs that are looked at; null: all. Each is a leg of the gate. */
  readonly only: readonly string[] | null;
  /** Runs nothing of a seat's without walls around it. */
  readonly requireSandbox: boolean;
};

export type GateRun = {
  readonly verdict: Verdict;
  readonly partial: boolean;
  readonly scripted: boolean;
  readonly legs: readonly LegReport[];
};

/** Runs a gate. Errors: `copy_failed`; the reason of the signal */
export async function runGate(world: GateWorld, gate: LegGate, options: RunOptions): Promise<GateRun> {
  const chosen = gate.legs.filter(({ name }) => options.only === null || options.only.includes(name));
  const legs: LegReport[] = [];
  for (const leg of chosen) {
    const isBare = options.requireSandbox && !world.place.protections.sandbox && runsSomething(leg);
    const report = isBare ? withoutWalls(leg) : await proveLeg(world, leg, gate.mode);
    legs.push(report);
    world.say(legLine(report));
  }
  const partial = chosen.length < gate.legs.length;
  return { verdict: verdictOver(legs, partial), partial, scripted: legs.some(({ scripted }) => scripted), legs };
}

function runsSomething(leg: Leg): boolean {
  return leg.proofs.some(({ kind }) => kind === "bun_test" || kind === "command");
}

function withoutWalls({ name }: Leg): LegReport {
  return {
    name,
    verdict: "INCONCLUSIVE",
    cause: "sandbox",
    detail: "this machine has no sandbox (bwrap), and --require-sandbox was given",
    node: "",
    seat: "",
    scripted: false,
    wall_ms: 0,
    exit: null,
    steps: 0,
    diff_files: [],
    diff_bytes: 0,
    diff: "",
    applied: false,
    proofs: [],
  };
}
