import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Slot, SlotTaken, SlotWait } from "../../src/core/seat/slot-line.ts";
import { openSlotLine } from "../../src/host/slot-line.ts";

const KEY = "http://127.0.0.1:8080|m";
const LONG = 60_000;

let state: string;
let folder: string;

beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), "writ-slots-"));
  folder = join(state, "slots", new Bun.CryptoHasher("sha1").update(KEY).digest("hex"));
});
afterEach(() => rmSync(state, { recursive: true }));

const line = () => openSlotLine(state, { ms: () => performance.now() });

function waitOf(more: Partial<SlotWait> = {}): SlotWait {
  return { signal: new AbortController().signal, bound_ms: LONG, onWait: () => {}, ...more };
}

async function mustTake(slots = 1, more: Partial<SlotWait> = {}): Promise<Slot> {
  const taken = await line().take(KEY, slots, waitOf(more));
  if (taken.kind !== "taken") throw new Error(`no slot: ${taken.kind}`);
  return taken.slot;
}

/** A take that is known to wait: its promise, and the moment it does. */
async function waitingTake(slots = 1, more: Partial<SlotWait> = {}) {
  const waits = Promise.withResolvers<number>();
  const taken = line().take(KEY, slots, waitOf({ onWait: ({ ahead }) => waits.resolve(ahead), ...more }));
  return { taken, ahead: await waits.promise };
}

const files = () => readdirSync(folder).sort();
const old = new Date(Date.now() - 21_000);

/** What a process that is no more left behind. */
function leftBehind(name: string, owner: unknown, at: Date | null = old): void {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, name);
  writeFileSync(path, typeof owner === "string" ? owner : JSON.stringify(owner));
  if (at !== null) utimesSync(path, at, at);
}

async function deadPid(): Promise<number> {
  const child = Bun.spawn(["true"]);
  await child.exited;
  return child.pid;
}

describe("one process", () => {
  test("takes what is free, and what it takes says whose it is", async () => {
    const first = await mustTake(2);
    const second = await mustTake(2);
    expect(files()).toEqual(["0", "1"]);
    const owner = JSON.parse(readFileSync(join(folder, "0"), "utf8"));
    expect(owner).toMatchObject({ pid: process.pid, token: expect.any(String) });
    if (process.platform === "linux") expect(owner.start).toMatch(/^\d+$/);
    expect([statSync(folder).mode & 0o777, statSync(join(folder, "0")).mode & 0o777]).toEqual([0o700, 0o600]);
    first.release();
    expect(files()).toEqual(["1"]);
    second.release();
    expect(files()).toEqual([]);
  });

  test("another seat has slots of its own", async () => {
    await mustTake();
    const other = await line().take(`${KEY}2`, 1, waitOf({ bound_ms: 0 }));
    expect(other.kind).toBe("taken");
  });

  test("less than one slot is one", async () => {
    expect((await line().take(KEY, 0, waitOf({ bound_ms: 0 }))).kind).toBe("taken");
    expect((await line().take(KEY, 0, waitOf({ bound_ms: 0 }))).kind).toBe("over");
  });

  test("a slot that is released goes to who waits here at once, first come first served", async () => {
    const slot = await mustTake();
    const order: string[] = [];
    const waits = [];
    for (const name of ["a", "b", "c"]) {
      const { taken, ahead } = await waitingTake();
      expect(ahead).toBe(waits.length);
      waits.push(
        taken.then(async (found) => {
          order.push(name);
          if (found.kind === "taken") found.slot.release();
        }),
      );
    }
    slot.release();
    // All of it happens before the next turn of the event loop, and so before any poll.
    await new Promise((resolve) => setImmediate(resolve));
    expect(order).toEqual(["a", "b", "c"]);
    expect(files()).toEqual([]);
  });

  test("two slots that come free go to the first two", async () => {
    const slots = [await mustTake(2), await mustTake(2)];
    const waits = [await waitingTake(2), await waitingTake(2), await waitingTake(2, { bound_ms: 300 })];
    for (const slot of slots) slot.release();
    expect((await Promise.all(waits.map(({ taken }) => taken))).map(({ kind }) => kind)).toEqual([
      "taken",
      "taken",
      "over",
    ]);
  });

  test("the bound ends a wait, and nothing is left of it", async () => {
    const slot = await mustTake();
    const { taken } = await waitingTake(1, { bound_ms: 20 });
    const found = await taken;
    expect(found.kind).toBe("over");
    expect(found.waited_ms).toBeGreaterThanOrEqual(20);
    expect(files()).toEqual(["0"]);
    expect(await line().take(KEY, 1, waitOf({ bound_ms: 0 }))).toEqual({ kind: "over", waited_ms: expect.any(Number) });
    slot.release();
  });

  test("the signal ends a wait at once, and the next one moves up", async () => {
    const slot = await mustTake();
    const control = new AbortController();
    const first = await waitingTake(1, { signal: control.signal });
    const second = await waitingTake();
    control.abort();
    expect((await first.taken).kind).toBe("aborted");
    slot.release();
    expect((await second.taken).kind).toBe("taken");
    expect((await line().take(KEY, 1, waitOf({ signal: AbortSignal.abort() }))).kind).toBe("aborted");
  });

  test("a slot given back twice is given back once", async () => {
    const slot = await mustTake();
    slot.release();
    const next = await mustTake();
    slot.release();
    expect(files()).toEqual(["0"]);
    next.release();
  });

  test("many jobs on few slots: never more at once than there are, and all of them in the end", async () => {
    let held = 0;
    let most = 0;
    const job = async () => {
      const slot = await mustTake(3);
      held += 1;
      most = Math.max(most, held);
      await new Promise((resolve) => setImmediate(resolve));
      held -= 1;
      slot.release();
    };
    await Promise.all(Array.from({ length: 40 }, job));
    expect([held, most, files()]).toEqual([0, 3, []]);
  });

  test("a folder that cannot be made is told as such", async () => {
    writeFileSync(join(state, "slots"), "in the way");
    await expect(line().take(KEY, 1, waitOf())).rejects.toMatchObject({ code: "state_failed" });
  });
});

describe("what others left behind", () => {
  const kindOf = async () => (await line().take(KEY, 1, waitOf({ bound_ms: 0 }))).kind as SlotTaken["kind"];

  test.each([
    { name: "of a dead process, long not touched", owner: null, at: old, kind: "taken" },
    {
      name: "of a dead process, from a clock that was set back",
      owner: null,
      at: new Date(Date.now() + 3600_000),
      kind: "taken",
    },
    { name: "of a dead process, just touched", owner: null, at: null, kind: "over" },
    {
      name: "of a living process, long not touched",
      owner: { pid: process.pid, start: null, token: "x" },
      at: old,
      kind: "over",
    },
    { name: "with nothing in it, long not touched", owner: "", at: old, kind: "taken" },
    { name: "with nothing in it, just made", owner: "", at: null, kind: "over" },
    { name: "with nonsense in it, long not touched", owner: '{"pid":"x"', at: old, kind: "taken" },
  ])("a slot $name: $kind", async ({ owner, at, kind }) => {
    leftBehind("0", owner ?? { pid: await deadPid(), start: "1", token: "x" }, at);
    expect(await kindOf()).toBe(kind as SlotTaken["kind"]);
    expect(files().filter((name) => name.startsWith("dead"))).toEqual([]);
  });

  test.skipIf(process.platform !== "linux")(
    "a slot whose process has another start time is of a dead one",
    async () => {
      leftBehind("0", { pid: process.pid, start: "1", token: "x" });
      expect(await kindOf()).toBe("taken");
    },
  );

  test("a ticket of a dead process is passed over, and cleared away when it is old", async () => {
    const pid = await deadPid();
    leftBehind(`q-1-${pid}`, { pid, start: "1", token: "x" });
    leftBehind(`q-2-${pid}`, { pid, start: "1", token: "x" }, null);
    expect(await kindOf()).toBe("taken");
    expect(files()).toEqual(["0", `q-2-${pid}`]);
  });

  test("a ticket that its living process does not touch is passed over and kept", async () => {
    leftBehind(`q-1-${process.pid}`, { pid: process.pid, start: null, token: "x" });
    expect(await kindOf()).toBe("taken");
    expect(files()).toEqual(["0", `q-1-${process.pid}`]);
  });

  test("a slot that went to another is not given back by the first", async () => {
    const slot = await mustTake();
    leftBehind("0", { pid: process.pid, start: null, token: "another" }, null);
    slot.release();
    expect(existsSync(join(folder, "0"))).toBe(true);
  });
});

describe("three processes", () => {
  const TAKER = join(import.meta.dir, "..", "support", "slot-taker.ts");

  function taker(slots = 1) {
    const child = Bun.spawn([process.execPath, TAKER, state, KEY, String(slots)], {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
    });
    const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    const next = async () => {
      while (!text.includes("\n")) {
        const { done, value } = await reader.read();
        if (done) return { kind: "ended" };
        text += value;
      }
      const at = text.indexOf("\n");
      const said = JSON.parse(text.slice(0, at)) as { kind: string; ahead?: number };
      text = text.slice(at + 1);
      return said;
    };
    const tell = async (command: string) => {
      child.stdin.write(`${command}\n`);
      child.stdin.flush();
      return next();
    };
    return { child, next, tell };
  }

  test("wait in one line, and a killed one holds nobody up", async () => {
    const [a, b, c] = [taker(), taker(), taker()];
    try {
      expect(await a.tell(`take ${LONG}`)).toEqual({ kind: "taken" });
      expect(await b.tell(`take ${LONG}`)).toEqual({ kind: "waiting", ahead: 0 });
      expect(await c.tell(`take ${LONG}`)).toEqual({ kind: "waiting", ahead: 1 });

      // Who waits longest goes next.
      expect(await a.tell("release")).toEqual({ kind: "released" });
      expect(await b.next()).toEqual({ kind: "taken" });
      expect(await a.tell(`take ${LONG}`)).toEqual({ kind: "waiting", ahead: 1 });

      // A waiter that is killed is passed over.
      c.child.kill("SIGKILL");
      await c.child.exited;
      expect(await b.tell("release")).toEqual({ kind: "released" });
      expect(await a.next()).toEqual({ kind: "taken" });

      // A holder that is killed keeps its slot until its file is old, and no longer.
      expect(await b.tell(`take ${LONG}`)).toEqual({ kind: "waiting", ahead: 0 });
      a.child.kill("SIGKILL");
      await a.child.exited;
      expect(files()).toContain("0");
      utimesSync(join(folder, "0"), old, old);
      expect(await b.next()).toEqual({ kind: "taken" });
      expect(await b.tell("release")).toEqual({ kind: "released" });
    } finally {
      for (const { child } of [a, b, c]) child.kill("SIGKILL");
    }
  });

  test("never hold more slots than there are", async () => {
    const takers = [taker(2), taker(2), taker(2)];
    try {
      const first = await Promise.all(takers.map(({ tell }) => tell("take 0")));
      expect(first.map(({ kind }) => kind).sort()).toEqual(["over", "taken", "taken"]);
    } finally {
      for (const { child } of takers) child.kill("SIGKILL");
    }
  });
});
