import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import fc from "fast-check";
import { compilePattern, keptEngines, type Pattern } from "../../../src/core/pattern/re2.ts";

const SRC = join(import.meta.dir, "..", "..", "..", "src");
const WINDOW = 256 * 1024;

function patternOf(source: string): Pattern {
  const compiled = compilePattern(source);
  if (!compiled.ok) throw new Error(compiled.reason);
  return compiled.pattern;
}

const isValid = (source: string) => compilePattern(source).ok;

/** `[pattern, text, leftmost match or null]` */
type Match = readonly [string, string, string | null];

describe("what is no pattern", () => {
  test.each<{ row: string; patterns: readonly string[] }>([
    { row: "lookaround and atomic groups", patterns: ["(?=x)", "(?!x)", "(?<=x)", "(?<!x)", "(?>x)"] },
    { row: "backreferences", patterns: ["(x)\\1", "(?<n>x)\\k<n>", "(?P<n>x)(?P=n)"] },
    { row: "flags that RE2 has not, and comments", patterns: ["(?x)a", "(?u)a", "(?q)a", "(?#a)"] },
    { row: "a minus without a flag", patterns: ["(?i-)", "(?-)"] },
    { row: "names in single quotes", patterns: ["(?'n'a)"] },
    { row: "group names with other characters", patterns: ["(?P<a-b>x)", "(?P<é>x)", "(?P<>x)"] },
    { row: "the same group name twice", patterns: ["(?P<n>a)(?P<n>b)", "(?<n>a)|(?<n>b)"] },
    {
      row: "escapes of other dialects",
      patterns: ["\\Z", "\\G", "\\X", "\\R", "\\h", "\\N", "\\C", "\\e", "\\cA", "\\u0041", "\\U0001F600"],
    },
    { row: "unknown named classes", patterns: ["[[:letter:]]", "[[:Alpha:]]"] },
    { row: "property names as JavaScript spells them", patterns: ["\\p{Script=Greek}", "\\p{Letter}", "\\p{IsGreek}"] },
    { row: "ranges that are none", patterns: ["[a--b]", "[z-a]", "[a-\\d]"] },
    { row: "escapes in a class", patterns: ["[\\b]", "[\\A]", "[\\Qa\\E]"] },
    { row: "counts beyond 1000", patterns: ["a{1001}", "a{2,1001}", "(a{100}){100}", "((a{10}){11}){10}"] },
    { row: "possessive and doubled repetition", patterns: ["a**", "a*+", "a++", "a?+"] },
    { row: "repetition of a repetition", patterns: ["a{2}{3}", "x{2}*", "x{2}??"] },
    { row: "\\E without \\Q, and nothing left to repeat", patterns: ["a\\E", "\\Q\\E+"] },
    { row: "numbers that are no code points", patterns: ["\\1", "\\9", "\\99", "\\x4", "\\x{110000}"] },
    { row: "escaped letters, and a backslash at the end", patterns: ["\\é", "\\y", "\\i", "a\\"] },
    { row: "capturing parentheses beyond 1000", patterns: [`${"(".repeat(1001)}a${")".repeat(1001)}`] },
    { row: "what is not closed", patterns: ["(", ")", "[a", "[]a"] },
    { row: "nothing to repeat", patterns: ["*", "+a", "?", "(*a)", "|*"] },
  ])("$row", ({ patterns }) => {
    expect(patterns.filter(isValid)).toEqual([]);
  });
});

describe("what a pattern matches", () => {
  test.each<{ row: string; matches: readonly Match[] }>([
    {
      row: "flags hold from where they stand to the end of their group",
      matches: [
        ["(?i)x", "X", "X"],
        ["a(?i)x", "aX", "aX"],
        ["a(?i)x", "AX", null],
        ["((?i)a)b", "AB", null],
        ["(?i:a)b", "Ab", "Ab"],
        ["(?s)a.b", "a\nb", "a\nb"],
        ["(?m)^b", "a\nb", "b"],
        ["(?U)a+", "aaa", "a"],
        ["(?i-s)A", "a", "a"],
        ["(?i)a(?-i:b)", "AB", null],
      ],
    },
    { row: "no flags at all", matches: [["(?)a", "a", "a"]] },
    {
      row: "flags given twice, taken back, without content",
      matches: [
        ["(?ii)a", "A", "A"],
        ["(?i-i)a", "A", null],
        ["(?i:)a", "a", "a"],
      ],
    },
    {
      row: "both forms of named groups, a digit first",
      matches: [
        ["(?P<n>a)", "a", "a"],
        ["(?<n>a)", "a", "a"],
        ["(?P<1>a)", "a", "a"],
      ],
    },
    {
      row: "start and end of the text",
      matches: [
        ["\\Ab", "a\nb", null],
        ["(?m)\\Ab", "a\nb", null],
        ["a\\z", "a\n", null],
        ["a\\z", "ba", "a"],
      ],
    },
    {
      row: "$ without (?m) is the end of the text, never before a last newline",
      matches: [
        ["a$", "a\n", null],
        ["a$", "a", "a"],
      ],
    },
    {
      row: ". is anything but a newline",
      matches: [
        [".", "\n", null],
        [".", "\r", "\r"],
        [".", "\u2028", "\u2028"],
        [".", "\u2029", "\u2029"],
      ],
    },
    {
      row: "(?m) ^ and $ are at newlines only",
      matches: [
        ["(?m)^b$", "a\nb\nc", "b"],
        ["(?m)^b", "a\rb", null],
        ["(?m)a$", "a\u2028b", null],
      ],
    },
    {
      row: "\\d \\w \\b are ASCII",
      matches: [
        ["\\d", "٣", null],
        ["\\w", "é", null],
        ["\\bword", "éword", "word"],
      ],
    },
    {
      row: "\\s is five characters",
      matches: [
        ["\\s+", "\t\n\f\r ", "\t\n\f\r "],
        ["\\s", "\v", null],
        ["\\s", "\u00a0", null],
      ],
    },
    {
      row: "named classes",
      matches: [
        ["[[:alpha:]]+", "1ab2", "ab"],
        ["[[:^digit:]]", "1a", "a"],
      ],
    },
    {
      row: "properties",
      matches: [
        ["\\pL+", "1é", "é"],
        ["\\p{Greek}", "aσ", "σ"],
        ["\\p{^L}", "a1", "1"],
        ["\\P{Lu}", "Aa", "a"],
        ["\\P{^Lu}", "aA", "A"],
        ["[\\p{Greek}\\pN]+", "aσ1", "σ1"],
      ],
    },
    {
      row: "] first in a class is a literal",
      matches: [
        ["[]a]", "]", "]"],
        ["[^]a]", "]ab", "b"],
      ],
    },
    {
      row: "a class has no set operations",
      matches: [
        ["[a&&b]", "&", "&"],
        ["[a&&b]", "b", "b"],
      ],
    },
    {
      row: "a dangling - is a literal",
      matches: [
        ["[a-b-c]", "-", "-"],
        ["[\\w-z]", "-", "-"],
        ["[a-]", "-", "-"],
        ["[-a]", "-", "-"],
      ],
    },
    {
      row: "braces that count nothing are text",
      matches: [
        ["a{,3}", "a{,3}", "a{,3}"],
        ["a{", "a{", "a{"],
        ["a{x}", "a{x}", "a{x}"],
      ],
    },
    { row: "counts up to 1000", matches: [["^(a{30}){30}$", "a".repeat(900), "a".repeat(900)]] },
    {
      row: "lazy repetition",
      matches: [
        ["a*?", "aa", ""],
        ["a+?", "aa", "a"],
        ["a??", "a", ""],
        ["a{2}?", "aaa", "aa"],
      ],
    },
    {
      row: "repetition of a place",
      matches: [
        ["^*a", "a", "a"],
        ["\\b*a", "a", "a"],
        ["$*a", "a", "a"],
        ["\\z?a", "a", "a"],
        ["^{2}a", "a", "a"],
      ],
    },
    {
      row: "\\Q…\\E and \\Q to the end",
      matches: [
        ["\\Qa.b\\E.", "a.bc", "a.bc"],
        ["\\Q(", "(", "("],
        ["\\Q\\p{Foo}\\E", "\\p{Foo}", "\\p{Foo}"],
      ],
    },
    {
      row: "numbers of code points",
      matches: [
        ["\\x{1F600}", "😀", "😀"],
        ["\\x41", "A", "A"],
        ["\\0", "\0", "\0"],
        ["\\07", "\x07", "\x07"],
        ["\\12", "\n", "\n"],
        ["\\123", "S", "S"],
      ],
    },
    {
      row: "escaped ASCII punctuation and space",
      matches: [
        ["\\_", "_", "_"],
        ["\\-", "-", "-"],
        ["\\/", "/", "/"],
        ["\\@", "@", "@"],
        ["\\<", "<", "<"],
      ],
    },
    {
      row: "] and } alone",
      matches: [
        ["]", "]", "]"],
        ["}", "}", "}"],
      ],
    },
    {
      row: "(?i) folds one character to one",
      matches: [
        ["(?i)k", "K", "K"],
        ["(?i)K", "k", "k"],
        ["(?i)s", "ſ", "ſ"],
        ["(?i)σ", "ς", "ς"],
        ["(?i)µ", "μ", "μ"],
        ["(?i)ß", "ss", null],
        ["(?i)İ", "i", null],
      ],
    },
    {
      row: "empty alternatives",
      matches: [
        ["|a", "a", ""],
        ["a|", "b", ""],
        ["()", "b", ""],
        ["(|a)b", "ab", "ab"],
      ],
    },
    { row: "999 capturing parentheses", matches: [[`${"(".repeat(999)}a${")".repeat(999)}`, "a", "a"]] },
  ])("$row", ({ matches }) => {
    const found = matches.map(([source, text]): Match => [source, text, patternOf(source).first(text)]);
    expect(found).toEqual([...matches]);
    expect(matches.map(([source, text]) => patternOf(source).test(text))).toEqual(
      matches.map(([, , first]) => first !== null),
    );
  });
});

describe("to verify on every upgrade of the engine", () => {
  test("no flag is on by default", () => {
    expect(patternOf("a").test("A")).toBe(false);
    expect(patternOf("a.b").test("a\nb")).toBe(false);
    expect(patternOf("^b").test("a\nb")).toBe(false);
    expect(patternOf("a+").first("aaa")).toBe("aaa");
    expect(patternOf("a|ab").first("ab")).toBe("a");
  });

  test("group names come in the order of their groups", () => {
    expect(patternOf("(x)(?P<docanchor>a)(?<b>b)").groupNames).toEqual(["docanchor", "b"]);
    expect(patternOf("(?P<z>a)(?P<2>b)(?P<1>c)").groupNames).toEqual(["z", "2", "1"]);
    expect(patternOf("(?P<__proto__>a)(?P<constructor>b)").groupNames).toEqual(["__proto__", "constructor"]);
    expect(patternOf("(docanchor)").groupNames).toEqual([]);
    expect(patternOf("(?P<docanchor2>a)").groupNames).toEqual(["docanchor2"]);
  });

  test("1000 is the most of a count, of counts in one another, and of nesting", () => {
    expect([isValid("a{1000}"), isValid("(a{100}){10}"), isValid("(a{100}){11}")]).toEqual([true, true, false]);
    expect(isValid(`${"(".repeat(999)}${")".repeat(999)}`)).toBe(true);
    expect(isValid(`${"(".repeat(1001)}${")".repeat(1001)}`)).toBe(false);
  });

  test("folding reaches U+017F and U+212A, also in classes", () => {
    expect(patternOf("(?i)[s]").test("\u017f")).toBe(true);
    expect(patternOf("(?i)[k]").test("\u212a")).toBe(true);
    expect(patternOf("(?i)[a-z]+").first("S\u017fK\u212a")).toBe("S\u017fK\u212a");
    expect(patternOf("[a-z]").test("\u017f\u212a")).toBe(false);
  });

  test("a character is a code point", () => {
    expect(patternOf("^.$").test("😀")).toBe(true);
    expect(patternOf("[😀]").first("a😀b")).toBe("😀");
    expect(patternOf("^[^a]$").test("😀")).toBe(true);
  });

  test("all matches are those of Go", () => {
    // Each list is what regexp.FindAllString(text, -1) of Go 1.26 gives.
    const found = (source: string, text: string) => [...patternOf(source).matches(text)];
    expect(found("a*", "baac😀d")).toEqual(["", "aa", "", "", ""]);
    expect(found("a|ab", "abab")).toEqual(["a", "a"]);
    expect(found("", "é😀")).toEqual(["", "", ""]);
    expect(found("$", "ab")).toEqual([""]);
    expect(found("x*", "")).toEqual([""]);
    expect(found("\\b", "ab cd")).toEqual(["", "", "", ""]);
    expect(found("(?m)^", "a\nb\n")).toEqual(["", "", ""]);
    expect(found("a", "b")).toEqual([]);
    expect(found("b+|", "abbc")).toEqual(["", "bb", ""]);
  });

  test("NUL is a character of pattern and text", () => {
    expect(patternOf("a\0b").first("xa\0b")).toBe("a\0b");
    expect(patternOf(".").first("\0")).toBe("\0");
  });

  test("half a surrogate pair is no reason to throw", () => {
    expect(patternOf(".").test("\ud800")).toBe(true);
    expect([...patternOf("a|.").matches("a\udc00\ud800a")].length).toBe(4);
  });

  test.each(["(x+x+)+y", "(a+)+$", "(a|aa)+$", "(a|a)*b", "(.*)(.*)(.*)(.*)=", "(?:a?){200}a{200}b", "^(a*)*$b"])(
    "%p ends over 256 KiB that it does not match",
    (source) => {
      const pattern = patternOf(source);
      for (const text of [`${"a".repeat(WINDOW)}!`, `${"x".repeat(WINDOW)}!`]) {
        expect(pattern.test(text)).toBe(false);
        expect(pattern.first(text)).toBeNull();
      }
    },
  );

  test.each([
    { source: "x*y|x", text: "x".repeat(WINDOW), count: WINDOW },
    { source: "(x+x+)+y|xx", text: "x".repeat(WINDOW), count: WINDOW / 2 },
    { source: ".*z|\\w", text: "ab ".repeat(WINDOW / 3), count: 2 * Math.floor(WINDOW / 3) },
  ])("all matches of $source are found, though each search could read to the end", ({ source, text, count }) => {
    let found = 0;
    for (const _match of patternOf(source).matches(text)) found += 1;
    expect(found).toBe(count);
  });
});

describe("compilePattern()", () => {
  test("gives the engine's reason, with the part that it is about", () => {
    expect(compilePattern("(")).toEqual({ ok: false, reason: "missing closing ): `(`" });
    expect(compilePattern("a(?=x)b")).toEqual({ ok: false, reason: "invalid or unsupported Perl syntax: `(?=`" });
    expect(compilePattern("\\p{Emoji}")).toEqual({ ok: false, reason: "invalid character class range: `\\p{Emoji}`" });
  });

  test("compiles a pattern once", () => {
    compilePattern("once[0-9]+");
    const before = keptEngines();
    const again = compilePattern("once[0-9]+");
    expect(again.ok && again.pattern.test("once7")).toBe(true);
    expect(keptEngines()).toEqual(before);
  });

  test("keeps a bounded number of engines, and compiles what was dropped again", () => {
    const first = compilePattern("kept-first");
    for (let index = 0; index < 200; index++) compilePattern(`kept-${index}`);
    expect(keptEngines().count).toBe(128);
    expect(first.ok && first.pattern.test("kept-first")).toBe(true);
  });

  test("keeps a bounded number of instructions, whatever patterns are held", () => {
    const held = ["a", "b", "c", "d"].map((letter) => compilePattern(`${letter}${"[x-z]{1000}".repeat(100)}`));
    expect(keptEngines().instructions).toBeLessThanOrEqual(2 ** 18);
    const text = `c${"y".repeat(100_000)}`;
    expect(held.map((compiled) => compiled.ok && compiled.pattern.test(text))).toEqual([false, false, true, false]);
    expect(keptEngines().instructions).toBeLessThanOrEqual(2 ** 18);
  });

  test("a pattern larger than all that is kept is kept alone, until the next", () => {
    const compiled = compilePattern(`z{2}|${"[p-q]{1000}".repeat(300)}`);
    expect(compiled.ok && compiled.pattern.first("-zzz")).toBe("zz");
    expect(keptEngines().count).toBe(1);
    expect(keptEngines().instructions).toBeGreaterThan(2 ** 18);
    compilePattern("after-a-large-one");
    expect(keptEngines().count).toBe(1);
    expect(keptEngines().instructions).toBeLessThan(100);
  });

  test("returns on any text", () => {
    const piece = fc.constantFrom(
      "(",
      ")",
      "[",
      "]",
      "{",
      "}",
      "?",
      "*",
      "\\",
      "\\p",
      "\\Q",
      "^",
      "|",
      "<",
      "P",
      "1",
      ",",
      "a",
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary" }),
          fc.array(piece).map((pieces) => pieces.join("")),
        ),
        (source) => {
          const compiled = compilePattern(source);
          if (!compiled.ok) expect(compiled.reason).not.toBe("");
          else expect(compiled.pattern.test(source)).toBe(compiled.pattern.first(source) !== null);
        },
      ),
    );
  });
});

describe("the door", () => {
  const sources = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
  const importsOf = (file: string) =>
    [...readFileSync(join(SRC, file), "utf8").matchAll(/^(?:import|export)\b(?! type)[^"]*?from "([^"]+)";$/gms)].map(
      (match) => match[1] ?? "",
    );

  test("one file imports the engine", () => {
    const files = sources.filter((file) => importsOf(file).includes("re2js"));
    expect(files).toEqual(["core/pattern/re2.ts"]);
  });

  test.each(["main.ts", "cli/record.ts", "cli/run.ts"])("%s does not load the engine", (entry) => {
    const reached = new Set<string>([entry]);
    for (const file of reached) {
      for (const specifier of importsOf(file)) {
        if (specifier.startsWith(".")) reached.add(normalize(join(dirname(file), specifier)));
      }
    }
    expect(reached.size).toBeGreaterThan(1);
    expect([...reached].filter((file) => file.startsWith("core/pattern/"))).toEqual([]);
  });
});
