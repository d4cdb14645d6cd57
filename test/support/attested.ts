/** A closed turn with a record of two runs and a read, and the statement about it. */
import { attestTurn } from "../../src/attest/attest.ts";
import { canonicalJson, type JsonObject } from "../../src/core/json/value.ts";
import { born, capture, closing, fill, finalize, ran } from "./turn.ts";
import type { ScriptedWorld } from "./world.ts";

/** Closes a turn that cites `bun test`, and answers its contract id. */
export function closedWithRuns(world: ScriptedWorld): string {
  const id = born(world);
  ran(world, id, "git status", { output: "clean\n", argv: ["git", "status"] });
  ran(world, id, "src/a.ts", { ...capture(""), tool: "read", command: null, path: "src/a.ts", exit_code: null });
  ran(world, id, "bun test");
  const verification = { type: "command", command: "bun test", result: "pass" };
  fill(world, id, closing("COMPLETE", { evidence_report: { verification } }));
  finalize(world, id);
  return id;
}

export function statementText(world: ScriptedWorld, id: string): string {
  return canonicalJson(attestTurn(world, id).statement);
}

/** A deep copy of a statement that a test may change. */
export function changeable(statement: JsonObject) {
  // biome-ignore lint/suspicious/noExplicitAny: a document is broken on purpose, at any place
  return JSON.parse(JSON.stringify(statement)) as any;
}
