/** The nodes of the config as places: each with its client, its token and the ledger of what is handed to it. */
import { hostname } from "node:os";
import type { Config } from "../core/config/config.ts";
import type { RemotePlace } from "../core/placement/port.ts";
import { remotePlace } from "../delegate/remote-place.ts";
import { openIntentLedger } from "../host/intents.ts";
import { ownIdentity } from "../host/process-identity.ts";
import { openNodeClient } from "../wire/node-client.ts";
import { monotonic, sleep } from "./clock.ts";

/**
 * In roster order.
 *
 * @param state `<data>/run`, from `openStateFolder`
 */
export function remotePlaces(
  { remotes, limits }: Pick<Config, "remotes" | "limits">,
  state: string,
  environment: (name: string) => string | undefined,
): readonly RemotePlace[] {
  if (remotes.length === 0) return [];
  const intents = openIntentLedger(state);
  const { pid, start } = ownIdentity();
  return remotes.map(({ url, token_env, ca_file }) =>
    remotePlace({
      client: openNodeClient({
        url,
        token: () => (token_env === "" ? "" : (environment(token_env) ?? "")),
        ca_file,
      }),
      token: token_env,
      clock: { ...monotonic, unix: () => Math.floor(Date.now() / 1000) },
      sleep,
      intents,
      process: {
        pid,
        pid_start: start ?? "",
        origin: `${hostname()}/${pid}`,
        label: environment("WRIT_LABEL") ?? "",
      },
      orphan: { grace_sec: limits.orphan_grace_sec, policy: limits.orphan_policy },
    }),
  );
}
