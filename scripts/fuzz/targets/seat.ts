/** Model seats that answer whatever they like: whole calls of `writ delegate`, through the executable and in this process. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { callOf } from "../seat/call.ts";
import { runHostile } from "../seat/run.ts";
import type { Target } from "../target.ts";

const WRIT = join(import.meta.dir, "../../../dist", process.platform === "win32" ? "writ.exe" : "writ");
const LEGS = 16;
/** A call that hangs says so itself after four minutes. */
const HANG_MS = 300_000;

function seats(name: string, writ: readonly string[] | null): Target {
  return {
    name,
    hang_ms: HANG_MS,
    attempt: async (seed) => {
      if (writ !== null && !existsSync(WRIT)) throw new Error(`there is no "${WRIT}"; npm run fuzz builds it first`);
      return (await runHostile(callOf(seed, LEGS), writ)).faults;
    },
    show: (seed) =>
      callOf(seed, LEGS)
        .legs.map(({ replies }, at) => `  ${at} ${replies.map(({ what, end }) => `${what} (${end})`).join(" | ")}`)
        .join("\n"),
    growth: null,
  };
}

export const seat = seats("seat", [WRIT]);
export const seatHere = seats("seat-here", null);
