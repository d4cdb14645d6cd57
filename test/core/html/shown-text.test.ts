import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { counted, exact, grouped, line, output } from "../../../src/core/html/shown-text.ts";

describe("line()", () => {
  test.each([
    { text: "one  line\n\twith blanks", length: 80, html: "<bdi>one line with blanks</bdi>" },
    { text: "abcdef", length: 3, html: '<bdi>abc</bdi><span class="more" title="There is more">…</span>' },
    { text: "a\u202eb", length: 80, html: '<bdi>a<span class="sign">U+202E</span>b</bdi>' },
    { text: "a\0b", length: 80, html: '<bdi>a<span class="sign">NUL</span>b</bdi>' },
    { text: "", length: 80, html: "<bdi></bdi>" },
  ])("of $text at $length", ({ text, length, html }) => {
    expect(line(text, length)?.html).toBe(html);
  });

  test("is null for no text", () => {
    expect(line(null)).toBeNull();
  });

  test("says that there is more when the store cut the text", () => {
    expect(line({ text: "abc", size_bytes: 4 })?.html).toEndWith("…</span>");
    expect(line({ text: "ab\u00e9", size_bytes: 4 })?.html).toBe("<bdi>ab\u00e9</bdi>");
  });
});

describe("exact()", () => {
  test("shows every character of a text that fits, and says nothing more", () => {
    expect(exact("a\n  b\u001b[0m").html).toBe('<pre dir="auto">a\n  b<span class="sign">ESC</span>[0m</pre>');
  });

  test("says how much there is of a text that it cuts", () => {
    expect(exact("x".repeat(5000), 100).html).toBe(
      `<pre dir="auto">${"x".repeat(100)}</pre><p class="left-out">cut here; 5,000 characters in all</p>`,
    );
  });

  test("says how much there is of a text that the store cut", () => {
    expect(exact({ text: "abc", size_bytes: 1_048_576 }).html).toContain("cut here; 1,048,576 bytes in all");
  });

  test("does not cut a character in half", () => {
    expect(exact("ab🧪", 3).html).toContain('<pre dir="auto">ab</pre>');
  });

  test("cuts before the signs would become more than the text", () => {
    const html = exact("\0".repeat(1000)).html;
    expect(html.split("NUL")).toHaveLength(251);
    expect(html).toContain("cut here; 1,000 characters in all");
  });

  test("stays within a bound for any text", () => {
    const hostile = fc.string({ unit: fc.constantFrom("<", '"', "\0", "\u202e", "\u{e0041}", "x", "\n", "🧪") });
    fc.assert(
      fc.property(hostile, fc.integer({ min: 1, max: 60 }), (text, length) => {
        expect(exact(text.repeat(40), length).html.length).toBeLessThan(length * 40 + 200);
      }),
    );
  });
});

describe("output()", () => {
  test.each([
    { text: "\u001b[32m✓\u001b[0m ok\n", html: "✓ ok\n", note: "9 characters of terminal control left out" },
    { text: "\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\", html: "link", note: "terminal control left out" },
    { text: "one\r\ntwo", html: "one\ntwo", note: null },
    { text: "10%\r20%", html: '10%<span class="sign">CR</span>\n20%', note: null },
    { text: "bell\u0007", html: 'bell<span class="sign">BEL</span>', note: null },
  ])("of $text", ({ text, html, note }) => {
    const shown = output(text).html;
    expect(shown).toStartWith(`<pre dir="auto">${html}</pre>`);
    if (note === null) expect(shown).not.toContain("left-out");
    else expect(shown).toContain(note);
  });
});

test.each([
  [0, "0 runs", "0"],
  [1, "1 run", "1"],
  [1200, "1,200 runs", "1,200"],
  [1_234_567, "1,234,567 runs", "1,234,567"],
])("counted() of %d is %s", (count, text, digits) => {
  expect(counted(count, "run")).toBe(text);
  expect(grouped(count)).toBe(digits);
});
