/** The real world of a node: the store of this machine, its seats, the agent loop behind them. */
import { hostname } from "node:os";
import { join } from "node:path";
import type { Config } from "../core/config/config.ts";
import type { Seat } from "../core/config/seat.ts";
import { type DelegationContract, readContracts } from "../core/delegation/contract.ts";
import { JUDGES } from "../core/delegation/judges.ts";
import { WritError } from "../core/error.ts";
import type { SeatSight } from "../core/node/seat-record.ts";
import { LOCAL } from "../core/placement/place.ts";
import { seatKey } from "../core/seat/seat-key.ts";
import { PROFILE_NAMES } from "../core/seat/tool-specs.ts";
import { freeBytes } from "../host/free-bytes.ts";
import { sweepJobFolders } from "../host/job-folder.ts";
import { openRates } from "../host/rates.ts";
import { takeServingLock } from "../host/serving-lock.ts";
import { clearSlotsOf, countHeldSlots } from "../host/slot-line.ts";
import { openStateFolder } from "../host/state-folder.ts";
import { openEndpoint } from "../llm/endpoint.ts";
import { WritNode } from "../node/node.ts";
import { SeatWatch } from "../node/seat-watch.ts";
import { runJob } from "../seat/run-job.ts";
import { openJobQueue } from "../store/job-queue.ts";
import { monotonic, sleep } from "./clock.ts";
import { jobWorld } from "./job-world.ts";

export type NodeSetting = {
  readonly config: Config;
  /** The data folder. */
  readonly data: string;
  readonly version: string;
  readonly node_id: string;
  log(line: string): void;
};

export type OpenedNode = {
  readonly node: WritNode;
  readonly seats: SeatWatch;
  /** Where a damaged store was moved; null where none was. */
  readonly movedTo: string | null;
  /** Closes the store, and gives the folder to others. */
  close(): void;
};

/**
 * Takes the state folder, opens its store, and finds what the last stop left behind. Nothing runs yet.
 *
 * Errors: `node_running`, `state_failed`, `store_failed`, `store_too_new`
 * Source: delegation run, section 7.1 (start-up order)
 */
export function openNode({ config, data, version, node_id, log }: NodeSetting): OpenedNode {
  const state = openStateFolder(data);
  const lock = takeServingLock(state);
  try {
    // The lock says that it is gone: what it held at the seats is free now, and not only when its files go stale.
    if (lock.before !== null) clearSlotsOf(state, lock.before);
    const { queue, movedTo } = openJobQueue(join(state, "node.db"));
    try {
      const rates = openRates(state);
      const seats = new SeatWatch(
        {
          clock: monotonic,
          sleep,
          look: (seat, signal) => look(seat, state, signal),
          heldSlots: (seat) => countHeldSlots(state, seatKey(seat)),
          rates: (seat) => rates.read(seatKey(seat)),
          log,
        },
        config.seats,
        () => node.wake(),
      );
      const node: WritNode = new WritNode({
        node_id,
        version,
        clock: monotonic,
        sleep,
        sha256: (text) => new Bun.CryptoHasher("sha256").update(text).digest("hex"),
        queue,
        storeReset: movedTo !== null,
        runJob(job, name, options) {
          const seat = config.seats.find((each) => each.name === name);
          if (seat === undefined) throw new Error(`there is no seat "${name}"`);
          return runJob(jobWorld({ config, seat, state, node_id, version }), job, options);
        },
        seats: () => seats.records(),
        readContract,
        freeBytes: () => freeBytes(state),
        settings: { ...config.node, agent_allow_write: config.agent_allow_write, profiles: PROFILE_NAMES },
        log,
      });
      node.recover();
      sweepJobFolders(join(state, "work"), () => false);
      return {
        node,
        seats,
        movedTo,
        close() {
          queue.close();
          lock.release();
        },
      };
    } catch (error) {
      queue.close();
      throw error;
    }
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** What was stored is the canonical form of a contract that was valid. Errors: `bad_contract` where it is none now. */
function readContract(text: string): DelegationContract {
  const { subtasks, issues } = readContracts(text, JUDGES);
  const [draft] = subtasks;
  if (issues.length === 0 && draft?.isComplete === true) return draft.contract;
  throw new WritError("bad_contract", `The stored contract is not valid: ${issues[0]?.message ?? "there is none"}`);
}

async function look(seat: Seat, state: string, signal: AbortSignal): Promise<SeatSight> {
  const endpoint = openEndpoint(seat, { clock: monotonic, environment: (name) => process.env[name] });
  const held = countHeldSlots(state, seatKey(seat));
  const [seen, slots, ctx_tokens] = await Promise.all([
    endpoint.look(signal),
    seat.slots > 0 ? null : endpoint.totalSlots(signal),
    seat.ctx_tokens > 0 ? null : endpoint.windowTokens(signal),
  ]);
  return {
    state: seen.state,
    message: seen.message,
    isAnswering: seen.state !== "unknown" || (await endpoint.pin(signal)) !== null,
    strangers: Math.max(0, (seen.busy_slots ?? 0) - held),
    slots,
    ctx_tokens,
  };
}

/**
 * What the node calls itself: the config's word, else the host's name, made fit to be one.
 *
 * Errors: `bad_config` where the host's name is none that a node may have
 */
export function nodeIdOf(configured: string, host: string = hostname()): string {
  if (configured !== "") return configured;
  const id = host
    .replace(/[^A-Za-z0-9._-]/g, "-")
    .replace(/^[^A-Za-z0-9]+/, "")
    .slice(0, 64);
  if (id !== "" && id.toLowerCase() !== LOCAL) return id;
  throw new WritError("bad_config", `The name of this host, ${JSON.stringify(host)}, cannot be the id of a node`, {
    hint: "Say what the node is called with node.id or WRIT_NODE_ID",
  });
}
