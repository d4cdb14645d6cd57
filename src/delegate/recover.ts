/**
 * Collecting what an earlier process left at nodes: each open intent whose process is gone is asked about once. Nodes are
 * asked side by side; one that does not answer is not asked for its other jobs.
 *
 * Source: delegation run, section 4.11
 */
import { readWireResult } from "../core/delegation/read-wire-result.ts";
import { WritError } from "../core/error.ts";
import type { NodeClient } from "../core/node/client.ts";
import { INTENT_AGE_SEC, type IntentLedger, type OpenIntent } from "../core/node/intents.ts";
import { isTerminal } from "../core/node/job.ts";
import { type ReadView, readView } from "../core/node/read-view.ts";

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
  /** Lets what else goes on in the process have its turn. */
  breathe(): Promise<void>;
};

/** What became of an intent. */
export type Recovered = {
  readonly job: string;
  readonly url: string;
  readonly goal: string;
  /** The delegation and the leg of it, from 0; "" and null where the ledger does not say. */
  readonly run_id: string;
  readonly index: number | null;
  /**
   * `waiting`: the node has not ended it yet. `open`: nobody can say, and a later pass asks again. All others are closed.
   */
  readonly state: "recovered" | "gone" | "expired" | "waiting" | "open";
  /** One line. */
  readonly told: string;
};

/**
 * Asks about every intent that is open and nobody's.
 *
 * @param signal  ends the asking; what was not asked by then is `open`
 * @param onFound told of each as soon as it is known
 * @returns       one for each, in the order of the ledger
 * Errors: none
 */
export async function recoverIntents(
  world: RecoverWorld,
  signal: AbortSignal,
  onFound: (each: Recovered) => void = () => {},
): Promise<readonly Recovered[]> {
  const left = world.open().filter((intent) => !world.isAlive(intent));
  const found = new Map<string, Recovered>();
  const nodes = Map.groupBy(left, ({ url }) => url);
  await Promise.all(
    [...nodes].map(async ([url, intents]) => {
      const node = new Node(world, world.clientOf(url), signal);
      for (const intent of intents) {
        const each = await node.recover(intent);
        found.set(intent.job, each);
        onFound(each);
        await world.breathe();
      }
    }),
  );
  return left.flatMap(({ job }) => found.get(job) ?? []);
}

class Node {
  /** Why it is not asked any more; null while it answers. */
  #fault: string | null = null;

  constructor(
    private readonly world: RecoverWorld,
    private readonly client: NodeClient | null,
    private readonly signal: AbortSignal,
  ) {}

  async recover(intent: OpenIntent): Promise<Recovered> {
    if (this.world.unix() - intent.unix > INTENT_AGE_SEC) return this.#closed(intent, "expired", "expired");
    if (this.client === null) return told(intent, "open", "no such remote is configured");
    if (this.#fault !== null) return told(intent, "open", this.#fault);
    if (this.signal.aborted) return told(intent, "open", "the time was over before it was asked");
    const answer = await this.client.poll(intent.job, null, 0, this.signal);
    if (answer.kind === "none") {
      this.#fault = this.signal.aborted
        ? "the time was over before it answered"
        : `the node does not answer: ${answer.why}`;
      return told(intent, "open", this.#fault);
    }
    if (answer.kind === "unusable") return this.#closed(intent, "gone", `its result cannot be used: ${answer.why}`);
    if (answer.status === 404) return this.#closed(intent, "gone", "node no longer holds it");
    if (answer.status === 401 || answer.status === 403) {
      this.#fault = `the node does not take the token (HTTP ${answer.status})`;
      return told(intent, "open", this.#fault);
    }
    if (answer.status !== 200) return told(intent, "open", `the node answers with HTTP ${answer.status}`);
    const read = readView(answer.text);
    return read.ok && read.view.job_id === intent.job
      ? this.#judge(intent, read.view)
      : told(intent, "open", "the node's answer cannot be used");
  }

  #judge(intent: OpenIntent, { state, result }: ReadView): Recovered {
    if (!isTerminal(state)) return told(intent, "waiting", `the node says that it is ${state}`);
    if (result === null) return this.#closed(intent, "gone", `it ended there as ${state}, without a result`);
    const read = readWireResult(result);
    if (!read.ok) return this.#closed(intent, "gone", `its result cannot be used: ${read.why}`);
    if (read.result.job_id !== intent.job || read.result.contract_sha256 !== intent.sha) {
      return this.#closed(intent, "gone", "its result is for another contract");
    }
    try {
      const { place } = this.world.save(intent.job, result);
      return this.#closed(intent, "recovered", `its result is in ${place}`);
    } catch (error) {
      if (!(error instanceof WritError)) throw error;
      return told(intent, "open", `its result cannot be kept: ${error.message}`);
    }
  }

  #closed(intent: OpenIntent, state: Recovered["state"], note: string): Recovered {
    // Where that cannot be written it is asked about once more: nothing is lost by it.
    this.world.intents.append({ e: "close", job: intent.job, note });
    return told(intent, state, note);
  }
}

function told(intent: OpenIntent, state: Recovered["state"], text: string): Recovered {
  const { job, url, goal120, run = "", leg = null } = intent;
  return { job, url, goal: goal120, run_id: run, index: leg, state, told: text };
}
