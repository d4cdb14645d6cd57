import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { keepOutput, LONGEST_SECRET, OutputKeeper, WINDOW_BYTES } from "../../../src/core/record/capture.ts";
import { REDACTED, redact } from "../../../src/core/record/redact.ts";

const BEGIN = "-----BEGIN PRIVATE KEY-----";
const END = "-----END PRIVATE KEY-----";
const redactOutput = (text: string) => redact(text, "output");

/** Pushes the pieces through a keeper; `windows` are the texts that it redacted, `redacted` what came of them. */
function stream(pieces: Iterable<string>, redactWindow = redactOutput) {
  const windows: string[] = [];
  const redacted: string[] = [];
  const keeper = new OutputKeeper(
    (text) => {
      windows.push(text);
      return redactWindow(text);
    },
    (text) => redacted.push(text),
  );
  for (const piece of pieces) keeper.push(piece);
  return { ...keeper.finish(), windows, redacted: redacted.join("") };
}

/** Cuts a text at the given places, in code units: also in the middle of a surrogate pair. */
function chop(text: string, places: readonly number[]): readonly string[] {
  const cuts = [0, ...places.map((place) => place % (text.length + 1)).sort((a, b) => a - b), text.length];
  return cuts.slice(1).map((end, index) => text.slice(cuts[index], end));
}

describe("keepOutput()", () => {
  test.each([
    ["nothing", "", { output: "", tail: null, truncated: false }],
    ["500", "a".repeat(500), { output: "a".repeat(500), tail: null, truncated: false }],
    ["501", `${"a".repeat(500)}b`, { output: "a".repeat(500), tail: "b", truncated: false }],
    ["1,000 pairs", "😀".repeat(1000), { output: "😀".repeat(500), tail: "😀".repeat(500), truncated: false }],
    [
      "1,001",
      `${"a".repeat(501)}${"b".repeat(500)}`,
      { output: "a".repeat(500), tail: "b".repeat(500), truncated: true },
    ],
    ["half a pair", "a\ud83d", { output: "a\ufffd", tail: null, truncated: false }],
  ])("of %s", (_, text, kept) => {
    expect(keepOutput(text)).toEqual(kept);
  });

  test("keeps both ends by code points, whatever the text", () => {
    const unit = fc.constantFrom("a", "é", "😀", "\n", "\ud83d", "\ude00");
    const texts = fc
      .array(fc.tuple(unit, fc.integer({ min: 1, max: 400 })), { maxLength: 8 })
      .map((runs) => runs.map(([char, count]) => char.repeat(count)).join(""));
    fc.assert(
      fc.property(texts, (text) => {
        const points = Array.from(text.toWellFormed());
        const tail = points.slice(500).slice(-500).join("");
        expect(keepOutput(text)).toEqual({
          output: points.slice(0, 500).join(""),
          tail: tail === "" ? null : tail,
          truncated: points.length > 1000,
        });
      }),
    );
  });
});

describe("OutputKeeper", () => {
  const parts = fc.constantFrom(
    ...["text ", "\n", "😀", "é", "\ud83d", "\ude00", "token=abcdefgh ", BEGIN, END, "MII\n", `ghp_${"a".repeat(20)} `],
    ...["x".repeat(40_000), `${"line\n".repeat(7000)}`, "é".repeat(30_000), "x".repeat(WINDOW_BYTES - 1)],
  );
  const texts = fc.array(parts, { maxLength: 12 }).map((each) => each.join(""));

  test("gives the same however the text is chopped", () => {
    fc.assert(
      fc.property(texts, fc.array(fc.nat(), { maxLength: 6 }), (text, places) => {
        expect(stream(chop(text, places))).toEqual(stream([text]));
      }),
      { numRuns: 60 },
    );
  });

  test("gives the same for single code units", () => {
    const text = `${"é😀\ud83d\n".repeat(4000)}${BEGIN}\n${"MII\n".repeat(20_000)}${END}${"y".repeat(70_000)}`;
    expect(stream(Array.from({ length: text.length }, (_, index) => text.charAt(index)))).toEqual(stream([text]));
  });

  test("keeps a text that fits one window as keepOutput() does", () => {
    fc.assert(
      fc.property(texts, (text) => {
        fc.pre(Buffer.byteLength(text) <= WINDOW_BYTES);
        const { output, tail, truncated, output_bytes, redacted } = stream([text]);
        const whole = redactOutput(text.toWellFormed());
        expect({ output, tail, truncated }).toEqual(keepOutput(whole));
        expect(redacted).toBe(whole);
        expect(output_bytes).toBe(Buffer.byteLength(whole));
      }),
      { numRuns: 60 },
    );
  });

  test("windows are the longest pieces of 64 KiB at most that end with a line end, and give back the text", () => {
    fc.assert(
      fc.property(texts, (text) => {
        const { windows, output_bytes } = stream([text], (window) => window);
        fc.pre(!text.includes(BEGIN));
        expect(windows.join("")).toBe(text.toWellFormed());
        expect(output_bytes).toBe(Buffer.byteLength(text));
        for (const [index, window] of windows.slice(0, -1).entries()) {
          expect(Buffer.byteLength(window)).toBeLessThanOrEqual(WINDOW_BYTES);
          const rest = windows.slice(index + 1).join("");
          const upToNextLine = window + rest.slice(0, rest.indexOf("\n") + 1);
          if (window.endsWith("\n")) {
            if (rest.includes("\n")) expect(Buffer.byteLength(upToNextLine)).toBeGreaterThan(WINDOW_BYTES);
          } else {
            expect(window.includes("\n")).toBe(false);
            // In front of its last words, which are no longer than a secret may be; in code units, of at most 3 bytes.
            const next = rest.slice(0, LONGEST_SECRET + 1);
            expect(Buffer.byteLength(window + next)).toBeGreaterThan(WINDOW_BYTES);
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  test("a line end just behind a full window is in the next one", () => {
    const line = "x".repeat(WINDOW_BYTES);
    expect(stream([`${line}\n`]).windows).toEqual([line, "\n"]);
    expect(stream([`${line.slice(1)}\n\n`]).windows).toEqual([`${line.slice(1)}\n`, "\n"]);
  });

  test("an empty stream is an empty output that was seen", () => {
    expect(stream([])).toEqual({
      output: "",
      tail: null,
      truncated: false,
      output_bytes: 0,
      windows: [],
      redacted: "",
    });
  });

  test("a secret at the end of a full window is whole in the next", () => {
    const line = `${"x".repeat(WINDOW_BYTES - 10)}\n`;
    expect(stream([`${line}ghp_${"a".repeat(30)}\n`]).redacted).toBe(`${line}${REDACTED}\n`);
  });

  test.each([
    ["a token", `ghp_${"a".repeat(36)}`, "xx "],
    ["a token in JSON without a blank", `"ghp_${"a".repeat(36)}"`, '{"a":'],
    ["a pair in JSON", `"token":"hunter2hunter2"`, '{"a":1,'],
    ["a pair with blanks", "password = hunter2hunter2", "and the "],
    ["a bearer", "Bearer hunter2hunter2hunter2", "x-header: "],
  ])("%s across the end of a full window of one long line is marked whole", (_, secret, before) => {
    const end = " and the rest";
    const values = secret.match(/ghp_a+|hunter2\w+/)?.[0] ?? "";
    for (let cut = 1; cut <= secret.length; cut += 1) {
      const pad = before.repeat(Math.floor((WINDOW_BYTES - cut) / before.length)).padStart(WINDOW_BYTES - cut, "x");
      const { redacted, tail } = stream([pad + secret + end]);
      expect(redacted).not.toContain(values);
      expect(redacted).toContain(REDACTED);
      expect(tail ?? "").not.toContain(values.slice(0, 8));
    }
  });

  test("a private key over many windows is one mark, up to its end line", () => {
    const key = `${BEGIN}\n${"MII\n".repeat(60_000)}${END}`;
    expect(stream([`a\n${key}\nb token=abcdefgh\n`]).redacted).toBe(`a\n${REDACTED}\nb token=${REDACTED}\n`);
  });

  test("a second private key in the window that ends the first one is marked too", () => {
    const body = "MII\n".repeat(30_000);
    expect(stream([`${BEGIN}\n${body}${END}\nb\n${BEGIN}\n${body}${END}c`]).redacted).toBe(
      `${REDACTED}\nb\n${REDACTED}c`,
    );
  });

  test("an end line that a window cuts through still ends the key", () => {
    const filler = "x".repeat(WINDOW_BYTES - BEGIN.length - 10);
    expect(stream([`${BEGIN}${filler}${END} after`]).redacted).toBe(`${REDACTED} after`);
    const longer = "x".repeat(WINDOW_BYTES) + filler;
    expect(stream([`${BEGIN}${longer}${END} after`]).redacted).toBe(`${REDACTED} after`);
  });

  test("an end line before the key does not end it", () => {
    const filler = `\n${"x".repeat(WINDOW_BYTES - 70)}`;
    expect(stream([`${filler}\n${END}${BEGIN}\nMII\n${"MII\n".repeat(100)}${END}z`]).redacted).toBe(
      `${filler}\n${END}${REDACTED}z`,
    );
  });

  test("a private key that never ends withholds the rest", () => {
    expect(stream([`a ${BEGIN}\n`, "MII\n".repeat(60_000)]).redacted).toBe(`a ${REDACTED}`);
  });
});
