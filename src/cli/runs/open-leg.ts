/** A leg without a result: where it is, what became of its job, and what can be done about it. */
import type { OpenLeg, RunEntry } from "../../core/delegation/run-entry.ts";
import { WritError } from "../../core/error.ts";
import { jobsOfLeg } from "../../core/node/intents.ts";
import { LOCAL } from "../../core/placement/place.ts";
import { readIntents } from "../../host/intents.ts";
import { findRecovered } from "../../host/recovered.ts";
import { stateFolder } from "../../host/state-folder.ts";
import { oneLine } from "../table.ts";
import { placesOf } from "../world.ts";
import { stateOf } from "./open.ts";

/** `advice`: what to do, in words that stand by themselves. */
export type OpenLegState = {
  readonly told: string;
  readonly advice: string;
  /** The file of what was collected of its job; null: none is there. */
  readonly recovered: string | null;
};

/** Reads the ledger of jobs where the delegator was lost. Errors: none */
export function openLegState(entry: RunEntry, { index, node, seat }: OpenLeg): OpenLegState {
  const { run_id } = entry;
  const where = oneLine(`${node}/${seat}`);
  if (stateOf(entry) === "running") {
    return {
      told: node === "" ? "it waits for room" : `it still runs on ${where}`,
      advice: `Ask again when it has ended: writ runs show ${run_id} --index ${index}`,
      recovered: null,
    };
  }
  if (node === "" || node === LOCAL) {
    return {
      told: "it ended with its delegator, without a result",
      advice: "Delegate it once more",
      recovered: null,
    };
  }
  const handed = `it was handed to ${where} when its delegator was lost`;
  const state = stateFolder(placesOf().data);
  const jobs = jobsOfLeg(readIntents(state).texts, run_id, index);
  const recovered = jobs.map(({ job }) => findRecovered(state, job)).findLast((path) => path !== null) ?? null;
  if (recovered !== null) {
    return {
      told: `${handed}; what that made of it is in ${recovered}`,
      advice: `writ grade CONTRACT --result ${recovered} grades it`,
      recovered,
    };
  }
  const last = jobs.at(-1)?.closed ?? null;
  if (last !== null && jobs.every(({ closed }) => closed !== null)) {
    return {
      told: `${handed}; nothing of it is there now, and the ledger of jobs says: ${oneLine(last)}`,
      advice: "Delegate it once more",
      recovered: null,
    };
  }
  return { told: handed, advice: "writ runs recover collects what that made of it", recovered: null };
}

/** @param path the option, or the argument, that names the leg */
export function legOpen(entry: RunEntry, leg: OpenLeg, path: string): WritError {
  const { told, advice } = openLegState(entry, leg);
  return new WritError("leg_open", `${entry.run_id} has no result of leg ${leg.index}: ${told}`, {
    path,
    hint: advice,
  });
}

/** The leg that a call is about, where it has none of the results; null: no leg of the call is meant. */
export function openLegOf({ ended, legs, unfinished }: RunEntry, index: number | null): OpenLeg | null {
  if (ended) return null;
  return unfinished.find((leg) => (index === null ? legs === 1 : leg.index === index)) ?? null;
}

/** Which legs have a result, for a hint. */
export function legsWithResult({ results }: RunEntry): string {
  if (results.length === 0) return "None of its legs has a result";
  const those = results.map((leg) => leg.index).join(", ");
  return results.length === 1 ? `Its one result is that of leg ${those}` : `It has the results of legs ${those}`;
}
