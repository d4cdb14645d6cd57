import { expect, test } from "bun:test";
import { RequestGate } from "../../src/core/request-gate.ts";

const never = new AbortController().signal;

test("a gate lets so many through, and the others in the order in which they came", async () => {
  const gate = new RequestGate(2);
  const order: string[] = [];
  const enter = async (name: string) => {
    const leave = await gate.enter(never);
    order.push(name);
    return leave ?? (() => {});
  };
  const first = await enter("a");
  await enter("b");
  const waiting = [enter("c"), enter("d")];
  await Promise.resolve();
  expect(order).toEqual(["a", "b"]);
  first();
  // Giving a place back twice gives no second one.
  first();
  const third = await waiting[0];
  expect(order).toEqual(["a", "b", "c"]);
  third?.();
  await waiting[1];
  expect(order).toEqual(["a", "b", "c", "d"]);
});

test("who is called off leaves the line, and takes no place", async () => {
  const gate = new RequestGate(1);
  const leave = await gate.enter(never);
  const control = new AbortController();
  const waiting = gate.enter(control.signal);
  control.abort();
  expect(await waiting).toBeNull();
  expect(await gate.enter(AbortSignal.abort())).toBeNull();
  leave?.();
  expect(await gate.enter(never)).not.toBeNull();
});
