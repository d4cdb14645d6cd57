/**
 * Lines on their way to a reader who may be slow: posted without waiting, written in their order one after the other.
 *
 * What may be dropped is kept in a bounded number, the newest of it; what may not is bounded by those who post it: they
 * ask whether it is full, and are told when it no longer is.
 */

export type Outbox = {
  /** Puts a line, without its end, behind those that wait. */
  post(line: string): void;
  /** The same for a line that may be left out: where as many of its kind wait as may, the oldest of them goes. */
  postDroppable(line: string): void;
  /** Whether as much waits as may, before somebody posts more. */
  isFull(): boolean;
  /** Resolves when all of it is written, or the reader has gone. */
  drained(): Promise<void>;
};

type Waiting = { readonly text: string; readonly isDroppable: boolean };

/**
 * @param write    writes a text whole, and resolves when the reader has room for more; it rejects when the reader has gone
 * @param most     lines of those that may be dropped that wait at once
 * @param room     how much may wait before it is full, in UTF-16 code units, and what is called when it no longer is
 * @param onBroken called once with what `write` threw; whatever is posted from then on is dropped
 */
export function openOutbox(
  write: (text: string) => Promise<void>,
  most: number,
  onBroken: (why: unknown) => void,
  room: { readonly size: number; readonly onRoom: () => void } = { size: Number.POSITIVE_INFINITY, onRoom: () => {} },
): Outbox {
  const waiting: Waiting[] = [];
  let droppable = 0;
  /** With what is being written. */
  let size = 0;
  let isBroken = false;
  let writing: Promise<void> | null = null;

  async function work(): Promise<void> {
    try {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        if (next.isDroppable) droppable -= 1;
        await write(next.text);
        const wasFull = size >= room.size;
        size -= next.text.length;
        if (wasFull && size < room.size) room.onRoom();
      }
    } catch (error) {
      isBroken = true;
      waiting.length = 0;
      size = 0;
      onBroken(error);
    } finally {
      writing = null;
    }
  }

  function put(line: string, isDroppable: boolean): void {
    if (isBroken) return;
    if (isDroppable && droppable >= most) {
      const oldest = waiting.findIndex((each) => each.isDroppable);
      for (const { text } of waiting.splice(oldest, 1)) size -= text.length;
    } else if (isDroppable) droppable += 1;
    waiting.push({ text: `${line}\n`, isDroppable });
    size += line.length + 1;
    writing ??= work();
  }

  return {
    post: (line) => put(line, false),
    postDroppable: (line) => put(line, true),
    isFull: () => size >= room.size,
    async drained() {
      while (writing !== null) await writing;
    },
  };
}

export type StandardOutput = {
  /** Writes a text whole, and resolves when the reader has room for more. */
  readonly write: (text: string) => Promise<void>;
  /** What has not been taken by now no longer keeps the process from its end. */
  readonly release: () => void;
};

/** Writes to standard output without holding up the process, whatever standard output is. */
export function standardOutput(): StandardOutput {
  const sink = Bun.stdout.writer();
  return {
    async write(text) {
      // A pipe that is full answers with a promise; what is written meanwhile would be kept in memory without a bound.
      await sink.write(text);
      await sink.flush();
    },
    release: () => sink.unref(),
  };
}
