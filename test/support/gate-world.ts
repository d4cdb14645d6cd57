/** A gate's world with a real place for proofs and a scripted answer. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { FixtureTree } from "../../src/core/gate/proof-place.ts";
import type { Delegated, GateWorld } from "../../src/gate/world.ts";
import { openProofPlace } from "../../src/host/proof-place.ts";
import { findSandbox } from "../../src/host/sandbox.ts";

export type Script = {
  readonly tree?: FixtureTree;
  readonly answer?: Delegated;
  /** Walls, where the machine has them; without, none. */
  readonly isWalled?: boolean;
};

export function gateWorld(script: Script = {}) {
  const kept = new Map<string, string>();
  const said: string[] = [];
  let now = 0;
  const sandbox = script.isWalled === true ? findSandbox() : null;
  const place = openProofPlace({ keep: false, path: process.env.PATH ?? "", sandbox });
  const world: GateWorld = {
    place,
    bun: { argv: [process.execPath], env: { BUN_BE_BUN: "1" } },
    // As a real one: no whole milliseconds, and it goes on.
    clock: { ms: () => (now += 0.5366099999997) },
    signal: new AbortController().signal,
    random: () => crypto.randomUUID().replaceAll("-", ""),
    sha256: (bytes) => new Bun.CryptoHasher("sha256").update(bytes).digest("hex"),
    readFixture: () => ({ ok: true, tree: script.tree ?? new Map() }),
    delegate: async () =>
      script.answer ?? { exit: 4, result: null, succeeded: 0, fault: { of: "place", text: "no answer" } },
    keep: (name, text) => void kept.set(name, text),
    say: (line) => void said.push(line),
  };
  return { world, kept, said, [Symbol.dispose]: () => place.close() };
}

/** The files of a shipped leg. */
export function shippedTree(leg: string, files: readonly string[]): FixtureTree {
  const folder = join(import.meta.dir, "../../contracts/write-door", leg);
  return new Map(files.map((file) => [file, { bytes: readFileSync(join(folder, file)), is_executable: false }]));
}

export function treeOf(files: Readonly<Record<string, string>>): FixtureTree {
  return new Map(
    Object.entries(files).map(([path, text]) => [
      path,
      { bytes: new TextEncoder().encode(text), is_executable: false },
    ]),
  );
}
