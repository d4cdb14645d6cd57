/** The nodes of the config as places, each with the client that talks to it. */
import { hostname } from "node:os";
import type { Config, Remote } from "../core/config/config.ts";
import type { NodeClient } from "../core/node/client.ts";
import type { IntentLedger } from "../core/node/intents.ts";
import type { RemotePlace } from "../core/placement/port.ts";
import { HeldJobs } from "../delegate/held-jobs.ts";
import { remotePlace } from "../delegate/remote-place.ts";
import { ownIdentity } from "../host/process-identity.ts";
import { openNodeClient } from "../wire/node-client.ts";
import { monotonic, sleep } from "./clock.ts";

/** Calls that run at once in one process, as those of an MCP client, share what a node takes. */
const held = new HeldJobs();

type Environment = (name: string) => string | undefined;

/** The client of a node; its token is read at every request. */
export function nodeClient({ url, token_env, ca_file }: Remote, environment: Environment): NodeClient {
  return openNodeClient({ url, ca_file, token: () => (token_env === "" ? "" : (environment(token_env) ?? "")) });
}

/** In roster order. */
export function remotePlaces(
  { remotes, limits }: Config,
  intents: IntentLedger,
  environment: Environment,
): readonly RemotePlace[] {
  const { pid, start } = ownIdentity();
  const process = {
    pid,
    pid_start: start ?? "",
    origin: `${hostname()}/${pid}`,
    label: environment("WRIT_LABEL") ?? "",
  };
  return remotes.map((remote) =>
    remotePlace({
      client: nodeClient(remote, environment),
      token: remote.token_env,
      hasToken: () => remote.token_env !== "" && (environment(remote.token_env) ?? "") !== "",
      clock: { ms: monotonic.ms, unix: () => Math.floor(Date.now() / 1000) },
      sleep,
      intents,
      held,
      process,
      orphan: { grace_sec: limits.orphan_grace_sec, policy: limits.orphan_policy },
      most_wait_sec: [limits.slot_wait_sec, limits.admission_wait_sec, limits.contention_wait_sec].reduce(
        (sum, sec) => sum + Math.max(0, sec),
        0,
      ),
    }),
  );
}

/**
 * A ledger that counts its rows, and those that could not be kept.
 *
 * @param onLoss called at the first row that is lost
 */
export function countedLedger(
  ledger: IntentLedger,
  onLoss: () => void,
): {
  readonly ledger: IntentLedger;
  readonly counts: { readonly attempted: number; readonly lost: number };
} {
  const counts = { attempted: 0, lost: 0 };
  const append: IntentLedger["append"] = (row) => {
    const isKept = ledger.append(row);
    counts.attempted += 1;
    if (!isKept) counts.lost += 1;
    if (!isKept && counts.lost === 1) onLoss();
    return isKept;
  };
  return { ledger: { ...ledger, append }, counts };
}
