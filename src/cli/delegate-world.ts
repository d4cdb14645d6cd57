/** The real world of delegating: this machine's seats, the nodes of the config, the state folder. */
import { join } from "node:path";
import type { Config } from "../core/config/config.ts";
import { clearStrikes, quarantinedPlaces, strikePlace } from "../core/placement/quarantine.ts";
import { redact, valueRedactor } from "../core/record/redact.ts";
import type { DelegateWorld } from "../delegate/world.ts";
import { openIntentLedger } from "../host/intents.ts";
import { sweepJobFolders } from "../host/job-folder.ts";
import { openQuarantine } from "../host/quarantine-file.ts";
import { openRunRecords } from "../host/run-records.ts";
import { openStateFolder } from "../host/state-folder.ts";
import { monotonic, sleep } from "./clock.ts";
import { localPlace } from "./local-place.ts";
import { countedLedger, remotePlaces } from "./remote-places.ts";
import { instant, randomHex } from "./world.ts";

export const sha256 = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex");

export type DelegateSetting = {
  readonly config: Config;
  /** The data folder. */
  readonly data: string;
  readonly version: string;
  /** The seat that was asked for; "": any. A name that no seat here has leaves this machine out. */
  readonly seat: string;
  /** Called when what is handed to nodes cannot be written down: once, before it is handed over. */
  readonly onUnwritten?: () => void;
};

/**
 * Opens the state folder, tidies it, and makes the world of one call or of several.
 *
 * Errors: `state_failed`
 */
export function delegateWorld({ config, data, version, seat, onUnwritten }: DelegateSetting): DelegateWorld {
  const state = openStateFolder(data);
  sweepJobFolders(join(state, "work"), () => false);
  const records = openRunRecords(state);
  records.sweep(config.runs.keep_days, Date.now());
  const quarantine = openQuarantine(state);
  const isHere = config.seats.some(({ name }) => seat === "" || name === seat);
  const environment = (name: string) => process.env[name];
  const intents = countedLedger(openIntentLedger(state), onUnwritten ?? (() => {}));
  return {
    clock: { ...monotonic, now: () => instant(Date.now()), sleep },
    mint: { runId: () => `run-${randomHex(12)}`, jobId: () => `wrt-${randomHex(12)}` },
    sha256,
    local: isHere ? localPlace(config, state, version) : null,
    remotes: remotePlaces(config, intents.ledger, environment),
    intents: intents.counts,
    marks: {
      quarantined: async () => quarantinedPlaces(quarantine.read(), Date.now()),
      settle: async (place, verdict) => {
        const settle = verdict === "strike" ? strikePlace : clearStrikes;
        quarantine.change((marks) => settle(marks, place, Date.now(), config.quarantine));
      },
    },
    records: {
      save: (runId, pieces) => records.save(runId, pieces),
      scrub: scrubberOf(config, environment),
      keep_contracts: config.runs.keep_contracts,
    },
    limits: config.limits,
    default_seat: config.default_seat,
    process: { pid: process.pid, label: process.env.WRIT_LABEL ?? "" },
    version,
  };
}

/** Masks the values of the variables that the config names, and what is shaped like a key. */
function scrubberOf(config: Config, environment: (name: string) => string | undefined): (text: string) => string {
  const names = [
    ...config.seats.map(({ api_key_env }) => api_key_env),
    ...config.remotes.map(({ token_env }) => token_env),
    config.node.token_env,
  ].filter((name) => name !== "");
  // Called so that each counts as a secret, whatever the variable's own name says.
  const values = valueRedactor(Object.fromEntries(names.map((name, at) => [`SECRET_${at}`, environment(name)])));
  return (text) => redact(text, "command", values);
}
