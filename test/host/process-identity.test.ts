import { expect, test } from "bun:test";
import { isAlive, isStillAlive, ownIdentity } from "../../src/host/process-identity.ts";

test("this process is alive, and it is this one", () => {
  expect(isAlive(process.pid)).toBe(true);
  expect(isStillAlive(ownIdentity())).toBe(true);
});

test("a process whose id went to another one is not alive", () => {
  const { pid, start } = ownIdentity();
  // Where the platform does not tell when a process started, its id is all there is.
  expect(isStillAlive({ pid, start: "another moment" })).toBe(start === null);
});

test.each([0, -1, -process.pid, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, 2 ** 32 + process.pid, 1e300])(
  "nobody has the id %p, which is none",
  (pid) => {
    expect(isAlive(pid)).toBe(false);
    expect(isStillAlive({ pid, start: null })).toBe(false);
    expect(isStillAlive({ pid, start: "1" })).toBe(false);
  },
);
