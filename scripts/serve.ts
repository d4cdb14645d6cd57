/** A server of writ that a script needs: it says its address in its first line, and lives until it is closed. */

const READY_MS = 20_000;

export type Served = { readonly url: string; close(): Promise<void> };

/**
 * Starts it, and waits for that line.
 *
 * Errors: throws when the line does not come in time, or names no address
 */
export async function serve(
  argv: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string | undefined>>,
  ready_ms = READY_MS,
): Promise<Served> {
  const child = Bun.spawn([...argv], { cwd, env: { ...env }, stdin: "ignore", stdout: "pipe", stderr: "ignore" });
  const late = setTimeout(() => child.kill(), ready_ms);
  let text = "";
  const decoder = new TextDecoder();
  for await (const piece of child.stdout) {
    text += decoder.decode(piece, { stream: true });
    if (text.includes("\n")) break;
  }
  clearTimeout(late);
  const close = async () => {
    child.kill();
    await child.exited;
  };
  const url = /http:\/\/[\w.:]+/.exec(text)?.[0];
  if (url === undefined) {
    await close();
    throw new Error(`"${argv.slice(1, 3).join(" ")}" did not start: ${text}`);
  }
  return { url, close };
}
