/** The program that knows pull requests: `gh`, or the one that WRIT_GH names. */

const GH_MS = 60_000;
const GH_BYTES = 4 * 1024 * 1024;

/** Runs it to its end; null where there is none. It asks nothing and colours nothing. */
export function runGh(
  args: readonly string[],
): { readonly ok: boolean; readonly stdout: string; readonly stderr: string } | null {
  const named = process.env.WRIT_GH ?? "";
  try {
    const { success, stdout, stderr, exitedDueToTimeout } = Bun.spawnSync([named === "" ? "gh" : named, ...args], {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      timeout: GH_MS,
      maxBuffer: GH_BYTES,
      env: {
        ...process.env,
        GH_PROMPT_DISABLED: "1",
        NO_COLOR: "1",
        CLICOLOR_FORCE: undefined,
        BUN_OPTIONS: undefined,
      },
    });
    const said = exitedDueToTimeout === true ? `no answer within ${GH_MS / 1000} seconds` : stderr.toString();
    return { ok: success, stdout: stdout.toString(), stderr: said };
  } catch {
    return null; // there is no such program
  }
}
