import { describe, expect, test } from "bun:test";
import { openProgress } from "../../src/cli/progress.ts";

function scripted(isTerminal: boolean) {
  const written: string[] = [];
  let tick = () => {};
  let stopped = false;
  const progress = openProgress({
    isTerminal,
    write: (text) => void written.push(text),
    ticking: (callback) => {
      tick = callback;
      return () => {
        stopped = true;
      };
    },
  });
  return { progress, written, tick: () => tick(), isStopped: () => stopped };
}

describe("openProgress()", () => {
  test("says nothing within the first second", () => {
    const { progress, written, isStopped } = scripted(true);
    progress.show("copying");
    progress[Symbol.dispose]();
    expect([written, isStopped()]).toEqual([[], true]);
  });

  test("writes one line over and over, and takes it away at the end", () => {
    const { progress, written, tick } = scripted(true);
    progress.show("copying: 12 files");
    tick();
    progress.show("run");
    tick();
    progress[Symbol.dispose]();
    expect(written).toEqual(["\rcopying: 12 files (1 s)", `\r${"run (2 s)".padEnd(23)}`, `\r${" ".repeat(9)}\r`]);
  });

  test("shows a hostile command on one line of bounded length, without control sequences", () => {
    const { progress, written, tick } = scripted(true);
    progress.show(`a\u001b[2J\nb\t${"x".repeat(200)}`);
    tick();
    expect(written).toEqual([`\ra b ${"x".repeat(67)}… (1 s)`]);
  });

  test("is silent where standard error is no terminal", () => {
    const { progress, written, tick } = scripted(false);
    progress.show("copying");
    tick();
    progress[Symbol.dispose]();
    expect(written).toEqual([]);
  });
});
