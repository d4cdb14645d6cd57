/** What a gate needs of the world. The command line hands in the real one, a test a scripted one. */
import type { LegResult } from "../core/delegation/result.ts";
import type { Leg } from "../core/gate/gate-file.ts";
import type { FixtureTree, ProofPlace } from "../core/gate/proof-place.ts";

export type GateWorld = {
  readonly place: ProofPlace;
  /** The words that start this executable as Bun, and the environment that they need. */
  readonly bun: { readonly argv: readonly string[]; readonly env: Readonly<Record<string, string>> };
  readonly clock: { ms(): number };
  /** Ends everything that is running. */
  readonly signal: AbortSignal;
  /** Another text of letters and digits at each call. */
  readonly random: () => string;
  readonly sha256: (bytes: Uint8Array) => string;
  /** The files of a leg; a fault for a link, a device, a folder that is not there. */
  readFixture(
    leg: Leg,
  ): { readonly ok: true; readonly tree: FixtureTree } | { readonly ok: false; readonly fault: string };
  /** Sends the contract of a leg to the place that is measured. */
  delegate(leg: Leg): Promise<Delegated>;
  /** Keeps what somebody may want to look at later: `t1.patch`, `t1.report.xml`. */
  keep(name: string, text: string): void;
  /** One line for a person. */
  say(line: string): void;
};

export type Delegated = {
  /** The status that `writ delegate` would have ended in. */
  readonly exit: number;
  /** Null where there is none; `fault` says why. */
  readonly result: LegResult | null;
  readonly succeeded: number;
  readonly fault: {
    /** Of the fixture where its own contract or documents make no sense: then no seat was asked. */
    readonly of: "fixture" | "place";
    readonly text: string;
  } | null;
};
