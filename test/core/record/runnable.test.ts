import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { isRunnable } from "../../../src/core/record/runnable.ts";

const PROGRAMS = new Set(["npm", "git", "pass", "env", "a b"]);
const isProgram = (word: string): boolean => PROGRAMS.has(word);

describe("isRunnable()", () => {
  test.each([
    { text: "npm test", why: "a program on PATH" },
    { text: "<code>npm test</code>", why: "markup tags do not count" },
    { text: "  \n npm test", why: "outer blanks do not count" },
    { text: "A=1 _b2= npm test", why: "assignments are skipped, an empty one too" },
    { text: "A='x y' B=\"p q\"r npm test", why: "a quoted value may hold blanks" },
    { text: '"npm" test', why: "quotes around the word are removed" },
    { text: "'./my dir/run' x", why: "a quoted path may hold blanks" },
    { text: "/bin/nothing", why: "a path need not exist" },
    { text: "./scripts/check.sh", why: "a path from here" },
    { text: "../x", why: "a path from above" },
    { text: "~/bin/x", why: "a path from home" },
    { text: "cd app && npm test", why: "cd" },
    { text: "source .env", why: "source" },
    { text: "export A=1", why: "export" },
  ])("is true for $text: $why", ({ text }) => {
    expect(isRunnable(text, isProgram)).toBe(true);
  });

  test.each([
    { text: "", why: "no word" },
    { text: "<b></b>", why: "nothing but tags" },
    { text: "CI=1", why: "nothing behind the assignment" },
    { text: "A='x npm test", why: "the quote stays open" },
    { text: "npm' test", why: "the quote stays open" },
    { text: "'' npm", why: "an empty word" },
    { text: "1A=2 npm test", why: "no name of a variable" },
    { text: "cargo test", why: "no such program" },
    { text: "NPM test", why: "case counts" },
    { text: "bin/check", why: "a slash within is no path" },
    { text: "~bob/x", why: "another home is none" },
    { text: "~ x", why: "nothing behind the tilde" },
    { text: "/", why: "nothing behind the slash" },
    { text: "./", why: "nothing behind the slash" },
    { text: ".. x", why: "no slash" },
    { text: ". .env", why: "the dot is none of the shell words" },
    { text: "exit 0", why: "exit is none of the shell words" },
    { text: "n/a", why: "prose" },
    { text: "<b>verified</b>", why: "prose in tags" },
    { text: "pass show key", why: "a program that reads as a verdict" },
    { text: "./pass", why: "a path that reads as a verdict" },
    { text: "$ npm test", why: "a prompt" },
  ])("is false for $text: $why", ({ text }) => {
    expect(isRunnable(text, isProgram)).toBe(false);
  });

  test("asks for no word that holds a slash, and for at most one", () => {
    const asked: string[] = [];
    const ask = (word: string): boolean => asked.push(word) < 0;
    for (const text of ["bin/check", "./x", "A=1 npm test", "cd x"]) isRunnable(text, ask);
    expect(asked).toEqual(["npm"]);
  });

  test("returns on any text", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => typeof isRunnable(text, isProgram) === "boolean"));
  });

  test.each(["<a", "A= ", "A='", "'", "<a<a>", "A=1"])("returns on 64 KiB and more of %j", (piece) => {
    expect(isRunnable(piece.repeat(100_000), isProgram)).toBe(false);
  });
});
