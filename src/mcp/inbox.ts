/**
 * Lines on their way in: handed on one after the other while answers are taken, kept in a bounded number while they are
 * not. So a client that does not read holds up itself, and the end of its lines is seen all the same.
 */
import type { Line } from "../host/lines.ts";

export class Inbox {
  private readonly waiting: Line[] = [];
  private size_bytes = 0;
  /** Called when a line was handed on. */
  private taken: (() => void) | null = null;

  /**
   * @param receive   takes a line
   * @param mayTake   whether the next one is to be handed on
   * @param mostBytes of lines that wait, the last one not counted
   */
  constructor(
    private readonly receive: (line: Line) => void,
    private readonly mayTake: () => boolean,
    private readonly mostBytes: number,
  ) {}

  /** Takes a line that has come, and resolves when there is room for the next. */
  async put(line: Line): Promise<void> {
    this.waiting.push(line);
    this.size_bytes += sizeOf(line);
    this.pump();
    while (this.size_bytes > this.mostBytes) await this.nextTaken();
  }

  /** Hands on what may be; to be called whenever that may have changed. */
  pump(): void {
    const before = this.waiting.length;
    while (this.mayTake()) {
      const line = this.waiting.shift();
      if (line === undefined) break;
      this.size_bytes -= sizeOf(line);
      this.receive(line);
    }
    if (this.waiting.length < before) this.taken?.();
  }

  /** Resolves when no line waits any more, or none was handed on for so long. */
  async emptied(patience_ms: number): Promise<void> {
    let isGivenUp = false;
    while (this.waiting.length > 0 && !isGivenUp) {
      const timer = setTimeout(() => {
        isGivenUp = true;
        this.taken?.();
      }, patience_ms);
      await this.nextTaken();
      clearTimeout(timer);
    }
  }

  /** One waits at a time: who puts lines also waits for their end. */
  private nextTaken(): Promise<void> {
    return new Promise((resolve) => {
      this.taken = resolve;
    });
  }
}

/** An empty line takes a little, too. */
function sizeOf(line: Line): number {
  return 64 + (line.kind === "line" ? line.bytes.length : 0);
}
