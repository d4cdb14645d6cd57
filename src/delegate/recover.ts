/**
 * Collecting what an earlier process left at nodes: each open intent whose process is gone is asked about once.
 *
 * Source: delegation run, section 4.11
 */
import type { NodeClient } from "../core/node/client.ts";
import { INTENT_AGE_SEC, type IntentLedger, type OpenIntent } from "../core/node/intents.ts";
import { isTerminal } from "../core/node/job.ts";
import { readView } from "../core/node/read-view.ts";

export type RecoverWorld = {
  readonly intents: IntentLedger;
  /** Every intent that no row closes. */
  open(): readonly OpenIntent[];
  /** Whether the process that made it is still there, and follows it itself. */
  isAlive(intent: OpenIntent): boolean;
  /** Null: no remote of that URL is configured, so nothing says which token it takes. */
  clientOf(url: string): NodeClient | null;
  /** Keeps a result; `place` is where a person finds it. Errors: `WritError` where it cannot be kept */
  save(job: string, text: string): { readonly place: string };
  /** Seconds since the epoch. */
  unix(): number;
};

/** What became of an intent. */
export type Recovered = {
  readonly job: string;
  readonly url: string;
  readonly goal: string;
  readonly state: "recovered" | "gone" | "expired" | "waiting" | "open";
  /** One line. */
  readonly told: string;
};

/** Asks about every intent that is open and nobody's. Errors: those of `save` */
export async function recoverIntents(world: RecoverWorld, signal: AbortSignal): Promise<readonly Recovered[]> {
  const found: Recovered[] = [];
  for (const intent of world.open()) {
    if (signal.aborted) break;
    if (world.isAlive(intent)) continue;
    found.push(await recoverOne(world, intent, signal));
  }
  return found;
}

async function recoverOne(world: RecoverWorld, intent: OpenIntent, signal: AbortSignal): Promise<Recovered> {
  const { job, url, goal120 } = intent;
  const told = (state: Recovered["state"], text: string): Recovered => ({ job, url, goal: goal120, state, told: text });
  const closed = (state: Recovered["state"], note: string): Recovered => {
    world.intents.append({ e: "close", job, note });
    return told(state, note);
  };
  if (world.unix() - intent.unix > INTENT_AGE_SEC) return closed("expired", "expired");
  const client = world.clientOf(url);
  if (client === null) return told("open", "no such remote is configured");
  const answer = await client.poll(job, null, 0, signal);
  if (answer.kind !== "answer") return told("open", `the node does not answer: ${answer.why}`);
  if (answer.status === 404) return closed("gone", "node no longer holds it");
  if (answer.status !== 200) return told("open", `the node answers with HTTP ${answer.status}`);
  const read = readView(answer.text);
  if (!read.ok || read.view.job_id !== job) return told("open", "the node's answer cannot be used");
  const { state, result } = read.view;
  if (!isTerminal(state)) return told("waiting", `the node says that it is ${state}`);
  if (result === null) return closed("gone", `it ended there as ${state}, without a result`);
  const { place } = world.save(job, result);
  return closed("recovered", `its result is in ${place}`);
}
