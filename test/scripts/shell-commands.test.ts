import { expect, test } from "bun:test";
import { commandsOf, startsScripts } from "../../scripts/pages/shell-commands.ts";

test.each([
  { text: "writ a --b c", commands: [["writ", "a", "--b", "c"]] },
  { text: "A=b C='d e' writ x", commands: [["writ", "x"]] },
  {
    text: "writ a | grep b && ! writ c; writ d &",
    commands: [
      ["writ", "a"],
      ["grep", "b"],
      ["writ", "c"],
      ["writ", "d"],
    ],
  },
  { text: `writ set 'it''s' "a \\"b\\" $c" d\\ e`, commands: [["writ", "set", "its", 'a "b" $c', "d e"]] },
  { text: "writ a > out 2> /dev/null < in 2>&1 b", commands: [["writ", "a", "b"]] },
  {
    text: "writ a # writ b\nwrit c#d",
    commands: [
      ["writ", "a"],
      ["writ", "c#d"],
    ],
  },
  { text: "cat > f <<'END'\nwrit a\nEND\nwrit b", commands: [["cat"], ["writ", "b"]] },
  { text: "writ a \\\n  b", commands: [["writ", "a", "b"]] },
  { text: "id=$(writ a 'x)' | tail)", commands: [["writ", "a", "x)"], ["tail"]] },
  {
    text: 'export "$(writ a --b)"',
    commands: [
      ["export", "$(writ a --b)"],
      ["writ", "a", "--b"],
    ],
  },
  {
    text: "until writ a; do sleep 1; done",
    commands: [
      ["writ", "a"],
      ["sleep", "1"],
    ],
  },
  {
    text: "if writ a; then (writ b); fi",
    commands: [
      ["writ", "a"],
      ["writ", "b"],
    ],
  },
  { text: "{ kill $!; wait; } 2> x", commands: [["kill", "$!"], ["wait"]] },
  { text: "echo $(( 1 + 2 ))", commands: [["echo", "$(( 1 + 2 ))"]] },
  { text: "", commands: [] },
])("commandsOf() of $text", ({ text, commands }) => {
  expect(commandsOf(text)).toEqual(commands);
});

test.each(["'", '"', "$(", "$((", "<<", "cat <<END\nx", "\\", "a >", '"$(', "((((", "$(".repeat(200)])(
  "commandsOf() returns on %p, which is no whole text",
  (text) => {
    expect(Array.isArray(commandsOf(text))).toBe(true);
  },
);

test("startsScripts() is true of npm's scripts and of nothing beside them", () => {
  expect(startsScripts("npm run demo   # builds\nnpm test\n")).toBe(true);
  expect(startsScripts("npm run demo\nwrit doctor\n")).toBe(false);
  expect(startsScripts("npm install x\n")).toBe(false);
});
