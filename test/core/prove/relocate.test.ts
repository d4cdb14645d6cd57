import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { relocate } from "../../../src/core/prove/relocate.ts";

const MOVES = [
  { from: "/work/app", to: "/tmp/c/app" },
  { from: "/work/app/sub", to: "/tmp/c/app/sub" },
];

describe("relocate()", () => {
  test.each([
    { text: "cd /work/app && make", moved: "cd /tmp/c/app && make" },
    { text: "/work/app/check.sh", moved: "/tmp/c/app/check.sh" },
    { text: "cd /work/app/sub; ls", moved: "cd /tmp/c/app/sub; ls" },
    { text: "--dir=/work/app", moved: "--dir=/tmp/c/app" },
    { text: "cat '/work/app/a b' \"/work/app\"", moved: "cat '/tmp/c/app/a b' \"/tmp/c/app\"" },
    { text: "PATH=/bin:/work/app:/usr/bin x", moved: "PATH=/bin:/tmp/c/app:/usr/bin x" },
    { text: "cd /work/app/", moved: "cd /tmp/c/app/" },
    // other folders, whose paths only look alike
    { text: "cd /work/application", moved: "cd /work/application" },
    { text: "cd /work/app-2 /work/app.bak /work/app_", moved: "cd /work/app-2 /work/app.bak /work/app_" },
    { text: "cd /home/work/app ~/work/app ./work/app", moved: "cd /home/work/app ~/work/app ./work/app" },
    { text: "cd $X/work/app {X}/work/app", moved: "cd $X/work/app {X}/work/app" },
    { text: "cd /work/appé é/work/app", moved: "cd /work/appé é/work/app" },
    { text: "cd /work/ap", moved: "cd /work/ap" },
    { text: "", moved: "" },
  ])("of $text is $moved", ({ text, moved }) => {
    expect(relocate(text, MOVES)).toBe(moved);
  });

  test("of equal folders the first counts, and neither a root nor a relative path is moved", () => {
    expect(
      relocate("/a /", [
        { from: "/a", to: "1" },
        { from: "/a", to: "2" },
        { from: "/", to: "3" },
      ]),
    ).toBe("1 /");
    expect(
      relocate("a /a", [
        { from: "a", to: "1" },
        { from: "", to: "2" },
      ]),
    ).toBe("a /a");
  });

  test("a text without one of the folders stays", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        fc.pre(!text.includes("/work/app"));
        expect(relocate(text, MOVES)).toBe(text);
      }),
    );
  });

  test("moving there and back gives the text again", () => {
    const piece = fc.constantFrom("/work/app", "/work", "/app", " ", "cd", ";", "/", "-", "'");
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const text = pieces.join("");
        const there = relocate(text, [{ from: "/work/app", to: "/c" }]);
        fc.pre(!text.includes("/c"));
        expect(relocate(there, [{ from: "/c", to: "/work/app" }])).toBe(text);
      }),
    );
  });
});
