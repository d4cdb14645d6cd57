/**
 * What goes on while a person waits: one line on standard error that is written over, from the first second on, and
 * gone at the end. Where standard error is no terminal, nothing.
 */
import { stripControls } from "../core/terminal.ts";

export type Progress = {
  /** What is going on now. */
  show(text: string): void;
  /** Takes the line away. */
  [Symbol.dispose](): void;
};

/** A line that is longer would wrap and could not be written over. */
const WIDTH = 78;

/**
 * @param terminal.ticking calls back about once a second until what it returns is called
 */
export function openProgress(terminal: {
  readonly isTerminal: boolean;
  write(text: string): void;
  ticking(tick: () => void): () => void;
}): Progress {
  if (!terminal.isTerminal) return { show: () => {}, [Symbol.dispose]: () => {} };
  let now = "";
  let seconds = 0;
  let shown = 0;
  const stop = terminal.ticking(() => {
    seconds += 1;
    const time = ` (${seconds} s)`;
    const text = stripControls(now).replace(/\s+/g, " ");
    const line = (text.length + time.length > WIDTH ? `${text.slice(0, WIDTH - time.length - 1)}…` : text) + time;
    terminal.write(`\r${line.padEnd(shown)}`);
    shown = line.length;
  });
  return {
    show: (text) => {
      now = text;
    },
    [Symbol.dispose]() {
      stop();
      if (shown > 0) terminal.write(`\r${" ".repeat(shown)}\r`);
    },
  };
}

/** The ticks of a real clock. */
export function everySecond(tick: () => void): () => void {
  const timer = setInterval(tick, 1000);
  return () => clearInterval(timer);
}
