import { describe, expect, test } from "bun:test";
import { openOutbox } from "../../src/host/outbox.ts";

/** A reader who takes the next text when he is told to. */
function slowReader() {
  const taken: string[] = [];
  let release: (() => void) | null = null;
  return {
    taken,
    write: (text: string) =>
      new Promise<void>((resolve) => {
        taken.push(text);
        release = resolve;
      }),
    async take() {
      release?.();
      await Bun.sleep(0);
    },
  };
}

describe("openOutbox()", () => {
  test("writes what is posted in its order, each when the one before is written", async () => {
    const reader = slowReader();
    const outbox = openOutbox(reader.write, 2, () => {});
    for (const line of ["a", "b", "c"]) outbox.post(line);
    expect(reader.taken).toEqual(["a\n"]);
    await reader.take();
    expect(reader.taken).toEqual(["a\n", "b\n"]);
    await reader.take();
    await reader.take();
    await outbox.drained();
    expect(reader.taken).toEqual(["a\n", "b\n", "c\n"]);
  });

  test("drops the oldest of what may be dropped, and nothing else", async () => {
    const reader = slowReader();
    const outbox = openOutbox(reader.write, 2, () => {});
    outbox.post("first");
    outbox.postDroppable("1");
    outbox.postDroppable("2");
    outbox.post("answer");
    outbox.postDroppable("3");
    outbox.postDroppable("4");
    for (let step = 0; step < 4; step++) await reader.take();
    await outbox.drained();
    expect(reader.taken.join("")).toBe("first\nanswer\n3\n4\n");
  });

  test("is full while as much waits as may, and tells when it no longer is", async () => {
    const reader = slowReader();
    let rooms = 0;
    const outbox = openOutbox(reader.write, 1, () => {}, { size: 6, onRoom: () => void rooms++ });
    outbox.postDroppable("aa");
    outbox.postDroppable("bb");
    expect([outbox.isFull(), rooms]).toEqual([true, 0]);
    outbox.postDroppable("c");
    expect([outbox.isFull(), rooms]).toEqual([false, 0]);
    outbox.post("d");
    expect([outbox.isFull(), rooms]).toEqual([true, 0]);
    await reader.take();
    expect([outbox.isFull(), rooms]).toEqual([false, 1]);
    await reader.take();
    await reader.take();
    await outbox.drained();
    expect([reader.taken.join(""), rooms]).toEqual(["aa\nc\nd\n", 1]);
  });

  test("drops everything when the reader has gone, and says so once", async () => {
    const told: unknown[] = [];
    const outbox = openOutbox(
      () => Promise.reject(new Error("gone")),
      2,
      (why) => void told.push(why),
    );
    outbox.post("a");
    outbox.post("b");
    await outbox.drained();
    outbox.post("c");
    await outbox.drained();
    expect(told).toEqual([new Error("gone")]);
  });
});
