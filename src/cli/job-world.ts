/** The world that a job works in: this machine's model server, folders, slots and rates. One for each seat. */
import { join } from "node:path";
import type { Config } from "../core/config/config.ts";
import type { Seat } from "../core/config/seat.ts";
import type { StructuredMode } from "../core/seat/endpoint.ts";
import { SeatMemory } from "../core/seat/modes.ts";
import { jobFolder } from "../host/job-folder.ts";
import { openRates } from "../host/rates.ts";
import { searchFiles } from "../host/search.ts";
import { openSlotLine } from "../host/slot-line.ts";
import { openEndpoint } from "../llm/endpoint.ts";
import type { JobWorld } from "../seat/world.ts";
import { monotonic, sleep } from "./clock.ts";

/** One for the process: what one job found out, the next one need not. */
const modes = new SeatMemory<StructuredMode>();

export type JobPlace = {
  readonly config: Pick<Config, "agent_allow_write" | "limits" | "env_rules">;
  readonly seat: Seat;
  /** `<data>/run`, from `openStateFolder`. */
  readonly state: string;
  /** "local", or the id of the node. */
  readonly node_id: string;
  readonly version: string;
};

export function jobWorld({ config, seat, state, node_id, version }: JobPlace): JobWorld {
  const { agent_allow_write, limits, env_rules } = config;
  return {
    clock: monotonic,
    sleep,
    seat,
    endpointOf: (each) => openEndpoint(each, { clock: monotonic, environment: (name) => process.env[name] }),
    openWorkspace: (job_id) => jobFolder(join(state, "work"), job_id),
    search: searchFiles,
    slotLine: openSlotLine(state, monotonic),
    rates: openRates(state),
    modes,
    agent_allow_write,
    limits,
    env_rules,
    node_id,
    version,
  };
}
