import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { planEdit } from "../../../src/core/seat/edit.ts";
import { renderEntries, renderLines, renderMatches, renderPaths } from "../../../src/core/seat/tool-results.ts";

const ROOM = 100_000;
const whole = { offset: null, limit: null };

function numbered(count: number): string {
  return Array.from({ length: count }, (_, index) => `l${index + 1}\n`).join("");
}

describe("renderLines()", () => {
  test.each([
    { why: "all lines, numbered", text: "a\nb\n", part: whole, shown: "1: a\n2: b" },
    { why: "a last line without its end", text: "a\nb", part: whole, shown: "1: a\n2: b" },
    { why: "an empty line", text: "a\n\n", part: whole, shown: "1: a\n2: " },
    { why: "no CR", text: "a\r\nb\r\n", part: whole, shown: "1: a\n2: b" },
    {
      why: "a part, and how to go on",
      text: numbered(9),
      part: { offset: 3, limit: 2 },
      shown: "3: l3\n4: l4\n(lines 3-4 of 9; continue with offset=5)",
    },
    { why: "the last part, and nothing more", text: numbered(9), part: { offset: 8, limit: 5 }, shown: "8: l8\n9: l9" },
    {
      why: "what is past the end",
      text: numbered(9),
      part: { offset: 10, limit: null },
      shown: "(end of file, 9 lines)",
    },
    { why: "an empty file", text: "", part: whole, shown: "(end of file, 0 lines)" },
    { why: "an offset below 1 as 1", text: "a\n", part: { offset: 0, limit: 0 }, shown: "1: a" },
  ])("shows $why", ({ text, part, shown }) => {
    expect(renderLines(text, part, ROOM)).toBe(shown);
  });

  test("stops at 2000 lines", () => {
    expect(renderLines(numbered(2001), whole, ROOM)).toEndWith(
      "2000: l2000\n(lines 1-2000 of 2001; continue with offset=2001)",
    );
  });

  test("cuts a line at 2000 characters", () => {
    expect(renderLines(`${"x".repeat(2000)}\n${"y".repeat(2001)}`, whole, ROOM)).toBe(
      `1: ${"x".repeat(2000)}\n2: ${"y".repeat(2000)} (line cut)`,
    );
  });

  test("stops at a line before the cap of one result, and at 256 KiB", () => {
    expect(renderLines(numbered(9), whole, 12)).toBe("1: l1\n2: l2\n(lines 1-2 of 9; continue with offset=3)");
    expect(renderLines(numbered(9), whole, 1)).toBe("1: l1\n(lines 1-1 of 9; continue with offset=2)");
    const long = `${"é".repeat(1000)}\n`.repeat(200);
    expect(renderLines(long, whole, 1_000_000)).toEndWith("(lines 1-130 of 200; continue with offset=131)");
  });

  test("shows every line once when it is followed as it says", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 20 })), fc.integer({ min: 1, max: 60 }), (lines, characters) => {
        const text = lines.map((line) => `${line.replaceAll(/[\r\n]/g, "")}\n`).join("");
        const seen: string[] = [];
        for (let offset = 1; offset <= lines.length; ) {
          const shown = renderLines(text, { offset, limit: null }, characters).split("\n");
          const next = /continue with offset=(\d+)\)$/.exec(shown.at(-1) ?? "")?.[1];
          seen.push(...(next === undefined ? shown : shown.slice(0, -1)));
          offset = next === undefined ? lines.length + 1 : Number(next);
        }
        expect(seen).toEqual(
          text
            .split("\n")
            .slice(0, -1)
            .map((line, index) => `${index + 1}: ${line}`),
        );
      }),
    );
  });
});

test("renderEntries() marks folders, and says that there is nothing", () => {
  expect(
    renderEntries([
      { name: "src", kind: "folder" },
      { name: "z.md", kind: "file" },
    ]),
  ).toBe("src/\nz.md");
  expect(renderEntries([])).toBe("(empty directory)");
});

describe("matches", () => {
  const many = Array.from({ length: 101 }, (_, index) => ({ path: "a.md", line: index + 1, text: "x" }));

  test("are told with path, line and text, 100 at most", () => {
    expect(renderMatches([{ path: "a.md", line: 3, text: "  x" }], false, "x")).toBe("a.md:3:   x");
    const shown = renderMatches(many, false, "x").split("\n");
    expect([shown.length, shown.at(-1)]).toEqual([101, "(more matches; narrow the pattern)"]);
    expect(renderMatches(many.slice(0, 100), false, "x")).not.toContain("more");
    expect(renderPaths(["a.md"], true, "x")).toBe("a.md\n(more matches; narrow the pattern)");
  });

  test("that are none say how to ignore case, unless it is ignored", () => {
    expect(renderMatches([], false, "Port")).toBe(
      "no match; the pattern is case-sensitive, to ignore case use (?i)Port",
    );
    expect(renderMatches([], false, "(?i)Port")).toBe("no match");
    expect(renderPaths([], false, "a(?si:b)")).toBe("no match");
  });
});

describe("planEdit() replaces", () => {
  test.each([
    { why: "a unique snippet", text: "a\nbb\nc\n", old: "bb", now: "x\ny", edited: "a\nx\ny\nc\n", note: "" },
    {
      why: "nothing by a CR LF of its own",
      text: "a\r\nb\r\n",
      old: "b\r\n",
      now: "c\n",
      edited: "a\r\nc\n",
      note: "",
    },
    {
      why: "lines with other white space around them",
      text: "f {\n    return lo;   \n  }\n",
      old: "return lo;\n}",
      now: "return hi;\n}",
      edited: "f {\n    return hi;\n    }\n",
      note: "loose",
    },
    {
      why: "in a file of CR LF, with CR LF",
      text: "a\r\nb\r\nc\r\n",
      old: "a\nb",
      now: "x\ny\nz",
      edited: "x\r\ny\r\nz\r\nc\r\n",
      note: "loose",
    },
    {
      why: "the one whole line, where the snippet is a part of others",
      text: "do\n  do it\n",
      old: "do",
      now: "go",
      edited: "go\n  do it\n",
      note: "loose",
    },
    { why: "lines to nothing, with their end", text: "a\n  b\nc\n", old: "b\n\n", now: "", edited: null, note: "" },
    {
      why: "a line to nothing, with its end",
      text: "a\n b \nc\n",
      old: "b\n",
      now: "",
      edited: "a\nc\n",
      note: "loose",
    },
    {
      why: "with the indentation that the new lines bring",
      text: "  a\n  b\n",
      old: "a\nb",
      now: "\ta\n\tb",
      edited: "\ta\n\tb\n",
      note: "loose",
    },
    {
      why: "at the depth of the file what has none in both",
      text: "def f():\n    a = 1\n    b = 2\n",
      old: "a = 1\nb = 2\n",
      now: "a = 1\n\nif a:\n  b = 3\n",
      edited: "def f():\n    a = 1\n\n    if a:\n      b = 3\n",
      note: "loose",
    },
  ])("$why", ({ text, old, now, edited, note }) => {
    const planned = planEdit(text, old, now, "f");
    if (edited === null) {
      expect(planned.ok).toBe(false);
      return;
    }
    const said = note === "" ? "" : "matched with outer white space of lines ignored";
    expect(planned).toEqual({ ok: true, text: edited, note: said });
  });
});

describe("planEdit() says why it does not", () => {
  test.each([
    { why: "nothing changes", text: "a", old: "a", now: "a", message: "NOT performed: old and new are the same" },
    {
      why: "nothing changes but white space that is ignored",
      text: "  a\n  b\n",
      old: "a\nb",
      now: "  a\n  b",
      message: "NOT performed: old and new are the same",
    },
    {
      why: "there is nothing to find",
      text: "a",
      old: "",
      now: "b",
      message: "NOT performed: old_string is empty; give the text to replace, or use write_file",
    },
    {
      why: "the file is empty",
      text: "",
      old: "a",
      now: "b",
      message: "NOT performed: old_string is not in f, which is empty; use write_file",
    },
    {
      why: "it stands there twice",
      text: "x = 1\ny\nx = 1\n",
      old: "x = 1",
      now: "b",
      message: "NOT performed: old_string occurs 2 times in f (lines 1, 3); add the lines around it to make it unique",
    },
    {
      why: "it stands nowhere",
      text: "one\ntwo\nthree\nreturn low;\nfive\nsix\nseven\neight\nnine\n",
      old: "return lo;",
      now: "b",
      message: `NOT performed: old_string is not in f. The nearest lines are:
3: three
4: return low;
5: five
6: six
7: seven
8: eight
9: nine
Send the call again with old_string copied from these lines, without the numbers.`,
    },
  ])("$why", ({ text, old, now, message }) => {
    expect(planEdit(text, old, now, "f")).toEqual({ ok: false, message });
  });

  test("in time that grows with the text, whatever the snippet", () => {
    const text = "a\n".repeat(130_000);
    expect(planEdit(text, `${"a\n".repeat(16_000)}b`, "c", "f").ok).toBe(false);
  });

  test("and what it edits differs in the snippet's place alone", () => {
    const line = fc.constantFrom("a", " a", "b ", "", "\tc");
    const lines = fc.array(line, { maxLength: 8 }).map((each) => each.join("\n"));
    fc.assert(
      fc.property(lines, lines, lines, (text, old, now) => {
        const planned = planEdit(text, old, now, "f");
        if (!planned.ok || planned.note !== "") return;
        const at = text.indexOf(old);
        expect(planned.text).toBe(text.slice(0, at) + now + text.slice(at + old.length));
        expect(text.indexOf(old, at + 1)).toBe(-1);
      }),
    );
  });
});
