/**
 * Collecting what earlier processes left at nodes, in the real world: the state folder's ledger, the nodes of the config.
 *
 * Source: delegation run, section 4.11
 */
import type { Config, Remote } from "../core/config/config.ts";
import { counted } from "../core/counted.ts";
import { openIntents } from "../core/node/intents.ts";
import { type Recovered, recoverIntents } from "../delegate/recover.ts";
import { type LedgerFault, openIntentLedger, readIntents, tidyIntents } from "../host/intents.ts";
import { isStillAlive } from "../host/process-identity.ts";
import { keepRecovered, recoveredFolder, sweepRecovered } from "../host/recovered.ts";
import { openStateFolder, stateFolder } from "../host/state-folder.ts";
import { sleep } from "./clock.ts";
import { nodeClient } from "./remote-places.ts";

/** A pass takes no longer. */
export const PASS_MS = 120_000;
const MOST_SHOWN = 3;

export type RecoverySetting = {
  readonly remotes: readonly Remote[];
  readonly runs: Pick<Config["runs"], "keep_days">;
  /** The data folder. */
  readonly data: string;
};

/**
 * One pass over the ledger: it is tidied, and what a dead process left is asked about.
 *
 * @param onFault told of each part of the ledger that cannot be read: what stands there, nobody asks about
 * Errors: `state_failed`
 */
export async function recoverLeft(
  setting: RecoverySetting,
  signal: AbortSignal,
  onFault: (fault: LedgerFault) => void,
  onFound?: (each: Recovered) => void,
): Promise<readonly Recovered[]> {
  const { remotes, runs, data } = setting;
  const state = openStateFolder(data);
  tidyIntents(state, Date.now());
  sweepRecovered(state, runs.keep_days, Date.now());
  const { texts, faults } = readIntents(state);
  for (const fault of faults) onFault(fault);
  return await recoverIntents(
    {
      intents: openIntentLedger(state),
      open: () => openIntents(texts),
      isAlive: ({ pid, pid_start }) => isStillAlive({ pid, start: pid_start === "" ? null : pid_start }),
      clientOf(url) {
        const remote = remotes.find((each) => each.url === url);
        return remote === undefined ? null : nodeClient(remote, (name) => process.env[name]);
      },
      save: (job, text) => ({ place: keepRecovered(state, job, text) }),
      unix: () => Math.floor(Date.now() / 1000),
      breathe: () => sleep(0, new AbortController().signal),
    },
    signal,
    onFound,
  );
}

let isBegun = false;

/**
 * Begins a pass behind everything else that the process does: the first call of a process does, further ones do nothing.
 *
 * @returns ends the pass and answers with one line about what it found; null where there is nothing to tell. It waits for
 *          nothing and never throws
 */
export function recoverInBackground(setting: RecoverySetting): () => string | null {
  if (isBegun) return () => null;
  isBegun = true;
  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(PASS_MS)]);
  const found: Recovered[] = [];
  let isUnread = false;
  const pass = async () => {
    // What the call itself has to do comes first.
    await sleep(0, signal);
    if (signal.aborted) return;
    const onFault = () => {
      isUnread = true;
    };
    await recoverLeft(setting, signal, onFault, (each) => void found.push(each));
  };
  // It is a favour to earlier calls: whatever goes wrong with it, this one goes on, and a later one tries again.
  pass().catch(() => {});
  return () => {
    stop.abort();
    return tellFound(found, isUnread, recoveredFolder(stateFolder(setting.data)));
  };
}

function tellFound(found: readonly Recovered[], isUnread: boolean, folder: string): string | null {
  const having = (state: Recovered["state"]) => found.filter((each) => each.state === state);
  const recovered = having("recovered");
  const shown = recovered.slice(0, MOST_SHOWN).map(({ job }) => job);
  const more = recovered.length > MOST_SHOWN ? ", …" : "";
  const parts = [
    ...(recovered.length > 0
      ? [`${counted(recovered.length, "result")} recovered into ${folder} (${shown.join(", ")}${more})`]
      : []),
    ...(having("gone").length > 0 ? [`${having("gone").length} no longer held by the node`] : []),
    ...(having("expired").length > 0 ? [`${having("expired").length} given up after two days`] : []),
    ...(having("waiting").length > 0 ? [`${having("waiting").length} not ended yet`] : []),
    ...(having("open").length > 0 ? [`${having("open").length} open: writ runs recover says why`] : []),
    ...(isUnread ? ["the ledger of them cannot be read: writ runs recover says why"] : []),
  ];
  return parts.length === 0 ? null : `jobs that earlier calls left at nodes: ${parts.join("; ")}`;
}
