/** The parallel gate: a peer on the seat, K calls behind one barrier, and the verdict over what they printed. */
import { judgeParallel, type ParallelReport, peerTokens, type RunOutput } from "../core/gate/parallel.ts";

export type ParallelWorld = {
  /** Tokens a second of one small chat with the seat; null where it does not answer. */
  firstRate(): Promise<number | null>;
  /** One chat of so many tokens at most, as a stranger sends it: outside of writ's own line. Errors: none */
  peerChat(maxTokens: number, signal: AbortSignal): Promise<void>;
  /** Starts a call that waits at the barrier. */
  startRun(): WaitingRun;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  say(line: string): void;
};

export type WaitingRun = {
  /** Lets it go; it ends with what it printed. */
  go(): Promise<RunOutput>;
};

/** The peer leaves a gap that is longer than any sleep between two tries: one that never pauses proves its own greed. */
const PEER_REST_MS = 20_000;

/** Runs the gate. Errors: none but defects */
export async function runParallel(
  world: ParallelWorld,
  { k, peer, isRemote = false }: { readonly k: number; readonly peer: boolean; readonly isRemote?: boolean },
): Promise<ParallelReport> {
  const rate = await world.firstRate();
  if (rate === null) return { ...judgeParallel([]), verdict: "INCONCLUSIVE", cause: "seat not answering", k };
  const ended = new AbortController();
  const busy = peer ? playPeer(world, peerTokens(rate), ended.signal) : Promise.resolve();
  try {
    const waiting = Array.from({ length: k }, () => world.startRun());
    const outputs = await Promise.all(waiting.map((run) => run.go()));
    return judgeParallel(outputs, { isRemote });
  } finally {
    ended.abort();
    await busy;
  }
}

async function playPeer(world: ParallelWorld, maxTokens: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await world.peerChat(maxTokens, signal);
    if (!signal.aborted) await world.sleep(PEER_REST_MS, signal).catch(() => {});
  }
}
