import { expect, test } from "bun:test";
import fc from "fast-check";
import { EventStream, type StreamEvent, type StreamLimits } from "../../src/core/event-stream.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);

/** Everything that a stream of these pieces says, and what stands open at its end. */
function read(pieces: readonly Uint8Array[], limits?: StreamLimits) {
  const stream = new EventStream(limits);
  const events: StreamEvent[] = [];
  for (const piece of pieces) events.push(...stream.push(piece));
  return { events, open: stream.end(), fault: stream.fault };
}

const dataOf = (text: string) => read([bytesOf(text)]).events.map(({ data }) => data);

test.each([
  { name: "LF", text: "data: a\n\ndata: b\n\n", data: ["a", "b"] },
  { name: "CR LF", text: "data: a\r\n\r\ndata: b\r\n\r\n", data: ["a", "b"] },
  { name: "CR alone", text: "data: a\r\rdata: b\r\r", data: ["a", "b"] },
  { name: "a byte order mark", text: "\ufeffdata: a\n\n", data: ["a"] },
  { name: "a byte order mark inside of data", text: "data: \ufeffa\n\n", data: ["\ufeffa"] },
  { name: "comments", text: ": ping\n\n:\ndata: a\n: more\n\n", data: ["a"] },
  { name: "data without a blank", text: "data:a\n\n", data: ["a"] },
  { name: "one blank of two", text: "data:  a\n\n", data: [" a"] },
  { name: "several data lines", text: "data: a\ndata: b\ndata:\ndata: c\n\n", data: ["a\nb\n\nc"] },
  { name: "an empty data line", text: "data\n\n", data: [""] },
  { name: "no data at all", text: "event: ping\n\nid: 3\n\n", data: [] },
  { name: "unknown fields", text: "retry: 5\nfoo: bar\ndata: a\nDATA: b\n\n", data: ["a"] },
  { name: "bytes that are no UTF-8", text: "data: a\ud800b\n\n", data: ["a\ufffdb"] },
])("a stream with $name is read", ({ text, data }) => {
  expect(dataOf(text)).toEqual([...data]);
});

test("an event has its type and the last id, and the type is not kept", () => {
  const { events } = read([bytesOf("event: state\nid: 7\ndata: a\n\ndata: b\n\nid: 8\0\ndata: c\n\n")]);
  expect(events).toEqual([
    { type: "state", data: "a", id: "7" },
    { type: "message", data: "b", id: "7" },
    { type: "message", data: "c", id: "7" },
  ]);
});

test("an event without its empty line is not an event, and is told at the end", () => {
  expect(read([bytesOf("data: a\n\ndata: b\ndata: c")])).toEqual({
    events: [{ type: "message", data: "a", id: "" }],
    open: { type: "message", data: "b\nc", id: "" },
    fault: null,
  });
  expect(read([bytesOf("data: a\n\n")]).open).toBeNull();
  expect(read([bytesOf("data: a\n\n: comment")]).open).toBeNull();
});

test("events do not depend on how the bytes are cut", () => {
  const line = fc.oneof(
    fc.string({ unit: "grapheme" }).map((text) => `data: ${text.replaceAll(/[\r\n]/g, "")}`),
    fc.constantFrom("data", ": ping", "event: x", "id: é", "", "", "\ufeff"),
  );
  const end = fc.constantFrom("\n", "\r\n", "\r");
  const text = fc.array(fc.tuple(line, end)).map((lines) => lines.flat().join(""));
  fc.assert(
    fc.property(text, fc.array(fc.nat(40)), (whole, cuts) => {
      const bytes = bytesOf(whole);
      const pieces: Uint8Array[] = [];
      let from = 0;
      for (const cut of cuts) {
        pieces.push(bytes.subarray(from, from + cut));
        from = Math.min(bytes.length, from + cut);
      }
      pieces.push(bytes.subarray(from));
      expect(read(pieces)).toEqual(read([bytes]));
    }),
  );
});

test("any bytes are read without an error", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 60 })), (pieces) => {
      const { events, fault } = read(pieces);
      expect(events.every(({ data }) => typeof data === "string")).toBe(true);
      expect(fault).toBeNull();
    }),
  );
});

const SMALL = { line_bytes: 20, event_bytes: 30 };

test.each([
  { name: "a line at its limit", pieces: [`data: ${"x".repeat(14)}\n\n`], fault: null, count: 1 },
  { name: "a line over its limit", pieces: [`data: ${"x".repeat(15)}\n\n`], fault: "line_too_long", count: 0 },
  { name: "a line that never ends", pieces: ["data: ", ...Array(50).fill("x")], fault: "line_too_long", count: 0 },
  { name: "an event of many lines", pieces: Array(9).fill("data: xxxx\n"), fault: "event_too_large", count: 0 },
  { name: "data lines with nothing in them", pieces: Array(99).fill("data\n"), fault: "event_too_large", count: 0 },
  { name: "many events", pieces: Array(99).fill("data: xxxx\n\n"), fault: null, count: 99 },
  { name: "comments without end", pieces: Array(99).fill(": xxxxxxxxx\n"), fault: null, count: 0 },
])("the limits hold for $name", ({ pieces, fault, count }) => {
  const found = read(pieces.map(bytesOf), SMALL);
  expect(found.fault).toBe(fault as typeof found.fault);
  expect(found.events).toHaveLength(count);
});

test("what came before a fault stands, and nothing is read behind it", () => {
  const stream = new EventStream(SMALL);
  expect(stream.push(bytesOf(`data: a\n\n${"x".repeat(40)}\n\ndata: b\n\n`))).toHaveLength(1);
  expect(stream.push(bytesOf("data: c\n\n"))).toEqual([]);
  expect(stream.end()).toBeNull();
});
