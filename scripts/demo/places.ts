/** The places of the demo: its model seat (the one that somebody named or started, else a scripted one), and a node. */
import { join } from "node:path";
import { findSeat } from "../seat.ts";
import { type Served, serve } from "../serve.ts";

const SCRIPT = join(import.meta.dir, "..", "..", "fixtures", "write-door", "right.json");

export type DemoSeat = {
  /** One line for whoever watches. */
  readonly what: string;
  readonly isScripted: boolean;
  readonly environment: Readonly<Record<string, string>>;
  close(): Promise<void>;
};

type Setting = {
  readonly writ: string;
  readonly folder: string;
  readonly environment: () => Readonly<Record<string, string | undefined>>;
};

export async function openSeat(setting: Setting): Promise<DemoSeat> {
  const named = (process.env.WRIT_SEAT_URL ?? "").trim();
  if (named !== "") return realSeat(`the one at ${named}`, named);
  const running = await findSeat();
  if (running !== undefined)
    return realSeat(`the real model that npm run seat started, at ${running.url}`, running.url);
  return await scriptedSeat(setting);
}

function realSeat(what: string, url: string): DemoSeat {
  return { what, isScripted: false, environment: { WRIT_SEAT_URL: url }, close: async () => {} };
}

async function scriptedSeat({ writ, folder, environment }: Setting): Promise<DemoSeat> {
  const { url, close } = await serve([writ, "seat", "serve", "--script", SCRIPT], folder, environment());
  return {
    what: `a scripted one, which plays right answers and is called scripted (npm run seat brings a real one)`,
    isScripted: true,
    environment: { WRIT_SEAT_URL: url },
    close,
  };
}

/** A node on this machine, with the seat behind it and a data folder of its own. */
export async function openNode({ writ, folder, environment }: Setting): Promise<Served> {
  const own = { ...environment(), WRIT_DATA_DIR: join(folder, "node") };
  return await serve([writ, "node", "serve", "--listen", "127.0.0.1:0"], folder, own);
}
