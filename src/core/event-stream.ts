/**
 * Server-sent events, read piece by piece: bytes in, events out. It knows nothing of what the events mean.
 *
 * Lines are found in the bytes and decoded whole, so that a character split between two reads stays one. What is kept
 * is one open line and one open event, each bounded; time is linear in the bytes, however they are cut.
 *
 * Source: WHATWG HTML, section 9.2.6 (interpreting an event stream)
 */

export type StreamEvent = {
  /** "message" where the stream names none. */
  readonly type: string;
  /** The data lines, joined by LF. */
  readonly data: string;
  /** The last id that the stream gave, "" before the first. */
  readonly id: string;
};

/** Sizes in bytes, of a line without its end, and of all data lines of one event. */
export type StreamLimits = { readonly line_bytes: number; readonly event_bytes: number };

export const STREAM_LIMITS: StreamLimits = { line_bytes: 8 * 1024 * 1024, event_bytes: 8 * 1024 * 1024 };

const LF = 0x0a;
const CR = 0x0d;
const FIRST_BUFFER = 4096;
/** A larger buffer is given back when its line is read. */
const KEPT_BUFFER = 256 * 1024;
const MARK = "\ufeff";

/** One stream, from its first byte to its end. */
export class EventStream {
  /** Why the rest is not read; null while all is well. What came before it was answered. */
  fault: "line_too_long" | "event_too_large" | null = null;
  private readonly decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  private line = new Uint8Array(FIRST_BUFFER);
  private lineBytes = 0;
  private isFirstLine = true;
  private isAfterReturn = false;
  private type = "";
  private id = "";
  private data: string[] = [];
  private dataBytes = 0;

  constructor(private readonly limits: StreamLimits = STREAM_LIMITS) {}

  /** The events that these bytes complete, in order. None after a fault. */
  push(bytes: Uint8Array): readonly StreamEvent[] {
    const events: StreamEvent[] = [];
    let from = 0;
    for (let at = 0; at < bytes.length && this.fault === null; at += 1) {
      const byte = bytes[at];
      if (byte !== LF && byte !== CR) {
        this.isAfterReturn = false;
        continue;
      }
      // The LF of a CR LF ends no line of its own, also where the two come in different reads.
      if (byte === LF && this.isAfterReturn) this.isAfterReturn = false;
      else {
        this.keep(bytes.subarray(from, at));
        this.isAfterReturn = byte === CR;
        if (this.fault === null) this.endLine(events);
      }
      from = at + 1;
    }
    if (this.fault === null) this.keep(bytes.subarray(from));
    return events;
  }

  /**
   * What stands open where the stream ends: an event whose empty line is missing, with its last line whole or not.
   * The standard drops it; who asks decides. Null where there is none.
   */
  end(): StreamEvent | null {
    if (this.fault !== null) return null;
    const events: StreamEvent[] = [];
    if (this.lineBytes > 0) this.endLine(events);
    if (this.fault === null) this.dispatch(events);
    return events[0] ?? null;
  }

  private keep(bytes: Uint8Array): void {
    const size = this.lineBytes + bytes.length;
    if (size > this.limits.line_bytes) {
      this.fail("line_too_long");
      return;
    }
    if (size > this.line.length) {
      const larger = new Uint8Array(Math.max(size, this.line.length * 2));
      larger.set(this.line.subarray(0, this.lineBytes));
      this.line = larger;
    }
    this.line.set(bytes, this.lineBytes);
    this.lineBytes = size;
  }

  private endLine(events: StreamEvent[]): void {
    const bytes = this.lineBytes;
    let text = this.decoder.decode(this.line.subarray(0, bytes));
    this.lineBytes = 0;
    if (this.line.length > KEPT_BUFFER) this.line = new Uint8Array(FIRST_BUFFER);
    if (this.isFirstLine && text.startsWith(MARK)) text = text.slice(MARK.length);
    this.isFirstLine = false;
    if (text === "") {
      this.dispatch(events);
      return;
    }
    const colon = text.indexOf(":");
    const field = colon < 0 ? text : text.slice(0, colon);
    const value = colon < 0 ? "" : text.slice(text.charAt(colon + 1) === " " ? colon + 2 : colon + 1);
    if (field === "data") {
      // A line costs its end as well: data lines without data are not free.
      this.dataBytes += bytes;
      if (this.dataBytes > this.limits.event_bytes) this.fail("event_too_large");
      else this.data.push(value);
    } else if (field === "event") this.type = value;
    else if (field === "id" && !value.includes("\0")) this.id = value;
    // Everything else is a comment (an empty field), `retry`, or unknown.
  }

  private dispatch(events: StreamEvent[]): void {
    if (this.data.length > 0) {
      events.push({ type: this.type === "" ? "message" : this.type, data: this.data.join("\n"), id: this.id });
    }
    this.type = "";
    this.data = [];
    this.dataBytes = 0;
  }

  private fail(fault: NonNullable<EventStream["fault"]>): void {
    this.fault = fault;
    this.line = new Uint8Array(0);
    this.data = [];
  }
}
