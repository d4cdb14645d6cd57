/** A board that runs: the real command, in a world of its own. */
import type { LivingWorld } from "./writ.ts";
import { writCommand } from "./writ.ts";

export type RunningBoard = {
  readonly url: string;
  /** What it has printed on standard output. */
  readonly printed: string;
  /** Sends a signal, and answers what a shell sees of the end. */
  stop(
    signal?: "SIGINT" | "SIGTERM",
  ): Promise<{ readonly exit: number; readonly stdout: string; readonly stderr: string }>;
};

/** Starts `writ board` and waits for its line. */
export async function startBoard(world: LivingWorld, ...args: string[]): Promise<RunningBoard> {
  const child = Bun.spawn([...writCommand(), "board", ...args], {
    cwd: world.folder,
    env: world.env(),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const talk = new Response(child.stderr).text();
  const reader = child.stdout.getReader();
  const decoder = new TextDecoder();
  let stdout = "";
  while (!stdout.includes("\n")) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`The board ended with ${await child.exited}: ${stdout}${await talk}`);
    stdout += decoder.decode(value, { stream: true });
  }
  const url = /http:[^"\s]*/.exec(stdout)?.[0] ?? "";
  return {
    url,
    printed: stdout,
    async stop(signal = "SIGTERM") {
      child.kill(signal);
      for (let read = await reader.read(); !read.done; read = await reader.read()) {
        stdout += decoder.decode(read.value, { stream: true });
      }
      return { exit: await child.exited, stdout, stderr: await talk };
    },
  };
}
