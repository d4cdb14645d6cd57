import { afterEach, describe, expect, test } from "bun:test";
import { createServer, type Socket } from "node:net";
import fc from "fast-check";
import { ENGINES } from "../../src/core/config/seat.ts";
import type { LogEntry } from "../../src/core/scripted/seat-log.ts";
import { hello, reply as planned } from "../core/scripted/played.ts";
import { handClock } from "../support/hand-clock.ts";
import { type RunningSeat, type ScriptObject, type SeatOptions, startScriptedSeat } from "../support/scripted-seat.ts";
import { bodyOf, type Heard, isRefused, isWhole, open, requestText, say } from "../support/talk.ts";

let seats: RunningSeat[] = [];
let sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  const all = seats;
  seats = [];
  sockets = [];
  for (const seat of all) await seat.close();
});

async function start(script: ScriptObject, options?: SeatOptions): Promise<RunningSeat> {
  const seat = await startScriptedSeat(script, options);
  seats.push(seat);
  return seat;
}

const one = (reply: object, more: object = {}): ScriptObject => ({ ...more, turns: [{ id: "a", reply }] });

const CHAT = "/v1/chat/completions";
const ask = (seat: RunningSeat, body: unknown = hello()) => say(seat.url, requestText(CHAT, body));

/** A connection that stays open, and what was heard on it so far. */
type Line = { readonly socket: Socket; heard: string; end: "open" | "closed" | "reset" };

async function call(seat: RunningSeat, text: string): Promise<Line> {
  const line: Line = { socket: open(seat.url, () => line.socket.write(text)), heard: "", end: "open" };
  sockets.push(line.socket);
  line.socket.on("data", (piece) => {
    line.heard += piece.toString("latin1");
  });
  line.socket.on("error", (error) => {
    if ("code" in error && error.code === "ECONNRESET") line.end = "reset";
  });
  line.socket.on("close", () => {
    if (line.end === "open") line.end = "closed";
  });
  await new Promise((resolve) => line.socket.once("connect", resolve));
  return line;
}

/** Waits until something holds: events come when they come, and a test that waits in vain runs out of its time. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setImmediate(resolve));
}

/** The entries of the seat once they are so many, and all of them over. */
async function finished(seat: RunningSeat, count: number): Promise<readonly LogEntry[]> {
  const isOver = (log: readonly LogEntry[]) => log.length >= count && log.every(({ ended }) => ended !== null);
  await until(async () => isOver(await seat.log()));
  return seat.log();
}

describe("an answer", () => {
  test("is a stream of events that ends in [DONE], with the mark of the seat in head and objects", async () => {
    const seat = await start(one({ content: "Grüße, 世界!" }));
    const response = await fetch(`${seat.url}${CHAT}`, { method: "POST", body: JSON.stringify(hello()) });
    expect([response.status, response.headers.get("writ-scripted")]).toEqual([200, "test"]);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const events = (await response.text()).split("\n\n").filter((event) => event !== "");
    expect(events.at(-1)).toBe("data: [DONE]");
    const chunks = events.slice(0, -1).map((event) => JSON.parse(event.slice("data: ".length)));
    expect(chunks.every((chunk) => chunk.system_fingerprint === "writ-scripted")).toBe(true);
    expect(chunks.every((chunk) => chunk.model === "scripted/test")).toBe(true);
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("")).toBe("Grüße, 世界!");
  });

  test.each(["/health", "/nothing", "/scripted/log", "/scripted/nothing", CHAT])(
    "of %s has the mark of the seat",
    async (path) => {
      const seat = await start(one({}));
      const method = path === CHAT ? "POST" : "GET";
      expect((await fetch(seat.url + path, { method })).headers.get("writ-scripted")).toBe("test");
    },
  );

  test("by bytes goes out in network writes of so many", async () => {
    const seat = await start(one({ content: "Grüße", chunk: { by: "bytes", n: 50 } }));
    const heard = await ask(seat);
    const sizes = [...heard.text.slice(heard.text.indexOf("\r\n\r\n")).matchAll(/\r\n([0-9a-f]+)\r\n/g)].map(
      (match) => match[1],
    );
    // Each write is a chunk of its own; the last two are the rest and the end.
    expect(new Set(sizes.slice(0, -2))).toEqual(new Set(["32"]));
    expect(bodyOf(heard)).toEndWith("data: [DONE]\n\n");
  });

  test("keeps its connection for the next request", async () => {
    const seat = await start(one({ content: "a" }));
    const body = JSON.stringify(hello({ stream: false }));
    const request = `POST ${CHAT} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const line = await call(seat, request);
    await until(() => line.heard.includes('"total_tokens"'));
    line.socket.write(request);
    await until(() => line.heard.split('"total_tokens"').length === 3);
    expect(line.end).toBe("open");
  });
});

describe("a cut answer", () => {
  test.each([
    { how: "length", stream: true, end: "closed", whole: true, ended: "done", last: "data: [DONE]\n\n" },
    { how: "length", stream: false, end: "closed", whole: true, ended: "done", last: "}" },
    { how: "no_end", stream: true, end: "closed", whole: true, ended: "cut", last: '"finish_reason":null}]}\n\n' },
    { how: "no_end", stream: false, end: "closed", whole: true, ended: "cut", last: '"content":"clamp ' },
    { how: "drop", stream: true, end: "closed", whole: false, ended: "cut", last: '"delta":{"content":"' },
    { how: "drop", stream: false, end: "closed", whole: false, ended: "cut", last: '"content":"clamp ' },
    { how: "reset", stream: true, end: "reset", whole: false, ended: "cut", last: '"finish_reason":null}]}\n\n' },
    { how: "reset", stream: false, end: "reset", whole: false, ended: "cut", last: '"content":"clamp ' },
  ])("of $how with stream $stream ends $end", async ({ how, stream, end, whole, ended, last }) => {
    const reply = { content: "clamp returned", cut: { how, at: "bytes", n: 6 } };
    const seat = await start(one(reply));
    const heard = await ask(seat, hello({ stream }));
    expect([heard.end as string, isWhole(heard), bodyOf(heard).endsWith(last)]).toEqual([end, whole, true]);
    expect(await seat.log()).toMatchObject([{ turn: "a", status: 200, ended, sent_bytes: bodyOf(heard).length }]);
  });

  test("of refuse is the server's own error", async () => {
    const seat = await start(one({ tool_calls: [{ name: "t", arguments: {} }], cut: { how: "refuse", n: 1 } }));
    const heard = await ask(seat);
    expect([heard.text.slice(0, 12), isWhole(heard)]).toEqual(["HTTP/1.1 500", true]);
    expect(bodyOf(heard)).toContain("missing closing quote");
    expect(await seat.log()).toMatchObject([{ status: 500, ended: "done" }]);
  });

  test.each([true, false])("of hang with stream %s says nothing more, until the client goes", async (stream) => {
    const clock = handClock();
    const seat = await start(one({ content: "clamp", cut: { how: "hang", at: "bytes", n: 4 } }), { clock });
    const line = await call(seat, requestText(CHAT, hello({ stream })));
    await until(() => line.heard.includes("clam"));
    const before = line.heard;
    clock.move(3_600_000);
    expect(await seat.log()).toMatchObject([{ ended: null, status: 200 }]);
    expect([line.heard, line.end]).toEqual([before, "open"]);
    line.socket.destroy();
    expect(await finished(seat, 1)).toMatchObject([{ ended: "client_gone" }]);
  });

  test("of hang sends comments where the script wants them", async () => {
    const clock = handClock();
    const seat = await start(one({ content: "a", cut: { how: "hang" }, ping_ms: 10 }), { clock });
    const line = await call(seat, requestText(CHAT, hello()));
    for (let count = 1; count <= 3; count++) {
      await until(() => clock.waiting > 0);
      clock.move(10);
      await until(() => line.heard.split(": ping\n\n").length === count + 1);
    }
    expect(line.end).toBe("open");
  });

  test("of hang is reset or cut when the seat ends", async () => {
    const seat = await startScriptedSeat(one({ content: "a", cut: { how: "hang" } }));
    const line = await call(seat, requestText(CHAT, hello()));
    await until(() => line.heard.includes("data:"));
    await seat.close();
    await until(() => line.end !== "open");
    expect(await seat.log()).toMatchObject([{ ended: "cut" }]);
  });
});

describe("raw", () => {
  test("comes out as it is: a malformed event, split characters, a line of megabytes", async () => {
    const long = "x".repeat(3 * 1024 * 1024);
    const raw = [{ text: "data: {\n\n" }, { b64: "w6k=" }, { b64: "wyg=" }, { text: `data: ${long}` }];
    const seat = await start(one({ raw }));
    const heard = await ask(seat);
    const wanted = Buffer.concat([
      Buffer.from("data: {\n\n"),
      Buffer.from([0xc3, 0xa9, 0xc3, 0x28]),
      Buffer.from(`data: ${long}`),
    ]);
    expect(Buffer.from(bodyOf(heard), "latin1").equals(wanted)).toBe(true);
  });

  test("without end waits for a client that does not read", async () => {
    const seat = await start(one({ raw: [{ text: "x".repeat(64 * 1024) }], forever: true }));
    const line = await call(seat, requestText(CHAT, hello()));
    line.socket.pause();
    let sent = -1;
    let same = 0;
    await until(async () => {
      const [entry] = await seat.log();
      same = entry?.sent_bytes === sent ? same + 1 : 0;
      sent = entry?.sent_bytes ?? -1;
      return sent > 0 && same > 200;
    });
    expect(sent).toBeLessThan(64 * 1024 * 1024);
    line.socket.destroy();
    expect(await finished(seat, 1)).toMatchObject([{ ended: "client_gone" }]);
  });

  test("without end leaves room for others", async () => {
    const seat = await start({
      slots: 2,
      turns: [
        { id: "a", times: 1, reply: { raw: [{ text: "x" }], forever: true } },
        { id: "b", reply: {} },
      ],
    });
    const line = await call(seat, requestText(CHAT, hello()));
    await until(() => line.heard.length > 1000);
    expect((await ask(seat)).text).toContain("[DONE]");
  });

  test("property: the bytes are those of the script", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 300 }), { minLength: 1, maxLength: 6 }), async (pieces) => {
        await using seat = await startScriptedSeat(
          one({ raw: pieces.map((piece) => ({ b64: Buffer.from(piece).toString("base64") })) }),
        );
        const heard = await ask(seat);
        expect(Buffer.from(bodyOf(heard), "latin1").equals(Buffer.concat(pieces))).toBe(true);
        expect(isWhole(heard)).toBe(true);
      }),
      { numRuns: 25 },
    );
  });
});

describe("time", () => {
  test("goes by before the head, the first delta, each further one and the end", async () => {
    const clock = handClock();
    const reply = { content: "abcdefgh", delay_ms: { headers: 10, first: 20, each: 30, end: 40 } };
    const seat = await start(one(reply), { clock });
    const line = await call(seat, requestText(CHAT, hello()));
    const grows = async (ms: number, text: string) => {
      await until(() => clock.waiting === 1);
      clock.move(ms - 1);
      const before = line.heard;
      clock.move(1);
      expect(before).not.toContain(text);
      await until(() => line.heard.includes(text));
    };
    await grows(10, "HTTP/1.1 200");
    await grows(20, '"content":"abcd"');
    await grows(30, '"content":"efgh"');
    await grows(40, "[DONE]");
  });

  test("has comments meanwhile, behind the head alone", async () => {
    const clock = handClock();
    const seat = await start(one({ content: "a", delay_ms: { headers: 100, first: 35 }, ping_ms: 10 }), { clock });
    const line = await call(seat, requestText(CHAT, hello()));
    await until(() => clock.waiting === 1);
    clock.move(100);
    for (let count = 1; count <= 3; count++) {
      await until(() => clock.waiting === 1 && line.heard.split(": ping").length === count);
      clock.move(10);
    }
    await until(() => clock.waiting === 1 && line.heard.split(": ping").length === 4);
    clock.move(5);
    await until(() => line.heard.includes("[DONE]"));
    expect(line.heard.split(": ping")).toHaveLength(4);
  });
});

describe("slots", () => {
  test("are given in the order of arrival", async () => {
    const clock = handClock();
    const seat = await start(
      { turns: [{ id: "a", reply: { content: [{ echo: "goal" }], delay_ms: 100 } }] },
      { clock },
    );
    const lines: Line[] = [];
    for (const goal of ["first", "second", "third"]) {
      lines.push(await call(seat, requestText(CHAT, { messages: [{ role: "user", content: goal }] })));
      await until(async () => (await seat.log()).length === lines.length);
    }
    const answered: string[] = [];
    for (let round = 0; round < 3; round++) {
      await until(() => clock.waiting === 1);
      clock.move(100);
      await until(() => lines.filter(({ heard }) => heard !== "").length === round + 1);
      answered.push(
        ...lines
          .flatMap(({ heard }) => /"content":"(\w+)"/.exec(heard)?.[1] ?? [])
          .filter((goal) => !answered.includes(goal)),
      );
    }
    expect(answered).toEqual(["first", "second", "third"]);
    expect((await finished(seat, 3)).map(({ slot_wait_ms, ended }) => [slot_wait_ms, ended])).toEqual([
      [0, "done"],
      [100, "done"],
      [200, "done"],
    ]);
  });

  test("work side by side, as many as there are", async () => {
    const clock = handClock();
    const seat = await start({ slots: 3, turns: [{ id: "a", reply: { delay_ms: 50 } }] }, { clock });
    const lines = await Promise.all(Array.from({ length: 4 }, () => call(seat, requestText(CHAT, hello()))));
    await until(async () => (await seat.log()).length === 4 && clock.waiting === 3);
    clock.move(50);
    await until(() => lines.filter(({ heard }) => heard.includes("[DONE]")).length === 3);
    await until(() => clock.waiting === 1);
    clock.move(50);
    await until(() => lines.every(({ heard }) => heard.includes("[DONE]")));
  });

  test("are free again when a client leaves, in its answer or in the line", async () => {
    const seat = await start({
      turns: [
        { id: "hang", times: 1, count: "server", reply: { cut: { how: "hang" } } },
        { id: "say", reply: {} },
      ],
    });
    const [working, waiting, patient] = [
      await call(seat, requestText(CHAT, hello())),
      await call(seat, requestText(CHAT, hello())),
      await call(seat, requestText(CHAT, hello())),
    ];
    await until(async () => (await seat.log()).length === 3);
    waiting?.socket.destroy();
    await until(async () => (await seat.log()).some(({ ended }) => ended === "client_gone"));
    expect(patient?.heard).toBe("");
    working?.socket.destroy();
    await until(() => patient?.heard.includes("[DONE]") === true);
    const log = await finished(seat, 3);
    expect(log.map(({ ended }) => ended).toSorted()).toEqual(["client_gone", "client_gone", "done"]);
    expect(log.filter(({ turn }) => turn === null)).toMatchObject([
      { ended: "client_gone", status: null, sent_bytes: 0 },
    ]);
  });

  test("stay taken as long as the reply holds them", async () => {
    const clock = handClock();
    const seat = await start(one({ content: "a", hold_ms: 70 }, { busy: "reject" }), { clock });
    expect((await ask(seat)).text).toContain("HTTP/1.1 200");
    expect((await fetch(`${seat.url}/slots?fail_on_no_slot=1`)).status).toBe(503);
    clock.move(69);
    expect((await ask(seat)).text).toContain("HTTP/1.1 429");
    clock.move(1);
    expect((await ask(seat)).text).toContain("HTTP/1.1 200");
  });

  test("of strangers come back to those who wait", async () => {
    const clock = handClock();
    const seat = await start(one({}, { occupied: [{ slots: 1, for_ms: 500 }] }), { clock });
    const line = await call(seat, requestText(CHAT, hello()));
    await until(async () => (await seat.log()).length === 1);
    clock.move(499);
    expect(await seat.log()).toMatchObject([{ turn: null, ended: null }]);
    clock.move(1);
    await until(() => line.heard.includes("[DONE]"));
    expect(await seat.log()).toMatchObject([{ turn: "a", slot_wait_ms: 500 }]);
  });

  test("are free when the answer is whole at the client", async () => {
    const seat = await start(one({ content: "a" }, { busy: "reject" }));
    for (let count = 0; count < 20; count++) {
      const response = await fetch(`${seat.url}${CHAT}`, {
        method: "POST",
        body: JSON.stringify(hello({ stream: count % 2 === 0 })),
      });
      await response.text();
      expect(response.status).toBe(200);
      expect((await seat.log()).at(-1)).toMatchObject({ ended: "done" });
    }
  });
});

describe("a state", () => {
  test("down refuses the port, resets what is open, and comes back on the same port", async () => {
    const clock = handClock();
    const script = one(
      { content: "a", cut: { how: "hang" } },
      { slots: 2, states: [{ at_ms: 100, state: "down", for_ms: 50 }] },
    );
    const seat = await start(script, { clock });
    const working = await call(seat, requestText(CHAT, hello()));
    const idle = await call(seat, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
    await until(() => working.heard.includes("data:") && idle.heard.includes("ok"));
    clock.move(99);
    expect(await isRefused(seat.url)).toBe(false);
    clock.move(1);
    await until(() => isRefused(seat.url));
    await until(() => working.end !== "open" && idle.end !== "open");
    expect([working.end, idle.end]).toEqual(["reset", "reset"]);
    expect((await seat.log()).find(({ turn }) => turn === "a")).toMatchObject({ ended: "cut" });
    clock.move(50);
    await until(async () => !(await isRefused(seat.url)));
    expect((await fetch(`${seat.url}/health`)).status).toBe(200);
  });

  test("down comes back when whoever took its port meanwhile has left it", async () => {
    const clock = handClock();
    const seat = await start(one({}, { states: [{ at_ms: 100, state: "down", for_ms: 50 }] }), { clock });
    clock.move(100);
    await until(() => isRefused(seat.url));
    const other = createServer((socket) => void socket.resume().end("other"));
    await new Promise<void>((resolve) => other.listen(Number(new URL(seat.url).port), "127.0.0.1", resolve));
    clock.move(50);
    expect((await say(seat.url, requestText("/health"))).text).toBe("other");
    await new Promise((resolve) => other.close(resolve));
    await until(async () => !(await isRefused(seat.url)));
    expect((await fetch(`${seat.url}/health`)).status).toBe(200);
  });

  test("down at the end leaves nothing open", async () => {
    const seat = await startScriptedSeat(one({}, { states: [{ at_ms: 0, state: "down" }] }));
    expect(await isRefused(seat.url)).toBe(true);
    await seat.close();
  });

  test("down from a request on resets that request", async () => {
    const clock = handClock();
    const seat = await start(one({}, { states: [{ at_request: 2, state: "down", for_ms: 50 }] }), { clock });
    expect((await ask(seat)).text).toContain("[DONE]");
    expect(await ask(seat)).toEqual({ text: "", end: "reset" } satisfies Heard);
    expect(await isRefused(seat.url)).toBe(true);
    clock.move(50);
    await until(async () => !(await isRefused(seat.url)));
    expect((await ask(seat)).text).toContain("[DONE]");
    expect(await seat.log()).toMatchObject([{ turn: "a" }, { turn: null, status: null, ended: "cut" }, { turn: "a" }]);
  });

  test("loading of vllm refuses the port from the start, and lets an answer end that began before", async () => {
    const clock = handClock();
    const states = [
      { at_ms: 0, state: "loading", for_ms: 100 },
      { at_ms: 200, state: "loading", for_ms: 100 },
    ];
    const seat = await start(one({ content: "a", delay_ms: { end: 120 } }, { engine: "vllm", states }), { clock });
    expect(await isRefused(seat.url)).toBe(true);
    clock.move(100);
    await until(async () => !(await isRefused(seat.url)));
    const line = await call(seat, requestText(CHAT, hello()));
    await until(() => line.heard.includes('"content":"a"'));
    clock.move(100);
    await until(() => isRefused(seat.url));
    clock.move(20);
    await until(() => line.heard.includes("[DONE]"));
    clock.move(80);
    await until(async () => !(await isRefused(seat.url)));
  });

  test("loading of another engine says so", async () => {
    const clock = handClock();
    const seat = await start(one({}, { states: [{ at_ms: 0, state: "loading", for_ms: 100 }] }), { clock });
    expect((await fetch(`${seat.url}/health`)).status).toBe(503);
    expect((await ask(seat)).text).toContain("Loading model");
    clock.move(100);
    expect((await fetch(`${seat.url}/health`)).status).toBe(200);
  });

  test("busy lets those in the line work when it ends", async () => {
    const clock = handClock();
    const seat = await start(one({}, { states: [{ at_ms: 0, state: "busy", for_ms: 300 }] }), { clock });
    const line = await call(seat, requestText(CHAT, hello()));
    await until(async () => (await seat.log()).length === 1);
    clock.move(300);
    await until(() => line.heard.includes("[DONE]"));
    expect(await seat.log()).toMatchObject([{ slot_wait_ms: 300 }]);
  });

  test("begins anew at a reset, also over HTTP", async () => {
    const clock = handClock();
    const seat = await start(one({}, { states: [{ at_ms: 50, state: "down", for_ms: 50 }] }), { clock });
    clock.move(50);
    await until(() => isRefused(seat.url));
    await seat.reset();
    await until(async () => !(await isRefused(seat.url)));
    clock.move(40);
    expect((await fetch(`${seat.url}/scripted/reset`, { method: "POST" })).status).toBe(200);
    clock.move(49);
    expect(await isRefused(seat.url)).toBe(false);
    clock.move(1);
    await until(() => isRefused(seat.url));
  });
});

describe("the log over HTTP", () => {
  test("is a list of entries, with the bodies where they are asked for", async () => {
    const seat = await start(one({}));
    const texts = [
      '{ "messages": [{"role":"user","content":"a"}], "seed": 12345678901234567890 }',
      "no JSON \u0000",
      '{"a":1,"a":2}',
    ];
    for (const body of texts) await (await fetch(`${seat.url}${CHAT}`, { method: "POST", body })).text();
    await (await fetch(`${seat.url}/health`)).text();
    const plain = (await (await fetch(`${seat.url}/scripted/log`)).json()) as object[];
    expect(plain).toEqual([...(await seat.log())]);
    const text = await (await fetch(`${seat.url}/scripted/log?bodies=1`)).text();
    // Byte for byte, numbers as they were sent; what is no strict JSON is a text.
    expect(text).toContain(`"body":${JSON.stringify(texts[1])}`);
    expect(text).toContain(`"body":${JSON.stringify(texts[2])}`);
    expect(text).toContain('"seed": 12345678901234567890');
    expect((JSON.parse(text) as object[]).map((entry) => "body" in entry)).toEqual([true, true, true, false]);
  });

  test("is empty behind a reset", async () => {
    const seat = await start({ turns: [{ id: "a", times: 1, reply: {} }] });
    await ask(seat);
    expect((await ask(seat)).text).toContain("scripted_no_turn");
    const reset = await fetch(`${seat.url}/scripted/reset`, { method: "POST" });
    expect([reset.status, await reset.json()]).toEqual([200, { ok: true }]);
    expect(await (await fetch(`${seat.url}/scripted/log`)).json()).toEqual([]);
    expect((await ask(seat)).text).toContain("[DONE]");
  });
});

describe("a hostile client", () => {
  test("that is slow with its header is cut off", async () => {
    const seat = await start(one({}), { limits: { header_ms: 200 } });
    const heard = await say(seat.url, "GET /health HTTP/1.1\r\nHost");
    expect(heard.text).toMatch(/^HTTP\/1\.1 4\d\d /);
  });

  test("that is slow with its body is cut off", async () => {
    const seat = await start(one({}), { limits: { header_ms: 200, request_ms: 300 } });
    const heard = await say(seat.url, `POST ${CHAT} HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{`);
    expect(heard.text).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(await seat.log()).toEqual([]);
  });

  test.each([
    ["with its length", (text: string) => `Content-Length: ${text.length}\r\n\r\n${text}`],
    [
      "in chunks",
      (text: string) => `Transfer-Encoding: chunked\r\n\r\n${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`,
    ],
  ])("that sends too much %s is told so", async (_, framed) => {
    const seat = await start(one({}));
    const heard = await say(seat.url, `POST ${CHAT} HTTP/1.1\r\nHost: x\r\n${framed("x".repeat(5 * 1024 * 1024))}`);
    expect(heard.text).toStartWith("HTTP/1.1 413 ");
    expect(heard.text).toContain("writ-scripted: test");
    expect((await ask(seat)).text).toContain("[DONE]");
  });

  test("may send exactly 4 MiB", async () => {
    const seat = await start(one({}, { enforce: [] }));
    const head = '{"messages":[{"role":"user","content":"';
    const body = `${head}${"x".repeat(4 * 1024 * 1024 - head.length - 4)}"}]}`;
    expect((await ask(seat, body)).text).toContain("HTTP/1.1 200");
    expect((await ask(seat, `${body} `)).text).toContain("HTTP/1.1 413");
  });

  test.each([
    ["garbage", "\u0000\u0001\u0002garbage\r\n\r\n"],
    ["TLS", "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003\r\n\r\n"],
    ["a header without end", `GET / HTTP/1.1\r\nHost: x\r\nX: ${"y".repeat(20_000)}\r\n\r\n`],
    ["an upgrade", "GET /health HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"],
    ["a request for a tunnel", "CONNECT example.org:443 HTTP/1.1\r\nHost: x\r\n\r\n"],
    [
      "two lengths",
      `POST ${CHAT} HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
  ])("that sends %s is told so, with the mark of the seat", async (_, text) => {
    const seat = await start(one({}));
    const heard = await say(seat.url, text);
    expect(heard.text).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(heard.text).toContain("writ-scripted: test");
    expect((await ask(seat)).text).toContain("[DONE]");
  });

  test("that leaves in the middle of its body leaves nothing", async () => {
    const seat = await start(one({}));
    const line = await call(seat, `POST ${CHAT} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{`);
    line.socket.resetAndDestroy();
    expect((await ask(seat)).text).toContain("[DONE]");
    expect(await seat.log()).toHaveLength(1);
  });

  test("with a thousand connections gets as many as there may be, and others are answered when it is gone", async () => {
    const seat = await start(one({ content: "a", cut: { how: "hang" } }, { slots: 64 }), {
      limits: { connections: 50 },
    });
    const lines = await Promise.all(Array.from({ length: 1000 }, () => call(seat, requestText(CHAT, hello()))));
    await until(() => lines.filter(({ end }) => end !== "open").length >= 950);
    expect((await seat.log()).length).toBeLessThanOrEqual(50);
    for (const { socket } of lines) socket.destroy();
    await until(async () => (await seat.log()).every(({ ended }) => ended !== null));
    expect((await fetch(`${seat.url}/health`)).status).toBe(200);
  });
});

test("property: whatever the script and the request, the answer ends as it is planned, and the seat goes on", async () => {
  const text = fc.string({ unit: "binary", maxLength: 60 }).map((each) => each.toWellFormed());
  const delay = fc.record({ headers: fc.nat(2), first: fc.nat(2), each: fc.nat(1), end: fc.nat(2) });
  const cut = fc.record({
    how: fc.constantFrom("length", "no_end", "drop", "reset"),
    at: fc.constantFrom("bytes", "tokens", "events"),
    n: fc.nat(60),
    in: fc.constantFrom("content", "reasoning", "arguments"),
  });
  const answer = fc.record(
    {
      content: text,
      reasoning: text,
      tool_calls: fc.constant([{ name: "t", arguments: { a: "é" } }]),
      chunk: fc.record({ by: fc.constantFrom("chars", "tokens", "bytes", "all"), n: fc.integer({ min: 1, max: 70 }) }),
      cut,
      delay_ms: delay,
    },
    { requiredKeys: ["content", "reasoning", "tool_calls"] },
  );
  const reply = fc.oneof(
    answer,
    fc.record({ status: fc.integer({ min: 200, max: 599 }), body: text }),
    fc.record({ error: fc.constantFrom("loading", "rate_limited", "internal", "no_model") }),
    fc.record({ raw: fc.array(fc.record({ text }), { minLength: 1, maxLength: 4 }) }),
  );
  const request = fc.oneof(
    fc
      .record({ messages: fc.constant([{ role: "user", content: "hello" }]), stream: fc.boolean() })
      .map((value) => JSON.stringify(value)),
    fc.json(),
    text,
  );
  await fc.assert(
    fc.asyncProperty(reply, request, fc.constantFrom(...ENGINES), async (value, body, engine) => {
      const played = planned(value, body, { engine });
      await using seat = await startScriptedSeat(one(value, { engine }));
      const heard = await ask(seat, body);
      expect(heard.text).toStartWith(`HTTP/1.1 ${played.status} `);
      const hasBody = played.status !== 204 && played.status !== 205 && played.status !== 304;
      if (hasBody && played.end !== "reset") {
        expect(bodyOf(heard)).toBe(Buffer.from(played.bytes).toString("latin1"));
      }
      expect(heard.end).toBe(played.end === "reset" ? "reset" : "closed");
      if (hasBody) expect(isWhole(heard)).toBe(played.end === "end");
      expect((await fetch(`${seat.url}/v1/models`)).status).toBe(200);
    }),
    { numRuns: 40 },
  );
}, 30_000);
