import { expect, test } from "bun:test";
import type { Line } from "../../src/host/lines.ts";
import { Inbox } from "../../src/mcp/inbox.ts";

const line = (text: string): Line => ({ kind: "line", bytes: new TextEncoder().encode(text) });
const textOf = (each: Line) =>
  each.kind === "line" ? new TextDecoder().decode(each.bytes) : `${each.size_bytes} bytes`;

function inbox(mostBytes: number) {
  const taken: string[] = [];
  const gate = { isOpen: false };
  const box = new Inbox(
    (each) => void taken.push(textOf(each)),
    () => gate.isOpen,
    mostBytes,
  );
  return { box, taken, gate };
}

test("an inbox hands lines on in their order, those that waited first", async () => {
  const { box, taken, gate } = inbox(10_000);
  await box.put(line("a"));
  await box.put({ kind: "too_long", size_bytes: 7 });
  expect(taken).toEqual([]);
  gate.isOpen = true;
  await box.put(line("c"));
  expect(taken).toEqual(["a", "7 bytes", "c"]);
});

test("an inbox that is full takes the next line when there is room again", async () => {
  const { box, gate, taken } = inbox(100);
  await box.put(line("a"));
  let isTaken = false;
  const put = box.put(line("b".repeat(100))).then(() => {
    isTaken = true;
  });
  await Bun.sleep(0);
  expect(isTaken).toBe(false);
  gate.isOpen = true;
  box.pump();
  await put;
  expect(taken).toHaveLength(2);
});

test("the end of an inbox is waited for while lines are handed on, and not for ever", async () => {
  const { box, gate, taken } = inbox(1000);
  await box.put(line("a"));
  await box.emptied(1);
  expect(taken).toEqual([]);
  const emptied = box.emptied(60_000);
  gate.isOpen = true;
  box.pump();
  await emptied;
  expect(taken).toEqual(["a"]);
});
