/** Which form progress takes: painted on a terminal, plain lines elsewhere, or none. */
import { isTerminal, rowsOf, writeAll } from "../../host/stream.ts";
import type { Output } from "../command.ts";
import { terminalWidth } from "../width.ts";
import { type Display, openLiveDisplay } from "./live.ts";
import { openPlainDisplay } from "./plain.ts";

const USUAL_ROWS = 24;
const USUAL_COLUMNS = 80;

const now = () => performance.now();

export function openDisplay(out: Output, options: { readonly quiet: boolean; readonly plain: boolean }): Display {
  if (options.quiet) return { take: () => {}, say: () => {}, close: () => {} };
  const { TERM, COLUMNS } = process.env;
  // Empty says as little of what the terminal can do as "dumb".
  if (options.plain || TERM === "dumb" || TERM === "" || !isTerminal(2)) {
    return openPlainDisplay((line) => out.talk(line), {
      now,
      every(ms, call) {
        const timer = setInterval(call, ms);
        return () => clearInterval(timer);
      },
    });
  }
  const display = openLiveDisplay(
    {
      write: (text) => {
        writeAll(2, text);
      },
      size: () => ({ columns: terminalWidth(2, COLUMNS) ?? USUAL_COLUMNS, rows: rowsOf(2) ?? USUAL_ROWS }),
    },
    {
      now,
      after(ms, call) {
        const timer = setTimeout(call, ms);
        return () => clearTimeout(timer);
      },
    },
  );
  // A signal that ends the process at once still finds its cursor shown; the others are listened for by the command.
  const quit = () => {
    display.close();
    process.off("SIGQUIT", quit);
    process.kill(process.pid, "SIGQUIT");
  };
  process.on("SIGQUIT", quit);
  return {
    take: (event) => display.take(event),
    say: (text) => display.say(text),
    close() {
      process.off("SIGQUIT", quit);
      display.close();
    },
  };
}
