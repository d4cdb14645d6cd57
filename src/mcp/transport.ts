/**
 * The protocol on lines, as the SDK takes it: the SDK's own reader of standard input answers nothing to a message that is
 * none, and ends without a word where one is too long.
 *
 * Every request gets a number of its own towards the SDK, from 1, so that whatever a client calls its requests, each can
 * be answered and cancelled.
 */
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import type { JsonObject } from "../core/json/value.ts";
import type { Line } from "../host/lines.ts";
import type { Outbox } from "../host/outbox.ts";
import { FAULTS, type Incoming, type MessageFault, type RequestId, readLine } from "./message.ts";

export const TRANSPORT_LIMITS = {
  /** One message, in bytes: what a contract file may have, and what stands around it. */
  message_bytes: 17 * 1024 * 1024,
  /** Requests that are worked on at once. */
  requests: 64,
  /** Answers that a slow client has not taken, in UTF-16 code units: with more no further request is begun. */
  waiting_answers: 4 * 1024 * 1024,
  /** Requests that are read and not begun, in bytes: with more nothing is read. */
  waiting_bytes: 1024 * 1024,
  /** Notifications of progress that wait for a slow client. */
  waiting_progress: 32,
} as const;

type Pending = { readonly id: RequestId; readonly batch: Batch | null; readonly arguments: string };

/** Messages that came as one list: their answers go out as one, when the last is there. */
type Batch = { open: number; readonly answers: string[] };

/** The SDK puts the code before the message of an error, and a client of its kind does so once more. */
function plainError(message: JSONRPCMessage): { readonly error?: object } {
  if (!("error" in message)) return {};
  const { code, message: text } = message.error;
  const prefix = `MCP error ${code}: `;
  return text.startsWith(prefix) ? { error: { ...message.error, message: text.slice(prefix.length) } } : {};
}

export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  private readonly pending = new Map<number, Pending>();
  private count = 0;

  constructor(private readonly outbox: Outbox) {}

  /** Reading is not begun here: lines are handed in. */
  async start(): Promise<void> {}

  async close(): Promise<void> {
    this.pending.clear();
    this.onclose?.();
  }

  /** The arguments of a request as they were written, by the number that the SDK knows it by; null: it was cancelled. */
  argumentsOf(number: RequestId): string | null {
    return this.pending.get(Number(number))?.arguments ?? null;
  }

  /** A line that has come. Errors: none, whatever is in it */
  receive(line: Line): void {
    if (line.kind === "too_long") {
      const message = `A message has ${TRANSPORT_LIMITS.message_bytes} bytes at most, not ${line.size_bytes}`;
      this.refuse({ kind: "fault", id: null, code: FAULTS.request, message }, null);
      return;
    }
    if (line.bytes.length === 0) return;
    const { isBatch, messages } = readLine(line.bytes);
    // One is kept open until all of the list are handed over: an answer may come at once.
    const batch = isBatch ? { open: 1, answers: [] } : null;
    for (const message of messages) this.take(message, batch);
    if (batch !== null) this.settleOne(batch);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if ("method" in message) {
      const text = JSON.stringify(message);
      if (message.method === "notifications/progress") this.outbox.postDroppable(text);
      else this.outbox.post(text);
      return;
    }
    const number = Number(message.id);
    const pending = this.pending.get(number);
    // A request that was cancelled gets no answer.
    if (pending === undefined) return;
    this.pending.delete(number);
    this.answer(JSON.stringify({ ...message, ...plainError(message), id: pending.id }), pending.batch);
  }

  private take(message: Incoming, batch: Batch | null): void {
    switch (message.kind) {
      case "fault":
        this.refuse(message, batch);
        break;
      case "answer":
        break;
      case "notification":
        this.notice(message.method, message.params);
        break;
      case "request":
        this.ask(message, batch);
        break;
      default:
        message satisfies never;
    }
  }

  private notice(method: string, params: JsonObject | undefined): void {
    if (method === "notifications/cancelled") this.cancel(params?.requestId, params?.reason);
    else this.handOver({ jsonrpc: "2.0", method, ...(params === undefined ? {} : { params }) });
  }

  private ask(request: Extract<Incoming, { kind: "request" }>, batch: Batch | null): void {
    const { id, method, params } = request;
    const why = this.refusalOf(id);
    if (why !== null) {
      this.refuse({ kind: "fault", id, ...why }, batch);
      return;
    }
    this.count += 1;
    this.pending.set(this.count, { id, batch, arguments: request.arguments });
    if (batch !== null) batch.open += 1;
    this.handOver({ jsonrpc: "2.0", id: this.count, method, ...(params === undefined ? {} : { params }) });
  }

  private refusalOf(id: RequestId): { readonly code: number; readonly message: string } | null {
    if ([...this.pending.values()].some((each) => each.id === id)) {
      return { code: FAULTS.request, message: `The id ${JSON.stringify(id)} is that of a request without an answer` };
    }
    if (this.pending.size < TRANSPORT_LIMITS.requests) return null;
    return {
      code: FAULTS.busy,
      message: `${TRANSPORT_LIMITS.requests} requests are worked on at once; try again later`,
    };
  }

  private cancel(requestId: unknown, reason: unknown): void {
    for (const [number, { id, batch }] of this.pending) {
      if (id !== requestId) continue;
      this.pending.delete(number);
      this.handOver({
        jsonrpc: "2.0",
        method: "notifications/cancelled",
        params: { requestId: number, ...(typeof reason === "string" ? { reason } : {}) },
      });
      if (batch !== null) this.settleOne(batch);
    }
  }

  private handOver(message: JSONRPCMessage): void {
    try {
      this.onmessage?.(message);
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }

  private refuse({ id, code, message }: MessageFault, batch: Batch | null): void {
    if (batch !== null) batch.open += 1;
    this.answer(JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } }), batch);
  }

  private answer(text: string, batch: Batch | null): void {
    if (batch === null) this.outbox.post(text);
    else {
      batch.answers.push(text);
      this.settleOne(batch);
    }
  }

  /** One message of a list less; with the last of them the answers go out. */
  private settleOne(batch: Batch): void {
    batch.open -= 1;
    if (batch.open === 0 && batch.answers.length > 0) this.outbox.post(`[${batch.answers.join(",")}]`);
  }
}
