/** What talking to model servers needs of the world, and its limits. */
import type { Seat } from "../core/config/seat.ts";
import { processGate, type RequestGate } from "../core/request-gate.ts";
import type { Parameter } from "../core/seat/judge-answer.ts";
import { SeatMemory } from "../core/seat/modes.ts";
import { ScriptedMark } from "./scripted-mark.ts";

export type EndpointWorld = {
  /** The value of a variable, read at every request. */
  readonly environment: (name: string) => string | undefined;
  /** Milliseconds that never run backwards. */
  readonly clock: { ms(): number };
  /** Every address of a host; none where it has none. Left out: the system's resolver. */
  readonly lookup?: (host: string) => Promise<readonly string[]>;
  /** Left out: the one of this process. */
  readonly gate?: RequestGate;
  /** Parameters that a hosted server was found to refuse. Left out: what this process knows. */
  readonly refused?: SeatMemory<ReadonlySet<Parameter>>;
  readonly limits?: Partial<EndpointLimits>;
};

export type EndpointLimits = {
  /** The whole of a method that only asks something of a server. */
  readonly probe_ms: number;
  /** What is still waited for behind a `finish_reason`: usage and the end mark. */
  readonly finish_grace_ms: number;
  /** Reading the body of an error. */
  readonly error_body_ms: number;
};

export const LIMITS: EndpointLimits = { probe_ms: 5000, finish_grace_ms: 2000, error_body_ms: 5000 };

const refusedHere = new SeatMemory<ReadonlySet<Parameter>>();

/** One seat's server, with everything that was left out of the world filled in. */
export type Server = {
  readonly seat: Seat;
  readonly environment: (name: string) => string | undefined;
  readonly clock: { ms(): number };
  readonly lookup: (host: string) => Promise<readonly string[]>;
  readonly gate: RequestGate;
  readonly refused: SeatMemory<ReadonlySet<Parameter>>;
  readonly limits: EndpointLimits;
  readonly scripted: ScriptedMark;
};

export function serverOf(seat: Seat, world: EndpointWorld): Server {
  return {
    seat,
    environment: world.environment,
    clock: world.clock,
    lookup: world.lookup ?? systemLookup,
    gate: world.gate ?? processGate,
    refused: world.refused ?? refusedHere,
    limits: { ...LIMITS, ...world.limits },
    scripted: new ScriptedMark(seat.model),
  };
}

async function systemLookup(host: string): Promise<readonly string[]> {
  // The system's own: what its name service says (hosts file, mDNS, a mesh's names) and not only DNS.
  const found = await Bun.dns.lookup(host, { backend: "getaddrinfo" });
  return found.map(({ address }) => address);
}
