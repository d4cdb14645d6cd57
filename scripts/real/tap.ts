/** Stands between writ and a model server, passes everything on, and keeps what was asked and answered in chats. */
import { appendFileSync } from "node:fs";

/** Server-sent events may be far apart while a long prompt is read; Bun takes at most this. */
const IDLE_SEC = 255;

/**
 * Opens the tap on a free port of loopback.
 *
 * @param file takes one JSON object a line for each chat: when it began, how long it took, request, status, answer
 */
export function openTap(upstream: string, file: string): { readonly url: string; readonly close: () => void } {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: IDLE_SEC,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const body = request.method === "POST" ? await request.text() : undefined;
      const started = performance.now();
      const headers = new Headers(request.headers);
      headers.delete("host");
      headers.delete("content-length");
      const answer = await fetch(`${upstream}${pathname}${search}`, {
        method: request.method,
        headers,
        keepalive: false,
        signal: request.signal,
        ...(body === undefined ? {} : { body }),
      });
      const passed = new Response(answer.body, { status: answer.status, headers: answer.headers });
      if (!pathname.endsWith("/chat/completions") || answer.body === null) return passed;
      const [mine, theirs] = answer.body.tee();
      void keep(mine, (text) => {
        const ms = Math.round(performance.now() - started);
        appendFileSync(
          file,
          `${JSON.stringify({ at_ms: Math.round(started), ms, status: answer.status, asked: parse(body), answered: wordsIn(text) })}\n`,
        );
      });
      return new Response(theirs, { status: answer.status, headers: answer.headers });
    },
  });
  return { url: server.url.origin, close: () => void server.stop(true) };
}

async function keep(stream: ReadableStream<Uint8Array>, done: (text: string) => void): Promise<void> {
  let text = "";
  const decoder = new TextDecoder();
  try {
    for await (const chunk of stream) text += decoder.decode(chunk, { stream: true });
  } catch {
    if (!text.includes("data: [DONE]")) text += "\n(the client has gone)"; // what came until then is kept
  }
  done(text);
}

/** A stream, put together: content, reasoning, calls and usage. Anything else as it is. */
function wordsIn(text: string): unknown {
  const events = text.split("\n").filter((line) => line.startsWith("data: {"));
  if (events.length === 0) return parse(text) ?? text;
  let content = "";
  let reasoning = "";
  const calls: Record<number, { name: string; arguments: string }> = {};
  let finish_reason: unknown = null;
  let usage: unknown = null;
  for (const event of events) {
    const { choices = [], usage: counted = usage } = JSON.parse(event.slice("data: ".length));
    usage = counted;
    for (const { delta = {}, finish_reason: reason } of choices) {
      content += delta.content ?? "";
      reasoning += delta.reasoning_content ?? "";
      finish_reason = reason ?? finish_reason;
      for (const call of delta.tool_calls ?? []) {
        const open = calls[call.index] ?? { name: "", arguments: "" };
        calls[call.index] = {
          name: open.name + (call.function?.name ?? ""),
          arguments: open.arguments + (call.function?.arguments ?? ""),
        };
      }
    }
  }
  const isCut = text.includes("(the client has gone)");
  return { content, reasoning, calls: Object.values(calls), finish_reason, usage, ...(isCut ? { isCut } : {}) };
}

function parse(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return undefined;
  }
}
