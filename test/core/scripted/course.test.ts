import { describe, expect, test } from "bun:test";
import { Course } from "../../../src/core/scripted/course.ts";
import { SlotLine } from "../../../src/core/scripted/slot-line.ts";
import { type ScriptObject, scriptOf } from "../../support/scripted-seat.ts";

const course = (script: object) => new Course(scriptOf({ turns: [{ id: "a", reply: {} }], ...script } as ScriptObject));

describe("Course", () => {
  test("goes through the states of its times, and is ready between them", () => {
    const own = course({
      states: [
        { at_ms: 0, state: "loading", for_ms: 100 },
        { at_ms: 200, state: "down", for_ms: 50 },
        { at_ms: 300, state: "busy" },
        { at_ms: 400, state: "ready" },
      ],
    });
    const at = [0, 99, 100, 199, 200, 249, 250, 299, 300, 399, 400, 9999];
    expect(at.map((ms) => own.stateAt(ms))).toEqual([
      "loading",
      "loading",
      "ready",
      "ready",
      "down",
      "down",
      "ready",
      "ready",
      "busy",
      "busy",
      "ready",
      "ready",
    ]);
    const changes: number[] = [];
    for (let next = own.nextChange(-1); next !== null; next = own.nextChange(next)) changes.push(next);
    expect(changes).toEqual([0, 100, 200, 250, 300, 400]);
  });

  test("begins a state just before the request that it waits for", () => {
    const own = course({ states: [{ at_request: 2, state: "loading", for_ms: 100 }] });
    expect([own.stateAt(0), own.nextChange(0)]).toEqual(["ready", null]);
    expect([own.chat(10), own.stateAt(10)]).toEqual([1, "ready"]);
    expect([own.chat(20), own.stateAt(20)]).toEqual([2, "loading"]);
    expect([own.stateAt(119), own.stateAt(120), own.nextChange(20)]).toEqual(["loading", "ready", 120]);
    expect([own.chat(200), own.stateAt(200)]).toEqual([3, "ready"]);
  });

  test("takes the state that began last", () => {
    const own = course({
      states: [
        { at_ms: 0, state: "busy" },
        { at_request: 1, state: "loading", for_ms: 10 },
      ],
    });
    own.chat(50);
    expect([own.stateAt(49), own.stateAt(50), own.stateAt(60)]).toEqual(["busy", "loading", "ready"]);
  });

  test("starts a stopped model once", () => {
    const own = course({
      proxy: "llama-swap",
      states: [
        { at_ms: 0, state: "stopped" },
        { at_ms: 100, state: "stopped" },
      ],
    });
    own.wake(10);
    expect([own.stateAt(10), own.stateAt(99), own.stateAt(100)]).toEqual(["ready", "ready", "stopped"]);
    const loading = course({ states: [{ at_ms: 0, state: "loading" }] });
    loading.wake(10);
    expect(loading.stateAt(10)).toBe("loading");
  });

  test("counts strangers from the first chat request", () => {
    const own = course({
      slots: 4,
      occupied: [
        { slots: 1, from_ms: 0, for_ms: 100 },
        { slots: 2, from_ms: 50 },
      ],
    });
    expect([own.strangersAt(0), own.strangersAt(1000), own.nextChange(0)]).toEqual([0, 0, null]);
    own.chat(1000);
    own.chat(1001);
    expect([1000, 1049, 1050, 1099, 1100, 99_999].map((at) => own.strangersAt(at))).toEqual([1, 1, 3, 3, 2, 2]);
    expect([own.nextChange(1000), own.nextChange(1050), own.nextChange(1100)]).toEqual([1050, 1100, null]);
  });

  test("has all slots taken while it is busy, and never more than there are", () => {
    const own = course({
      slots: 2,
      states: [{ at_ms: 10, state: "busy", for_ms: 10 }],
      occupied: [{ slots: 2 }, { slots: 2 }],
    });
    expect([own.strangersAt(9), own.strangersAt(10), own.strangersAt(20)]).toEqual([0, 2, 0]);
    own.chat(30);
    expect(own.strangersAt(30)).toBe(2);
  });
});

describe("SlotLine", () => {
  test("admits in the order of arrival, as many as there are free slots", () => {
    const line = new SlotLine<string>(2, () => 0);
    for (const one of ["a", "b", "c", "d"]) line.enter(one);
    expect([line.isOpenAt(0), line.admit(0), line.waitingCount, line.takenAt(0)]).toEqual([false, ["a", "b"], 2, 2]);
    expect(line.admit(0)).toEqual([]);
    line.release();
    expect([line.isOpenAt(0), line.admit(0)]).toEqual([false, ["c"]]);
    line.release();
    line.release();
    expect([line.admit(0), line.freeAt(0), line.isOpenAt(0)]).toEqual([["d"], 1, true]);
  });

  test("keeps slots for strangers, and takes none back from who works", () => {
    const line = new SlotLine<string>(2, (at) => (at < 10 ? 0 : 2));
    line.enter("a");
    expect([line.admit(0), line.freeAt(10), line.takenAt(10)]).toEqual([["a"], 0, 2]);
    line.release();
    expect([line.freeAt(10), line.freeAt(0)]).toEqual([0, 2]);
  });

  test("forgets who leaves", () => {
    const line = new SlotLine<string>(1, () => 0);
    line.enter("a");
    line.admit(0);
    line.enter("b");
    line.enter("c");
    expect([line.leave("b"), line.leave("b")]).toEqual([true, false]);
    line.release();
    expect(line.admit(0)).toEqual(["c"]);
  });
});
