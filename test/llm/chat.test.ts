import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Seat } from "../../src/core/config/seat.ts";
import { MAX_ANSWER_BYTES } from "../../src/core/seat/deltas.ts";
import type { ChatOutcome } from "../../src/core/seat/endpoint.ts";
import type { EndpointWorld } from "../../src/llm/world.ts";
import { ASK, endpointOf, type Watched, watching } from "../support/chat.ts";
import { type Asked, deadPort, openStream, rawServer, respond } from "../support/raw-server.ts";

const delta = (value: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: value, finish_reason }] })}\n\n`;
const HELLO = delta({ content: "hello" });
const STOP = delta({}, "stop");
const DONE = "data: [DONE]\n\n";

type Asking = {
  readonly seat?: Partial<Seat>;
  readonly world?: Partial<EndpointWorld>;
  readonly watch?: Watched;
  readonly request?: Partial<typeof ASK>;
};

/** What comes of one chat request to a server that answers so. */
async function chatWith(
  answer: (asked: Asked) => void,
  { seat = {}, world = {}, watch = watching(), request = {} }: Asking = {},
) {
  await using server = await rawServer(answer);
  const outcome = await endpointOf({ base_url: server.url, ...seat }, world).chat({ ...ASK, ...request }, watch);
  return { outcome, asked: server.asked, watch };
}

/** Streams these texts, and closes. */
const stream =
  (...pieces: readonly (string | Uint8Array)[]) =>
  (asked: Asked) => {
    openStream(asked);
    for (const piece of pieces) asked.socket.write(piece);
    asked.socket.end();
  };

/** Streams these texts, and leaves the connection open. */
const held =
  (...pieces: readonly string[]) =>
  (asked: Asked) => {
    openStream(asked);
    for (const piece of pieces) asked.socket.write(piece);
  };

function contentOf(outcome: ChatOutcome): string {
  return outcome.kind === "answered" ? outcome.completion.content : JSON.stringify(outcome);
}

describe("a stream", () => {
  test("is put together, with its usage and its times", async () => {
    const usage = `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } })}\n\n`;
    let now = 0;
    const clock = { ms: () => (now += 10) };
    const { outcome } = await chatWith(stream(delta({ reasoning: "hm" }) + HELLO + STOP + usage + DONE), {
      world: { clock },
    });
    expect(outcome).toEqual({
      kind: "answered",
      completion: {
        content: "hello",
        reasoning: "hm",
        calls: [],
        finish_reason: "stop",
        is_cut: false,
        usage: { prompt_tokens: 3, completion_tokens: 2, reasoning_tokens: 0, cached_tokens: 0 },
        first_byte_ms: expect.any(Number),
        prefill_ms: expect.any(Number),
        decode_ms: expect.any(Number),
      },
    });
    if (outcome.kind !== "answered") return;
    const { first_byte_ms, prefill_ms, decode_ms } = outcome.completion;
    expect([first_byte_ms > 0, prefill_ms >= first_byte_ms, decode_ms > 0]).toEqual([true, true, true]);
  });

  test("may be cut anywhere, also inside a character", async () => {
    const bytes = Buffer.from(`\ufeff: ping\r\n\r\n${delta({ content: "é😀" })}${STOP}${DONE}`);
    const { outcome } = await chatWith(async (asked) => {
      openStream(asked);
      asked.socket.setNoDelay(true);
      for (let at = 0; at < bytes.length; at += 3) {
        asked.socket.write(bytes.subarray(at, at + 3));
        await new Promise((resolve) => setImmediate(resolve));
      }
      asked.socket.end();
    });
    expect(contentOf(outcome)).toBe("é😀");
  });

  test("in chunks, with its end mark and without a finish_reason, is whole", async () => {
    const { outcome } = await chatWith((asked) => {
      const body = HELLO + DONE;
      asked.socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
      asked.socket.write(`${body.length.toString(16)}\r\n${body}\r\n`);
    });
    expect(contentOf(outcome)).toBe("hello");
  });

  test("ends with its end mark, and the connection with it", async () => {
    let gone: Promise<void> | null = null;
    const { outcome } = await chatWith((asked) => {
      gone = asked.gone;
      held(HELLO, STOP, DONE)(asked);
    });
    expect(contentOf(outcome)).toBe("hello");
    await gone;
  });

  test("that has said why it ends is whole, though usage and end mark never come", async () => {
    const limits = { finish_grace_ms: 20 };
    expect(contentOf((await chatWith(held(HELLO, STOP), { world: { limits } })).outcome)).toBe("hello");
    expect(contentOf((await chatWith(stream(HELLO, STOP))).outcome)).toBe("hello");
    expect(contentOf((await chatWith(stream(HELLO, STOP, "data: {broken\n\n"))).outcome)).toBe("hello");
    const reset = (asked: Asked) => {
      openStream(asked, { "Content-Length": "99999" });
      asked.socket.write(HELLO + STOP, () => setTimeout(() => asked.socket.resetAndDestroy(), 150));
    };
    expect(contentOf((await chatWith(reset)).outcome)).toBe("hello");
  });

  test("a last event without its empty line counts only where it ends the answer", async () => {
    expect(contentOf((await chatWith(stream(HELLO, STOP.trimEnd()))).outcome)).toBe("hello");
    expect((await chatWith(stream(HELLO, HELLO.trimEnd()))).outcome.kind).toBe("died");
    expect(contentOf((await chatWith(stream(HELLO, STOP, HELLO.trimEnd().slice(0, -5)))).outcome)).toBe("hello");
  });

  test.each([
    { name: "ends without a mark", answer: stream(HELLO) },
    { name: "ends without anything", answer: stream() },
    { name: "is blank", answer: stream("\n\n  \n") },
    { name: "is a page", answer: stream("<html>\n<body>no</body></html>\n") },
    { name: "holds what is no JSON", answer: stream(HELLO, "data: {oops\n\n", STOP, DONE) },
    { name: "is cut inside an event", answer: stream(HELLO, HELLO.slice(0, 20)) },
    {
      name: "is cut inside a chunk",
      answer: (asked: Asked) => {
        asked.socket.end(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n${HELLO}`);
      },
    },
    {
      name: "is shorter than it says",
      answer: (asked: Asked) => {
        openStream(asked, { "Content-Length": "9999" });
        asked.socket.end(HELLO);
      },
    },
    {
      name: "is reset",
      answer: (asked: Asked) => {
        openStream(asked);
        asked.socket.write(HELLO, () => setTimeout(() => asked.socket.resetAndDestroy(), 20));
      },
    },
    {
      name: "is packed",
      answer: (asked: Asked) => {
        openStream(asked, { "Content-Encoding": "gzip" });
        asked.socket.end(Bun.gzipSync(HELLO + DONE));
      },
    },
  ])("a stream that $name is no answer", async ({ answer }) => {
    const { outcome } = await chatWith(answer);
    expect(outcome).toMatchObject({ kind: "died", status: null });
    expect(JSON.stringify(outcome)).not.toContain("hello");
  });

  test("is answered as one object, also where a stream was asked for, and the other way round", async () => {
    const whole = { choices: [{ message: { content: "hello" }, finish_reason: "stop" }], usage: { prompt_tokens: 1 } };
    for (const type of ["application/json", "text/event-stream"]) {
      for (const seat of [{ stream: true }, { stream: false }]) {
        const { outcome, asked } = await chatWith((each) => respond(each, 200, whole, { "Content-Type": type }), {
          seat,
        });
        expect(contentOf(outcome)).toBe("hello");
        expect(JSON.parse(asked[0]?.body ?? "").stream).toBe(seat.stream);
      }
    }
    expect(contentOf((await chatWith(stream(HELLO, DONE), { seat: { stream: false } })).outcome)).toBe("hello");
  });

  test("an object that is cut is no answer", async () => {
    const { outcome } = await chatWith((asked) => {
      asked.socket.end('HTTP/1.1 200 OK\r\n\r\n{"choices":[{"message":{"content":"hel');
    });
    expect(outcome).toMatchObject({ kind: "died", status: null });
  });

  test("that only repeats itself is ended long before its end, and is cut", async () => {
    const line = "The file is set below, one paragraph each; the file is set below, one paragraph each, and so on.\n";
    const { outcome, asked } = await chatWith(
      held(HELLO, ...Array.from({ length: 60 }, () => delta({ content: line }))),
    );
    expect(outcome).toMatchObject({ kind: "answered", completion: { is_cut: true, usage: null } });
    expect(contentOf(outcome)).toStartWith(`hello${line}${line}`);
    // The server is told: its slot is free for the next.
    await asked[0]?.gone;
  });

  test("that repeats itself in its thoughts is ended too", async () => {
    const thought = delta({
      reasoning_content: "Wait, let me look at the file once more before I say what is in it.\n",
    });
    const { outcome } = await chatWith(held(...Array.from({ length: 80 }, () => thought)));
    expect(outcome).toMatchObject({ kind: "answered", completion: { is_cut: true, content: "" } });
  });

  test("of a call that writes the same line many times is not", async () => {
    const start = delta({ tool_calls: [{ index: 0, id: "c", function: { name: "write_file", arguments: "" } }] });
    const row = delta({
      tool_calls: [{ index: 0, function: { arguments: "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0\\n" } }],
    });
    const { outcome } = await chatWith(
      stream(start, ...Array.from({ length: 200 }, () => row), delta({}, "tool_calls"), DONE),
    );
    expect(outcome).toMatchObject({ kind: "answered", completion: { is_cut: false, finish_reason: "tool_calls" } });
  });
});

describe("what is cut", () => {
  const usage = (completion_tokens: number) =>
    `data: ${JSON.stringify({ choices: [], usage: { completion_tokens } })}\n\n`;

  test.each([
    { name: "finish_reason length", pieces: [HELLO, delta({}, "length"), DONE], is_cut: true },
    { name: "all of the budget used", pieces: [HELLO, STOP, usage(100), DONE], is_cut: true },
    { name: "more than the budget", pieces: [HELLO, delta({}, "tool_calls"), usage(101), DONE], is_cut: true },
    { name: "less than the budget", pieces: [HELLO, STOP, usage(99), DONE], is_cut: false },
    { name: "no usage", pieces: [HELLO, STOP, DONE], is_cut: false },
  ])("$name: $is_cut", async ({ pieces, is_cut }) => {
    const { outcome } = await chatWith(stream(...pieces));
    expect(outcome).toMatchObject({ kind: "answered", completion: { is_cut } });
  });
});

describe("a scripted seat", () => {
  const say = (more: object) => `data: ${JSON.stringify({ choices: [{ delta: { content: "x" } }], ...more })}\n\n`;
  const HEADER = { "writ-scripted": "clamp" };

  /** Whether the endpoint calls the seat scripted, before and after one request. */
  async function toldOf(answer: (asked: Asked) => void, { seat = {}, watch = watching() }: Asking = {}) {
    await using server = await rawServer(answer);
    const endpoint = endpointOf({ base_url: server.url, ...seat });
    const before = endpoint.isScripted();
    const { kind } = await endpoint.chat(ASK, watch);
    return { before, kind, after: endpoint.isScripted() };
  }

  test.each([
    { name: "its header", headers: HEADER, piece: say({}), after: true },
    { name: "its fingerprint", headers: {}, piece: say({ system_fingerprint: "writ-scripted" }), after: true },
    { name: "its model", headers: {}, piece: say({ model: "scripted/clamp" }), after: true },
    { name: "none of the three", headers: {}, piece: say({ model: "m", system_fingerprint: "f" }), after: false },
    { name: "a model that begins like it", headers: {}, piece: say({ model: "scripted-writer-7b" }), after: false },
  ])("is known by $name: $after", async ({ headers, piece, after }) => {
    const told = await toldOf((asked) => {
      openStream(asked, headers as Record<string, string>);
      asked.socket.end(piece + DONE);
    });
    expect(told).toEqual({ before: false, kind: "answered", after });
  });

  test("is known by the answer with which it refuses", async () => {
    const told = await toldOf((asked) => respond(asked, 400, '{"error":{"message":"no turn"}}', HEADER));
    expect(told).toEqual({ before: false, kind: "refused", after: true });
  });

  test.each([
    { name: "its header", headers: HEADER, piece: say({}) },
    { name: "its fingerprint", headers: {}, piece: say({ system_fingerprint: "writ-scripted" }) },
  ])("is known by $name also where the answer is not waited for to its end", async ({ headers, piece }) => {
    const stop = new AbortController();
    const watch = watching({ signal: stop.signal, onProgress: ({ tokens }) => tokens > 0 && stop.abort() });
    const told = await toldOf(
      (asked) => {
        openStream(asked, headers as Record<string, string>);
        asked.socket.write(piece);
      },
      { watch },
    );
    expect(told).toEqual({ before: false, kind: "aborted", after: true });
  });

  test("is known by the answer to a question of another kind", async () => {
    await using server = await rawServer((asked) => respond(asked, 404, "", HEADER));
    const endpoint = endpointOf({ base_url: server.url });
    await endpoint.look(new AbortController().signal);
    expect(endpoint.isScripted()).toBe(true);
  });

  test("is known by what the config calls its model, before anything is asked", () => {
    expect(endpointOf({ model: "scripted/clamp" }).isScripted()).toBe(true);
    expect(endpointOf({ model: "scripted-writer-7b" }).isScripted()).toBe(false);
  });
});

describe("an error", () => {
  test.each([
    {
      status: 429,
      headers: { "Retry-After": "2" },
      body: { error: "x" },
      outcome: { kind: "busy", retry_after_sec: 2 },
    },
    { status: 503, body: { error: { message: "Loading model" } }, outcome: { kind: "loading" } },
    {
      status: 400,
      body: { error: { n_ctx: 5, type: "exceed_context_size_error" } },
      outcome: { kind: "too_long", n_ctx: 5 },
    },
    { status: 404, body: { error: "model not found" }, outcome: { kind: "not_served" } },
    { status: 401, body: "", outcome: { kind: "refused", status: 401 } },
    { status: 500, body: "", outcome: { kind: "died", status: 500 } },
    { status: 204, body: "", outcome: { kind: "died" } },
  ])("of status $status is judged", async ({ status, headers = {}, body, outcome }) => {
    const found = await chatWith((asked) => respond(asked, status, body, headers as Record<string, string>));
    expect(found.outcome).toMatchObject(outcome as object);
  });

  test("a constrained request is judged as one", async () => {
    const constraint = { mode: "json_schema", schema: {}, grammar: null } as const;
    const { outcome } = await chatWith((asked) => respond(asked, 422, "no"), { request: { constraint } });
    expect(outcome).toMatchObject({ kind: "mode_refused", status: 422 });
  });

  test.each([
    { body: { error: { code: 400, message: "x", type: "exceed_context_size_error", n_ctx: 8 } }, kind: "too_long" },
    { body: { error: { code: 500, message: "Failed to parse tool call arguments as JSON: x" } }, kind: "bad_call" },
    { body: { error: { code: 429, message: "x" } }, kind: "busy" },
    { body: { error: "x" }, kind: "died" },
    { body: { error: { code: "x", message: "x" } }, kind: "died" },
  ])("inside a stream, or as a whole answer of 200, is judged: $kind", async ({ body, kind }) => {
    expect((await chatWith(stream(HELLO, `data: ${JSON.stringify(body)}\n\n`))).outcome.kind).toBe(
      kind as ChatOutcome["kind"],
    );
    expect((await chatWith((asked) => respond(asked, 200, body))).outcome.kind).toBe(kind as ChatOutcome["kind"]);
  });

  test("nested without end inside of a stream is judged as any other", async () => {
    const deep = `{"error":${'{"a":'.repeat(200_000)}1${"}".repeat(200_001)}`;
    expect((await chatWith(stream(`data: ${deep}\n\n`))).outcome).toMatchObject({ kind: "died", status: 500 });
  });

  test("a redirect is not followed", async () => {
    await using other = await rawServer((asked) => respond(asked, 200, { choices: [] }));
    for (const status of [301, 302, 307, 308]) {
      const { outcome } = await chatWith((asked) => respond(asked, status, "", { Location: `${other.url}/v1` }));
      expect(outcome).toMatchObject({ kind: "died", status });
      expect(JSON.stringify(outcome)).toContain(other.url);
    }
    expect(other.asked).toEqual([]);
  });

  test("its body is read for so long, and so far", async () => {
    const limits = { error_body_ms: 20 };
    const slow = await chatWith(
      (asked) => asked.socket.write('HTTP/1.1 429 X\r\nContent-Length: 999\r\n\r\n{"error":"wait a bi'),
      { world: { limits } },
    );
    expect(slow.outcome).toMatchObject({ kind: "busy", status: 429 });
    const huge = await chatWith((asked) => respond(asked, 500, "x".repeat(10_000_000)));
    expect(huge.outcome).toMatchObject({ kind: "died", status: 500 });
  });

  test.each([
    { name: "garbage", head: "\0\x01garbage\r\n\r\n" },
    { name: "no status", head: "hello\r\n\r\n" },
    { name: "a switch of protocols", head: "HTTP/1.1 101 X\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n" },
    { name: "a negative length", head: "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n" },
    { name: "headers without end", head: `HTTP/1.1 200 OK\r\n${"X: y\r\n".repeat(100_000)}` },
    { name: "a bad chunk", head: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n" },
    { name: "nothing", head: "" },
  ])("an answer of $name is none", async ({ head }) => {
    const { outcome } = await chatWith((asked) => asked.socket.end(head));
    expect(outcome).toMatchObject({ kind: "died", status: null });
  });

  test("nothing that listens is no answer", async () => {
    const base_url = `http://127.0.0.1:${await deadPort()}`;
    const outcome = await endpointOf({ base_url }).chat(ASK, watching());
    expect(outcome).toEqual({ kind: "died", status: null, message: `${base_url}: connection refused` });
  });
});

describe("silence", () => {
  test("before the first byte is looked into, and is a stall where nothing explains it", async () => {
    const watch = watching({ allowance_ms: (phase) => (phase === "prefill" ? 30 : 30_000), say: ["wait", "abort"] });
    let gone: Promise<void> | null = null;
    const { outcome } = await chatWith(
      (asked) => {
        gone = asked.gone;
      },
      { watch },
    );
    expect(outcome).toMatchObject({ kind: "stalled", phase: "prefill", allowed_ms: 30 });
    expect(watch.looks.map(({ phase }) => phase)).toEqual(["prefill", "prefill"]);
    expect(watch.looks.every(({ silent_ms }) => silent_ms >= 30)).toBe(true);
    await gone;
  });

  test("between deltas has its own allowance", async () => {
    const watch = watching({ allowance_ms: (phase) => (phase === "decoding" ? 30 : 30_000) });
    expect((await chatWith(held(HELLO), { watch })).outcome).toMatchObject({ kind: "stalled", phase: "decoding" });
  });

  test.each([
    { name: "pings", piece: ": ping\n\n" },
    { name: "empty deltas", piece: delta({ role: "assistant", content: "" }) },
    {
      name: "a prefill that does not move",
      piece: `data: ${JSON.stringify({ prompt_progress: { processed: 5 } })}\n\n`,
    },
    { name: "bytes of a line that never ends", piece: "x" },
  ])("is not broken by $name", async ({ piece }) => {
    const watch = watching({ allowance_ms: () => 60 });
    const { outcome } = await chatWith(
      (asked) => {
        openStream(asked);
        const timer = setInterval(() => asked.socket.write(piece), 5);
        asked.gone.then(() => clearInterval(timer));
      },
      { watch },
    );
    expect(outcome).toMatchObject({ kind: "stalled", phase: "prefill" });
  });

  test("is not broken by a head that never ends", async () => {
    const watch = watching({ allowance_ms: () => 60 });
    const { outcome } = await chatWith(
      ({ socket, gone }) => {
        socket.write("HTTP/1.1 200 OK\r\nX: ");
        const timer = setInterval(() => socket.write("y"), 5);
        gone.then(() => clearInterval(timer));
      },
      { watch },
    );
    expect(outcome).toMatchObject({ kind: "stalled", phase: "prefill" });
  });

  test("is told while it lasts", async () => {
    const idle = Promise.withResolvers<number>();
    const control = new AbortController();
    const watch = watching({ signal: control.signal, onProgress: ({ idle_ms }) => idle.resolve(idle_ms) });
    const asking = chatWith(() => {}, { watch });
    expect(await idle.promise).toBeGreaterThan(0);
    control.abort();
    expect((await asking).outcome).toEqual({ kind: "aborted" });
  });

  test("is broken by a prefill that moves, which leaves the phase as it is", async () => {
    const watch = watching({ allowance_ms: (phase) => (phase === "prefill" ? 500 : 30_000) });
    const { outcome } = await chatWith(
      (asked) => {
        openStream(asked);
        let processed = 0;
        const timer = setInterval(() => {
          processed += 1;
          asked.socket.write(`data: ${JSON.stringify({ prompt_progress: { processed } })}\n\n`);
          if (processed < 50) return;
          clearInterval(timer);
          asked.socket.end(HELLO + DONE);
        }, 15);
      },
      { watch },
    );
    expect(contentOf(outcome)).toBe("hello");
    expect(watch.looks).toEqual([]);
    expect(watch.progress[0]).toMatchObject({ phase: "prefill", tokens: 0 });
  });

  test("that ends while it is looked into was none", async () => {
    const arrived = Promise.withResolvers<Asked>();
    const watch = watching({
      allowance_ms: (phase) => (phase === "prefill" ? 20 : 30_000),
      look: async () => {
        const asked = await arrived.promise;
        const said = Promise.withResolvers<"abort">();
        openStream(asked);
        asked.socket.write(HELLO, () => setTimeout(() => said.resolve("abort"), 100));
        said.promise.then(() => setTimeout(() => asked.socket.end(DONE), 50));
        return said.promise;
      },
    });
    expect(contentOf((await chatWith(arrived.resolve, { watch })).outcome)).toBe("hello");
  });

  test("of a seat that does not stream is allowed for each token of the budget", async () => {
    const watch = watching({ allowance_ms: () => 1 });
    const whole = { choices: [{ message: { content: "hello" } }] };
    const { outcome } = await chatWith((asked) => setTimeout(() => respond(asked, 200, whole), 100), {
      watch,
      seat: { stream: false },
    });
    expect(contentOf(outcome)).toBe("hello");
    const short = await chatWith(() => {}, { watch, seat: { stream: false }, request: { max_tokens: 1 } });
    expect(short.outcome).toMatchObject({ kind: "stalled", allowed_ms: 51 });
  });

  test("progress is told at most ten times a second", async () => {
    let now = 0;
    const clock = { ms: () => now++ };
    const { watch, outcome } = await chatWith(stream(HELLO.repeat(1000), DONE), { world: { clock } });
    expect(outcome.kind).toBe("answered");
    expect(watch.progress.length).toBeGreaterThan(2);
    expect(watch.progress.length).toBeLessThanOrEqual(now / 100 + 1);
    const tokens = watch.progress.map((each) => each.tokens);
    expect(tokens).toEqual(tokens.toSorted((left, right) => left - right));
  });

  test.each(["look", "onProgress"] as const)("a defect of the caller's %s is thrown", async (name) => {
    const fail = () => {
      throw new Error("defect");
    };
    const watch = { ...watching({ allowance_ms: () => 20 }), [name]: fail };
    await using server = await rawServer(name === "look" ? () => {} : held(HELLO));
    await expect(endpointOf({ base_url: server.url }).chat(ASK, watch)).rejects.toThrow("defect");
  });
});

describe("the caller's signal", () => {
  test("ends a request before it is sent", async () => {
    const { outcome, asked } = await chatWith(stream(HELLO, DONE), {
      watch: watching({ signal: AbortSignal.abort() }),
    });
    expect(outcome).toEqual({ kind: "aborted" });
    expect(asked).toEqual([]);
  });

  test.each([
    { name: "before the head", answer: () => {} },
    { name: "inside the head", answer: ({ socket }: Asked) => void socket.write("HTTP/1.1 200 OK\r\nX: ") },
    { name: "inside the body", answer: held(HELLO) },
    {
      name: "inside the body of an error",
      answer: ({ socket }: Asked) => void socket.write("HTTP/1.1 500 X\r\n\r\nno"),
    },
    { name: "behind the end of an answer", answer: held(HELLO, STOP) },
  ])("closes the connection at once: $name", async ({ answer }) => {
    const control = new AbortController();
    let gone: Promise<void> | null = null;
    const { outcome } = await chatWith(
      (asked) => {
        gone = asked.gone;
        answer(asked);
        setTimeout(() => control.abort(), 30);
      },
      { watch: watching({ signal: control.signal }) },
    );
    expect(outcome).toEqual({ kind: "aborted" });
    await gone;
  });
});

describe("the size of an answer", () => {
  const many = (piece: string) => (asked: Asked) => {
    openStream(asked);
    const more = () => {
      while (asked.socket.writable && asked.socket.write(piece)) {}
    };
    asked.socket.on("drain", more);
    more();
  };
  const block = "x".repeat(256 * 1024);

  test.each([
    { name: "deltas without end", piece: delta({ content: block }) },
    { name: "a line without end", piece: block },
    { name: "an event without end", piece: `data: ${block}\n` },
    { name: "an object without end", piece: `{${block}` },
  ])("$name is too large, and the connection is closed", async ({ piece }) => {
    let gone: Promise<void> | null = null;
    const { outcome } = await chatWith((asked) => {
      gone = asked.gone;
      many(piece)(asked);
    });
    expect(outcome.kind).toBe("too_large");
    if (outcome.kind === "too_large") expect(outcome.bytes).toBeGreaterThan(MAX_ANSWER_BYTES);
    await gone;
  });
});

describe("the key", () => {
  const environment = (name: string) => (name === "SEAT_KEY" ? " sk-secret-1234\n" : undefined);
  const seat = { api_key_env: "SEAT_KEY" };

  test("goes as a bearer, read at the request", async () => {
    let key: string | undefined = "first";
    await using server = await rawServer(stream(HELLO, DONE));
    const endpoint = endpointOf({ base_url: server.url, ...seat }, { environment: () => key });
    for (const next of ["second", "", undefined]) {
      await endpoint.chat(ASK, watching());
      key = next;
    }
    await endpoint.chat(ASK, watching());
    expect(server.asked.map(({ headers }) => headers.authorization)).toEqual([
      "Bearer first",
      "Bearer second",
      undefined,
      undefined,
    ] as never);
  });

  test("is in no message, though the server repeats it", async () => {
    const echo = { error: { message: "Incorrect API key provided: sk-secret-1234" } };
    const location = { Location: "http://x/?k=sk-secret-1234" };
    const spelled = JSON.stringify(echo).replace("sk-secret", "\\u0073k-secret");
    for (const answer of [
      (asked: Asked) => respond(asked, 401, echo),
      (asked: Asked) => respond(asked, 302, "", location),
      (asked: Asked) => respond(asked, 500, echo),
      (asked: Asked) => respond(asked, 500, spelled),
      stream(`data: ${JSON.stringify(echo)}\n\n`),
      stream(`data: ${spelled}\n\n`),
      stream(HELLO),
      (asked: Asked) => {
        openStream(asked, { "Content-Type": `${"x".repeat(190)}sk-secret-1234` });
        asked.socket.end();
      },
      (asked: Asked) => respond(asked, 200, "{}", { "Content-Encoding": "sk-secret-1234" }),
      (asked: Asked) => asked.socket.resetAndDestroy(),
    ]) {
      const { outcome } = await chatWith(answer, { seat, world: { environment } });
      expect(outcome.kind).not.toBe("answered");
      expect(JSON.stringify(outcome)).not.toContain("secret");
    }
  });

  test("is in no answer either, however the server cuts it up", async () => {
    const key = "sk-secret-0123456789abcdef";
    const call = (text: string) => delta({ tool_calls: [{ index: 0, function: { arguments: text } }] });
    const named = delta({ tool_calls: [{ index: 0, id: "c", function: { name: "read_file", arguments: '{"a":"' } }] });
    const [begin, end] = [key.slice(0, 9), key.slice(9)];
    const pieces = [
      ...[`<${begin}`, `${end}>`].map((content) => delta({ content })),
      delta({ reasoning: `(${key})` }),
      named,
      ...[begin, end, '"}'].map(call),
    ];
    const { outcome } = await chatWith(stream(...pieces, STOP, DONE), { seat, world: { environment: () => key } });
    expect(outcome).toMatchObject({
      completion: {
        content: "<[redacted]>",
        reasoning: "([redacted])",
        calls: [{ id: "c", name: "read_file", arguments: '{"a":"[redacted]"}' }],
      },
    });
    expect(JSON.stringify(outcome)).not.toMatch(/secret|abcdef/);
  });

  test("of a server that wants none is a word that a model may write", async () => {
    const { outcome } = await chatWith(stream(delta({ content: "run ollama" }), STOP, DONE), {
      seat,
      world: { environment: () => "ollama" },
    });
    expect(contentOf(outcome)).toBe("run ollama");
  });

  test("that cannot be sent is named by its variable", async () => {
    const { outcome, asked } = await chatWith(stream(HELLO, DONE), { seat, world: { environment: () => "se\ncrét" } });
    expect(outcome).toEqual({ kind: "died", status: null, message: "the value of SEAT_KEY cannot be sent as a key" });
    expect(asked).toEqual([]);
  });

  test("that is missing is named where the server wants one", async () => {
    const { outcome } = await chatWith((asked) => respond(asked, 401, { error: "no" }), { seat });
    expect(outcome).toMatchObject({ kind: "refused", message: "HTTP 401: no (the variable SEAT_KEY is not set)" });
  });
});

describe("a parameter that a hosted server refuses", () => {
  const refuse =
    (...names: readonly string[]) =>
    (asked: Asked) => {
      const sent = JSON.parse(asked.body) as Record<string, unknown>;
      const refused = names.find((name) => name in sent);
      if (refused === undefined) return stream(HELLO, DONE)(asked);
      respond(asked, 400, { error: { message: `Unsupported parameter: '${refused}'`, param: refused } });
    };

  test("is left out, or goes under its other name, and that is remembered", async () => {
    await using server = await rawServer(refuse("max_tokens", "seed"));
    const endpoint = endpointOf({ base_url: server.url, engine: "openai" });
    expect(contentOf(await endpoint.chat(ASK, watching()))).toBe("hello");
    expect(server.asked).toHaveLength(3);
    expect(contentOf(await endpoint.chat(ASK, watching()))).toBe("hello");
    expect(server.asked).toHaveLength(4);
    expect(JSON.parse(server.asked.at(-1)?.body ?? "")).toMatchObject({ max_completion_tokens: 100, temperature: 0 });
  });

  test("is asked for once each, and not again where that does not help", async () => {
    const { outcome, asked } = await chatWith(
      (each) => respond(each, 400, { error: { message: "temperature is bad", param: "temperature" } }),
      { seat: { engine: "openai" } },
    );
    expect(outcome).toMatchObject({ kind: "refused", status: 400 });
    expect(asked).toHaveLength(2);
  });

  test("is the affair of hosted servers alone", async () => {
    const { outcome, asked } = await chatWith(refuse("seed"), { seat: { engine: "vllm" } });
    expect(outcome).toMatchObject({ kind: "refused", status: 400 });
    expect(asked).toHaveLength(1);
  });
});

describe("the address", () => {
  test("a name is dialled by the address that was judged, under its own name", async () => {
    await using server = await rawServer(stream(HELLO, DONE));
    const asked: string[] = [];
    const lookup = async (host: string) => {
      asked.push(host);
      return ["127.0.0.1"];
    };
    const endpoint = endpointOf({ base_url: `http://box.invalid:${server.port}` }, { lookup });
    expect(contentOf(await endpoint.chat(ASK, watching()))).toBe("hello");
    expect(asked).toEqual(["box.invalid"]);
    expect(server.asked[0]?.headers.host).toBe(`box.invalid:${server.port}`);
  });

  test("it is judged at every dial", async () => {
    await using server = await rawServer(stream(HELLO, DONE));
    const answers = [["127.0.0.1"], ["127.0.0.1", "93.184.216.34"], ["93.184.216.34"], []];
    const endpoint = endpointOf(
      { base_url: `http://box.invalid:${server.port}` },
      { lookup: async () => answers.shift() ?? [] },
    );
    const kinds: string[] = [];
    for (let index = 0; index < 4; index += 1) kinds.push((await endpoint.chat(ASK, watching())).kind);
    expect(kinds).toEqual(["answered", "died", "died", "died"]);
    expect(server.asked).toHaveLength(1);
  });

  test("the next address is tried where nothing listens, and only then", async () => {
    await using server = await rawServer((asked) => respond(asked, 500));
    const endpoint = endpointOf(
      { base_url: `http://box.invalid:${server.port}` },
      { lookup: async () => ["127.0.0.2", "127.0.0.1", "127.0.0.1"] },
    );
    expect(await endpoint.chat(ASK, watching())).toMatchObject({ kind: "died", status: 500 });
    expect(server.asked).toHaveLength(1);
  });

  test("a name that nobody knows is said", async () => {
    const outcome = await endpointOf({ base_url: "http://no-such-host.invalid" }).chat(ASK, watching());
    expect(outcome).toEqual({
      kind: "died",
      status: null,
      message: "http://no-such-host.invalid: there is no host of that name",
    });
  });

  test("a resolver that hangs is not waited for", async () => {
    const control = new AbortController();
    const endpoint = endpointOf(
      { base_url: "http://box.invalid" },
      {
        lookup: () => {
          control.abort();
          return new Promise(() => {});
        },
      },
    );
    expect(await endpoint.chat(ASK, watching({ signal: control.signal }))).toEqual({ kind: "aborted" });
  });

  test("a proxy that the environment names is not dialled", async () => {
    await using proxy = await rawServer((asked) => respond(asked, 200, { choices: [] }));
    const before = process.env.http_proxy;
    process.env.http_proxy = proxy.url;
    try {
      expect(contentOf((await chatWith(stream(HELLO, DONE))).outcome)).toBe("hello");
      expect(proxy.asked).toEqual([]);
    } finally {
      if (before === undefined) delete process.env.http_proxy;
      else process.env.http_proxy = before;
    }
  });
});

test("a request is what the engine is sent, and asks for no packing", async () => {
  const { asked } = await chatWith(stream(HELLO, DONE));
  expect(asked[0]).toMatchObject({ method: "POST", path: "/v1/chat/completions" });
  expect(asked[0]?.headers).toMatchObject({ "content-type": "application/json", "accept-encoding": "identity" });
  expect(JSON.parse(asked[0]?.body ?? "")).toMatchObject({ model: "m", messages: ASK.messages, max_tokens: 100 });
});

test("so many requests are open at once, and not more", async () => {
  const { RequestGate } = await import("../../src/core/request-gate.ts");
  let open = 0;
  let most = 0;
  await using server = await rawServer((asked) => {
    open += 1;
    most = Math.max(most, open);
    setTimeout(() => {
      open -= 1;
      stream(HELLO, DONE)(asked);
    }, 5);
  });
  const endpoint = endpointOf({ base_url: server.url }, { gate: new RequestGate(3) });
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => endpoint.chat(ASK, watching())));
  expect(outcomes.map(contentOf)).toEqual(Array(20).fill("hello"));
  expect(most).toBe(3);
});

test("any bytes as an answer come to an outcome", async () => {
  let bytes: Uint8Array = new Uint8Array(0);
  await using server = await rawServer(({ socket }) => void socket.end(bytes));
  const watch = () => watching({ allowance_ms: () => 5000 });
  const endpoint = endpointOf({ base_url: server.url });
  const text = fc.array(
    fc.constantFrom(
      HELLO,
      STOP,
      DONE,
      "data: ",
      "\n\n",
      "\r",
      "{",
      "}",
      '{"choices":[]}',
      "data: null\n\n",
      ": x\n",
      "\ufeff",
    ),
  );
  const body = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    text.map((pieces) => Buffer.from(pieces.join(""))),
  );
  const head = fc.oneof(
    fc.constantFrom(
      "",
      "HTTP/1.1 200 OK\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n",
      "HTTP/1.1 400 X\r\n\r\n",
      "HTTP/1.1 503 X\r\nRetry-After: x\r\n\r\n",
      "HTTP/1.1 302 X\r\nLocation: ?\r\n\r\n",
    ),
    fc.string({ maxLength: 30 }),
  );
  await fc.assert(
    fc.asyncProperty(head, body, async (first, rest) => {
      bytes = Buffer.concat([Buffer.from(first, "latin1"), rest]);
      const outcome = await endpoint.chat(ASK, watch());
      expect(["aborted", "stalled", "mode_refused"]).not.toContain(outcome.kind);
    }),
    { numRuns: 300 },
  );
});
