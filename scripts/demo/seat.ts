/** The model seat of the demo: the one that somebody named or started, else a scripted one. */
import { join } from "node:path";
import { findSeat } from "../seat.ts";

const SCRIPT = join(import.meta.dir, "..", "..", "fixtures", "write-door", "right.json");
const READY_MS = 20_000;

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
  const child = Bun.spawn([writ, "seat", "serve", "--script", SCRIPT, "--json"], {
    cwd: folder,
    env: { ...environment() },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  const late = setTimeout(() => child.kill(), READY_MS);
  let text = "";
  const decoder = new TextDecoder();
  for await (const piece of child.stdout) {
    text += decoder.decode(piece, { stream: true });
    if (text.includes("\n")) break;
  }
  clearTimeout(late);
  if (!text.includes("\n")) throw new Error("the scripted seat did not start");
  const { url } = JSON.parse(text) as { readonly url: string };
  return {
    what: `a scripted one, which plays right answers and is called scripted (npm run seat brings a real one)`,
    isScripted: true,
    environment: { WRIT_SEAT_URL: url },
    async close() {
      child.kill();
      await child.exited;
    },
  };
}
