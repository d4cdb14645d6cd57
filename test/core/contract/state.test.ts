import { expect, test } from "bun:test";
import { CLOSING_STATES, foldState, isClosed, isState, isTerminal, STATES } from "../../../src/core/contract/state.ts";

test("a turn has six states, and five of them close it", () => {
  expect(STATES).toHaveLength(6);
  expect(CLOSING_STATES).toEqual(["APPROVAL_REQUEST", "BLOCKED", "NEEDS_INPUT", "NEEDS_VERIFICATION", "COMPLETE"]);
});

test.each([
  { state: "DISPATCHED", closed: false, terminal: false },
  { state: "IN_PROGRESS", closed: false, terminal: false },
  { state: "NEEDS_VERIFICATION", closed: true, terminal: false },
  { state: "COMPLETE", closed: true, terminal: true },
  { state: "complete", closed: false, terminal: false },
])("$state: closed is $closed, terminal is $terminal", ({ state, closed, terminal }) => {
  expect(isClosed(state)).toBe(closed);
  expect(isTerminal(state)).toBe(terminal);
});

test("isState() is false for the state of a row alone", () => {
  expect(isState("DISPATCHED")).toBe(false);
});

test.each([
  { text: "COMPLETE", state: "COMPLETE" },
  { text: " complete. ", state: "COMPLETE" },
  { text: "Blocked.,;.", state: "BLOCKED" },
  { text: "COMPLETE .", state: null },
  { text: "IN PROGRESS", state: null },
  { text: "DISPATCHED", state: null },
  { text: "...", state: null },
  { text: "", state: null },
])("foldState() of $text is $state", ({ text, state }) => {
  expect(foldState(text)).toBe(state as ReturnType<typeof foldState>);
});
