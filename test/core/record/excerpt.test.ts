import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  type ComparedRun,
  findExcerpt,
  findIn,
  fragmentsOf,
  parseExcerpt,
  plainText,
  searchableOutput,
} from "../../../src/core/record/excerpt.ts";
import { redact } from "../../../src/core/record/redact.ts";

function whole(output: string, tail: string | null = null): ComparedRun {
  return { output, tail, truncated: false };
}

function cut(output: string, tail: string | null = null): ComparedRun {
  return { output, tail, truncated: true };
}

describe("plainText()", () => {
  test.each([
    { rule: "drops colour", text: "\x1b[1;31mred\x1b[0m", plain: "red" },
    { rule: "drops private modes and intermediates", text: "\x1b[?25la\x1b[1 qb", plain: "ab" },
    { rule: "drops a title that ends in BEL", text: "\x1b]0;title\x07a", plain: "a" },
    { rule: "drops a link that ends in ST", text: "\x1b]8;;http://x\x1b\\a\x1b]8;;\x1b\\", plain: "a" },
    { rule: "keeps what is left open", text: "a\x1b[12\x1b]0;t", plain: "a\x1b[12\x1b]0;t" },
    { rule: "turns CRLF and CR into LF", text: "a\r\nb\rc\r\r\nd", plain: "a\nb\nc\n\nd" },
  ])("$rule", ({ text, plain }) => {
    expect(plainText(text)).toBe(plain);
  });
});

describe("fragmentsOf()", () => {
  test.each([
    { excerpt: "a ... b", fragments: ["a", "b"] },
    { excerpt: "a.....b", fragments: ["a", "b"] },
    { excerpt: "a..b", fragments: ["a..b"] },
    { excerpt: "a … b", fragments: ["a", "b"] },
    { excerpt: "a [...] b", fragments: ["a", "b"] },
    { excerpt: "a [....] b […] c", fragments: ["a", "b", "c"] },
    { excerpt: "a\n[ ... ]\nb", fragments: ["a", "b"] },
    { excerpt: "... a", fragments: ["a"] },
    { excerpt: "a ...", fragments: ["a"] },
    { excerpt: "a \t\n  b\r\nc", fragments: ["a b c"] },
    { excerpt: "\x1b[32mok\x1b[0m", fragments: ["ok"] },
    { excerpt: "...… [...] \n", fragments: [] },
    { excerpt: "", fragments: [] },
  ])("of $excerpt", ({ excerpt, fragments }) => {
    expect(fragmentsOf(excerpt)).toEqual(fragments);
  });
});

describe("findExcerpt() in a whole output", () => {
  test.each([
    { rule: "finds what stands there", excerpt: "15 passed", run: whole("Tests  15 passed | 1 failed") },
    { rule: "folds white space on both sides", excerpt: "a   b\nc", run: whole("x a\tb\r\n\r\n c") },
    { rule: "drops escape sequences on both sides", excerpt: "\x1b[1mok\x1b[0m 1", run: whole("\x1b[32mok\x1b[39m 1") },
    { rule: "finds fragments in order", excerpt: "a ... c", run: whole("a b c") },
    { rule: "finds one fragment twice", excerpt: "ok ... ok", run: whole("ok 1 ok 2") },
    { rule: "lets fragments touch", excerpt: "ab ... (cd", run: whole("ab(cd") },
    { rule: "passes over an occurrence within a word", excerpt: "pass", run: whole("passed pass") },
    { rule: "passes over overlapping occurrences", excerpt: "a-a", run: whole("xa-a-a") },
    { rule: "asks nothing of an edge that is no word", excerpt: "(3)", run: whole("x(3)y") },
    { rule: "lets a digit stand before a full stop", excerpt: "took 15", run: whole("took 15. done") },
    { rule: "lets a digit stand behind a comma", excerpt: "5 passed", run: whole("b,5 passed") },
    { rule: "lets a letter stand beside a point and a digit", excerpt: "x ok a", run: whole("1.x ok a.1") },
    { rule: "joins head and tail", excerpt: "head end of token", run: whole("the head en", "d of token\n") },
    { rule: "joins them before it drops sequences", excerpt: "red", run: whole("\x1b[3", "1mred") },
    { rule: "reads a tail without a head", excerpt: "x", run: { output: null, tail: "x", truncated: false } },
    { rule: "takes a combining mark for no part of the word", excerpt: "passe", run: whole("passe\u0301") },
    { rule: "does not need order kept for what it finds", excerpt: "a b", run: { ...whole("a b"), ordered: false } },
  ])("$rule", ({ excerpt, run }) => {
    expect(findExcerpt(excerpt, run)).toBe("found");
  });

  test.each([
    { rule: "wants the left edge of a word", excerpt: "5 passed", run: whole("15 passed") },
    { rule: "wants the right edge of a word", excerpt: "15 pass", run: whole("15 passed") },
    { rule: "takes an underscore for a part of the word", excerpt: "Tests", run: whole("Tests_15 my_Tests") },
    { rule: "takes any letter for a part of the word", excerpt: "passé", run: whole("passées") },
    { rule: "takes a letter beyond the first plane for one", excerpt: "a", run: whole("𝐱a a𝐱") },
    { rule: "wants the left edge of a decimal", excerpt: "5 passed", run: whole("1.5 passed, 1,5 passed") },
    { rule: "wants the right edge of a decimal", excerpt: "took 1", run: whole("took 1.5 or took 1,204") },
    { rule: "counts case", excerpt: "tests", run: whole("Tests") },
    { rule: "normalises nothing", excerpt: "e\u0301x", run: whole("\u00e9x") },
    { rule: "wants fragments in order", excerpt: "b ... a", run: whole("a b") },
    { rule: "wants fragments apart", excerpt: "15 passed ... passed | 1", run: whole("15 passed | 1") },
    { rule: "finds nothing in an empty output", excerpt: "a", run: whole("") },
    { rule: "finds no empty excerpt", excerpt: "...", run: whole("a ... b") },
    { rule: "finds no half of a character", excerpt: "\udc31", run: whole("𝐱 𝐱".replace("𝐱", "\ud835\udc31")) },
  ])("$rule", ({ excerpt, run }) => {
    expect(findExcerpt(excerpt, run)).toBe("not_found");
  });
});

describe("findExcerpt() in an output that was cut", () => {
  test.each([
    { rule: "finds what the head holds", excerpt: "start of", run: cut("start of run", "the end") },
    { rule: "finds what the tail holds", excerpt: "the end", run: cut("start", "x the end") },
    { rule: "finds the head's before the tail's", excerpt: "b ... a", run: cut("a b c", "x a b") },
    { rule: "finds one fragment in each", excerpt: "x ... x", run: cut("x ", " x") },
    { rule: "takes the tail's very end", excerpt: "end", run: cut("start", "the end") },
    { rule: "takes the head's very start", excerpt: "start", run: cut("start of", "end") },
    { rule: "takes an end that is no word at the cut", excerpt: "a)", run: cut("x a)") },
    { rule: "takes a start that is no word at the cut", excerpt: "(a", run: cut("x", "(a b") },
    { rule: "takes a word that ends before the cut", excerpt: "a", run: cut("x a ") },
  ])("$rule", ({ excerpt, run }) => {
    expect(findExcerpt(excerpt, run)).toBe("found");
  });

  test.each([
    { rule: "knows nothing of what is missing", excerpt: "lost", run: cut("start", "end") },
    { rule: "does not join head and tail", excerpt: "head end", run: cut("x head en", "d of") },
    { rule: "takes no word at the very end of the head", excerpt: "12", run: cut("tail 12") },
    { rule: "takes no word at the very start of the tail", excerpt: "d of", run: cut("x ", "d of token") },
    { rule: "finds none of the tail's before the head's", excerpt: "b ... a", run: cut("x a ", " b x") },
    { rule: "is cut before it is not kept", excerpt: "a", run: { output: null, truncated: true } },
  ])("$rule", ({ excerpt, run }) => {
    expect(findExcerpt(excerpt, run)).toBe("output_truncated");
  });
});

describe("findExcerpt() in an output that was not kept", () => {
  test("says so", () => {
    expect(findExcerpt("a", { output: null, truncated: false })).toBe("output_not_kept");
    expect(findExcerpt("a", { output: null, tail: null, truncated: false, ordered: false })).toBe("output_not_kept");
  });

  test("an empty output was kept, and so was a tail alone", () => {
    expect(findExcerpt("a", { output: null, tail: "b", truncated: false })).toBe("not_found");
    expect(findExcerpt("a", whole(""))).toBe("not_found");
  });
});

describe("findExcerpt() in an output whose streams may be out of order", () => {
  const unordered = (output: string): ComparedRun => ({ ...whole(output), ordered: false });

  test.each([
    { rule: "excuses lines in another order", excerpt: "b\na", output: "a\nb\n", outcome: "order_not_kept" },
    { rule: "excuses pieces in another order", excerpt: "b ... a", output: "a\nb\n", outcome: "order_not_kept" },
    { rule: "excuses parts of lines", excerpt: "b 2\na", output: "a 1\nx b 2\n", outcome: "order_not_kept" },
    { rule: "folds white space in lines", excerpt: "b  2\r\na", output: "a\nb\t2", outcome: "order_not_kept" },
    { rule: "refutes a missing line", excerpt: "b\nc", output: "a\nb\n", outcome: "not_found" },
    { rule: "wants whole tokens in lines", excerpt: "b\n5 ok", output: "15 ok\nb\n", outcome: "not_found" },
    { rule: "refutes a missing line alone", excerpt: "c", output: "a\nb\n", outcome: "not_found" },
  ])("$rule", ({ excerpt, output, outcome }) => {
    expect(findExcerpt(excerpt, unordered(output))).toBe(outcome as "not_found");
    expect(findExcerpt(excerpt, whole(output))).toBe("not_found");
  });
});

describe("findExcerpt() in an output with marks of redaction", () => {
  test.each([
    { rule: "finds what is quoted with its mark", excerpt: "token: [REDACTED] after", outcome: "found" },
    { rule: "finds what stands beside it", excerpt: "after an hour", outcome: "found" },
    { rule: "knows no word behind it", excerpt: "token: PASSED after", outcome: "output_redacted" },
    { rule: "knows no word alone", excerpt: "PASSED", outcome: "output_redacted" },
    { rule: "knows no part of a word", excerpt: "ires after an hour", outcome: "output_redacted" },
    { rule: "knows no start of a word", excerpt: "token: exp", outcome: "output_redacted" },
    { rule: "knows several of them", excerpt: "token: a after an hour key=b", outcome: "output_redacted" },
    { rule: "goes by what stands there beside it", excerpt: "an hour ... token: PASSED", outcome: "output_redacted" },
    { rule: "refutes what stands beside it", excerpt: "token: PASSED before", outcome: "not_found" },
    { rule: "refutes two words in the place of one", excerpt: "token: has PASSED after", outcome: "not_found" },
    { rule: "refutes what no mark is near", excerpt: "5 passed", outcome: "not_found" },
    { rule: "refutes where one piece is missing", excerpt: "token: PASSED ... 5 passed", outcome: "not_found" },
  ])("$rule", ({ excerpt, outcome }) => {
    const output = "token: [REDACTED] after an hour\nkey=[REDACTED]\n15 passed\n";
    expect(findExcerpt(excerpt, whole(output))).toBe(outcome as "found");
  });

  test("takes nothing of great length for what a mark hides", () => {
    expect(findExcerpt("x".repeat(65_537), whole("key=[REDACTED]"))).toBe("not_found");
  });

  test("what nobody had the time to look for is not refuted", () => {
    const excerpt = parseExcerpt("b c");
    excerpt.lineBudget = 0;
    expect(findIn(excerpt, searchableOutput(whole("key=[REDACTED]")))).toBe("output_redacted");
    expect(findIn(excerpt, searchableOutput(whole("key=a")))).toBe("not_found");
  });
});

describe("findExcerpt() on hostile input", () => {
  const a = "a".repeat(200_000);
  test.each([
    { what: "a needle that nearly matches everywhere", excerpt: `${"a".repeat(50_000)}b`, output: a, ordered: true },
    { what: "occurrences within words", excerpt: "a", output: a, ordered: true },
    { what: "many fragments", excerpt: "a...".repeat(1_000_000), output: "a ".repeat(100_000), ordered: true },
    { what: "many lines", excerpt: "b\na ".repeat(500_000), output: "a b ".repeat(1000), ordered: false },
    { what: "open brackets", excerpt: "[ ".repeat(500_000), output: "x", ordered: true },
    { what: "a bracket and dots", excerpt: `[${".".repeat(500_000)}x`, output: "y", ordered: true },
    {
      what: "open sequences",
      excerpt: "\x1b[1\x1b]x".repeat(200_000),
      output: "\x1b[1\x1b]".repeat(200_000),
      ordered: true,
    },
  ])("returns on $what", ({ excerpt, output, ordered }) => {
    expect(["not_found", "order_not_kept"]).toContain(findExcerpt(excerpt, { ...whole(output), ordered }));
  });

  test("lines that nobody had the time to look for are not refuted", () => {
    const excerpt = parseExcerpt("c\nb");
    excerpt.lineBudget = 0;
    expect(findIn(excerpt, searchableOutput({ ...whole("a"), ordered: false }))).toBe("order_not_kept");
  });
});

describe("findExcerpt() as a law", () => {
  const word = fc.constantFrom(
    "ok",
    "15",
    "1.5",
    "passed",
    "é",
    "𝐱",
    "(3)",
    "-",
    "a_b",
    "src/a.ts",
    "[x]",
    "\x1b[1mred\x1b[0m",
  );
  const gap = fc.constantFrom(" ", "\n", "  \t", "\r\n");
  const tokens = fc.array(fc.tuple(word, gap), { minLength: 1, maxLength: 40 });
  const join = (pairs: readonly (readonly [string, string])[]): string => pairs.map((pair) => pair.join("")).join("");

  test("what is cut from an ordered, whole output between tokens is found", () => {
    fc.assert(
      fc.property(tokens, fc.nat(), fc.nat(), fc.nat(), (pairs, from, length, split) => {
        const start = from % pairs.length;
        const taken = pairs.slice(start, start + 1 + (length % pairs.length));
        const output = join(pairs);
        const at = split % output.length;
        expect(findExcerpt(join(taken), whole(output.slice(0, at), output.slice(at)))).toBe("found");
      }),
    );
  });

  test("what was printed is not refuted by what was masked in it", () => {
    const printed = fc.constantFrom(
      "token:",
      "/etc/passwd:",
      "api_key=abcd1234",
      "Bearer",
      "u:pw@h",
      "secret",
      "=",
      "ok",
      "five",
    );
    const pairs = fc.array(fc.tuple(printed, gap), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(pairs, fc.nat(), fc.nat(), (all, from, length) => {
        const start = from % all.length;
        const quote = join(all.slice(start, start + 1 + (length % all.length)));
        const outcome = findExcerpt(quote, whole(redact(join(all), "output")));
        expect(["found", "output_redacted"]).toContain(outcome);
      }),
    );
  });

  test("what is left out between tokens may be elided", () => {
    fc.assert(
      fc.property(
        tokens,
        fc.infiniteStream(fc.boolean()),
        fc.constantFrom("...", "…", "[...]", "....."),
        (pairs, keep, elision) => {
          const excerpt = pairs.map((pair) => (keep.next().value ? pair.join("") : ` ${elision} `)).join("");
          fc.pre(fragmentsOf(excerpt).length > 0);
          expect(findExcerpt(excerpt, whole(join(pairs)))).toBe("found");
        },
      ),
    );
  });

  test("what is found stays found when more is printed before or behind", () => {
    fc.assert(
      fc.property(tokens, tokens, tokens, (before, pairs, behind) => {
        expect(findExcerpt(join(pairs), whole(`${join(before)}${join(pairs)} ${join(behind)}`))).toBe("found");
      }),
    );
  });

  test("any text against any text has an outcome", () => {
    const text = fc.string({ unit: "binary" });
    fc.assert(
      fc.property(
        text,
        fc.option(text),
        fc.option(text),
        fc.boolean(),
        fc.boolean(),
        (excerpt, output, tail, truncated, ordered) => {
          expect(typeof findExcerpt(excerpt, { output, tail, truncated, ordered })).toBe("string");
        },
      ),
    );
  });

  test("agrees with a search by hand", () => {
    const piece = fc.string({ unit: fc.constantFrom("a", "b", "-"), minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(piece, fc.string({ unit: fc.constantFrom("a", "b", "-"), maxLength: 30 }), (excerpt, output) => {
        const isWord = (char: string | undefined): boolean => char !== undefined && /[ab]/.test(char);
        let expected = false;
        for (let at = output.indexOf(excerpt); at !== -1; at = output.indexOf(excerpt, at + 1)) {
          const left = !isWord(excerpt[0]) || !isWord(output[at - 1]);
          const right = !isWord(excerpt.at(-1)) || !isWord(output[at + excerpt.length]);
          expected ||= left && right;
        }
        expect(findExcerpt(excerpt, whole(output))).toBe(expected ? "found" : "not_found");
      }),
      { numRuns: 1000 },
    );
  });
});
