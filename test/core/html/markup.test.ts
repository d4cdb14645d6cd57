import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { escapeHtml, joined, type Markup, markup } from "../../../src/core/html/markup.ts";

/** What a browser makes of escaped text. */
function unescaped(html: string): string {
  const entities: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", "#96": "`" };
  return html.replace(/&([a-z]+|#\d+);/g, (_, name: string) => entities[name] ?? "?");
}

describe("escapeHtml()", () => {
  test.each([
    ["<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"],
    ['"><img src=x onerror=alert(1)>', "&quot;&gt;&lt;img src=x onerror=alert(1)&gt;"],
    ["' onfocus='x", "&#39; onfocus=&#39;x"],
    ["&lt;", "&amp;lt;"],
    ["a\0b", "a[NUL]b"],
    ["a\u001b[31mb", "a[ESC][31mb"],
    ["\u202egnp.exe", "[U+202E]gnp.exe"],
    ["\u{e0041}", "[U+E0041]"],
    ["two\nlines\tand a tab", "two\nlines\tand a tab"],
    ["بحث é 審查 🧪", "بحث é 審查 🧪"],
  ])("of %j is %j", (text, html) => {
    expect(escapeHtml(text)).toBe(html);
  });

  test("leaves nothing of any text that opens a tag or closes an attribute", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(escapeHtml(text)).not.toMatch(/[<>"'`]|&(?!(?:amp|lt|gt|quot|#39|#96);)/);
      }),
    );
  });

  test("is read back as the text, where the text has no controls", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."<>&\"'` abé") }), (text) => {
        expect(unescaped(escapeHtml(text))).toBe(text);
      }),
    );
  });
});

describe("markup", () => {
  test("escapes texts and lets its own kind through", () => {
    const inner = markup`<b>${"<i>"}</b>`;
    expect(markup`<p title="${'"x'}">${inner}</p>`.html).toBe('<p title="&quot;x"><b>&lt;i&gt;</b></p>');
  });

  test("shows numbers and lists, and nothing for nothing", () => {
    expect(markup`${0}${null}${undefined}${false}${[1, "<", [markup`<br>`]]}`.html).toBe("01&lt;<br>");
    expect(markup`${joined(["a", "b", "c"], markup`<hr>`)}`.html).toBe("a<hr>b<hr>c");
  });

  test("takes no object from a document for markup, whatever its shape", () => {
    const forged = JSON.parse('{"html":"<script>"}') as Markup;
    expect(markup`${forged}`.html).toBe("[object Object]");
  });
});
