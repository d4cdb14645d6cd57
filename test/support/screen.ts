/** A program in a terminal of its own: what it shows, what is typed at it, how it ends. */

export type Screen = {
  /** All that was shown so far. */
  text(): string;
  /** Waits until the text is shown; fails when the program ends before. */
  shows(text: string): Promise<void>;
  /** Types something. */
  type(keys: string): void;
  resize(columns: number, rows: number): void;
  /** Its exit status; the screen is whole then. */
  ended: Promise<number>;
};

export function openScreen(
  argv: readonly string[],
  options: {
    readonly env: Record<string, string>;
    readonly cwd: string;
    readonly columns?: number;
    readonly rows?: number;
  },
): Screen {
  let shown = "";
  let isOver = false;
  let wake = () => {};
  const decoder = new TextDecoder();
  const child = Bun.spawn([...argv], {
    cwd: options.cwd,
    env: options.env,
    terminal: {
      cols: options.columns ?? 80,
      rows: options.rows ?? 24,
      data: (_, data) => {
        shown += decoder.decode(data, { stream: true });
        wake();
      },
    },
  });
  const ended = child.exited.then((status) => {
    isOver = true;
    wake();
    child.terminal?.close();
    return status;
  });
  return {
    text: () => shown,
    async shows(text) {
      while (!shown.includes(text)) {
        if (isOver) throw new Error(`it ended without "${text}": ${JSON.stringify(shown)}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    type: (keys) => void child.terminal?.write(keys),
    resize: (columns, rows) => child.terminal?.resize(columns, rows),
    ended,
  };
}
