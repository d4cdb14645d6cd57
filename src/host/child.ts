/** A short program that is given some input and whose answer is wanted whole: a hook command, another writ. */
import { constants } from "node:os";
import { runCaptured } from "./captured.ts";

export type Ended =
  | { readonly kind: "ended"; readonly exit: number; readonly stdout: string; readonly stderr: string }
  /** One clause: "did not start: …", "did not end within …". */
  | { readonly kind: "not_started" | "late"; readonly reason: string };

/** What is kept of each stream, in characters. */
const KEPT = 1024 * 1024;

/**
 * Runs a program to its end. One that was killed by a signal ended in 128 + n; one that does not end in time is killed
 * with the whole group that it began.
 *
 * Errors: none
 */
export async function runChild(
  argv: readonly string[],
  setting: {
    readonly cwd: string;
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly stdin: string;
    readonly waitMs: number;
  },
): Promise<Ended> {
  const kept = { stdout: "", stderr: "" };
  const { waitMs, ...where } = setting;
  const end = await runCaptured(argv, {
    ...where,
    timeout_ms: waitMs,
    isApart: true,
    keep: (text, stream) => {
      kept[stream] += text.slice(0, KEPT - kept[stream].length);
    },
  });
  if (end.ended_by === "time") return { kind: "late", reason: `did not end within ${waitMs / 1000} seconds` };
  if (!end.is_started) return { kind: "not_started", reason: `did not start: ${kept.stderr.trimEnd()}` };
  return { kind: "ended", exit: statusOf(end), ...kept };
}

function statusOf(end: { readonly exit_code: number | null; readonly signal: string | null }): number {
  const name = Object.entries(constants.signals).find(([each]) => each === end.signal);
  return end.exit_code ?? 128 + (name?.[1] ?? 0);
}
