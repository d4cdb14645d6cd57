/**
 * argv in, exit status out. Everything is caught here and nowhere else.
 *
 * The entry imports next to nothing: what a call needs is loaded when its command is known. A hook starts
 * writ once for each tool call of an agent, so every millisecond here is felt.
 */
import { releaseOf, releaseText } from "./cli/release.ts";

async function main(argv: readonly string[]): Promise<number> {
  if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "version")) return await printVersion();
  const { openFrame } = await import("./cli/frame.ts");
  const frame = openFrame(argv, process.env.WRIT_DEBUG === "1");
  // What a forgotten promise or a callback throws ends the call the same way; it is never printed as a bare stack.
  const stray = (error: unknown) => {
    process.exitCode = frame.report(error);
  };
  process.on("uncaughtException", stray).on("unhandledRejection", stray);
  try {
    return await frame.run();
  } catch (error) {
    return frame.report(error);
  }
}

/**
 * The one answer that does not go through the frame: loading `node:fs` for its one line would cost a third of
 * the whole call. A line this short is written at once or not at all.
 */
async function printVersion(): Promise<number> {
  const line = `${releaseText(await releaseOf())}\n`;
  try {
    const out = Bun.stdout.writer();
    out.write(line);
    await out.flush();
    return 0;
  } catch (error) {
    // The reader is gone: nobody is left to read it, and that is no failure.
    if (error instanceof Error && "code" in error && error.code === "EPIPE") return 0;
    console.error(`Error: Cannot write standard output: ${error instanceof Error ? error.message : error}`);
    return 4;
  }
}

// Never process.exit: it cuts what a stream has not yet handed over. All output of writ is written before this line
// ends, and a command closes what it opens; a handle left open is a defect to be seen, not one to be cut off.
const status = await main(process.argv.slice(2));
// What was reported from a callback meanwhile outranks the answer of the command.
process.exitCode ||= status;
