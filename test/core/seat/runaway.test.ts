import { expect, test } from "bun:test";
import { AnswerReader } from "../../../src/core/seat/deltas.ts";
import { isRunaway, lookAfter, RUNAWAY } from "../../../src/core/seat/runaway.ts";

const LINE = "The file is `relay.toml`. Keys are set below, one paragraph each; and so on, and on, and on it goes.";
const ITEM =
  '    "relay.toml.key_count.key_count.key_count.key_count.key_count.key_count.key_count.key_count.key_count",';
const SENTENCE =
  "The document is ready to be edited, and the document is ready to be edited by somebody else than you. ";

test.each([
  { what: "a paragraph over and over", text: `${LINE}\n\n`.repeat(20), is: true },
  { what: "and half of the next copy", text: `${`${LINE}\n\n`.repeat(20)}The file is`, is: true },
  { what: "an entry of a list in JSON", text: `{\n  "keys": [\n    "one",\n${`${ITEM}\n`.repeat(20)}`, is: true },
  { what: "a sentence within one line", text: SENTENCE.repeat(20), is: true },
  { what: "two lines in turn", text: `${LINE}\nand then\n`.repeat(20), is: true },
  { what: "a loop that is found in the middle of a copy", text: `${LINE}\n`.repeat(30).slice(37), is: true },
  // The nearest no.
  { what: "fewer copies", text: `${LINE}\n`.repeat(15), is: false },
  { what: "many copies of little", text: "- yes\n".repeat(100), is: false },
  { what: "a loop that has ended", text: `${`${LINE}\n`.repeat(30)}And that is all.\n`, is: false },
  { what: "a loop that is being left", text: `${`${LINE}\n`.repeat(30)}And that`, is: false },
  { what: "numbered lines", text: Array.from({ length: 40 }, (_, n) => `${n}: ${LINE}`).join("\n"), is: false },
  { what: "nothing", text: "", is: false },
])("isRunaway() of $what is $is", ({ text, is }) => {
  expect(isRunaway(text)).toBe(is);
});

test("the tail of an answer is the end of its content, and of its reasoning while there is none", () => {
  const reader = new AnswerReader();
  const say = (delta: object) => reader.takeEvent(JSON.stringify({ choices: [{ index: 0, delta }] }));
  expect(reader.tail(10)).toBe("");
  for (const piece of ["think", "ing", " hard"]) say({ reasoning_content: piece });
  expect(reader.tail(7)).toBe("ng hard");
  for (const piece of ["an", "swer"]) say({ content: piece });
  expect([reader.tail(3), reader.tail(5), reader.tail(100)]).toEqual(["wer", "nswer", "answer"]);
});

test("a tail is bounded, however much was written before", () => {
  const reader = new AnswerReader();
  reader.takeEvent(JSON.stringify({ choices: [{ index: 0, delta: { content: "x".repeat(100_000) } }] }));
  expect(reader.tail(RUNAWAY.examined)).toHaveLength(RUNAWAY.examined);
});

test("an answer is looked at often while it is short, and not without end when it is long", () => {
  const looks = [0];
  while ((looks.at(-1) ?? 0) < 8 * 1024 * 1024) looks.push(lookAfter(looks.at(-1) ?? 0));
  expect(looks.slice(0, 4)).toEqual([0, 2048, 4096, 6144]);
  expect(looks.length).toBeLessThan(128);
});
