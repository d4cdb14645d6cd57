import { expect, test } from "bun:test";
import fc from "fast-check";
import { isAscii, plainForm } from "../../../src/core/context/plain-form.ts";

test.each([
  { text: "ｅｎｖ", plain: "env" },
  { text: "\u212a8s", plain: "K8s" }, // KELVIN SIGN
  { text: "ﬁle", plain: "file" },
  { text: "①", plain: "1" },
  { text: "сluster", plain: "сluster" },
])("plainForm($text) is $plain", ({ text, plain }) => {
  expect(plainForm(text)).toBe(plain);
});

test("plainForm() is ASCII exactly when NFKC of the whole is, and then the same", () => {
  const unit = fc.oneof(
    fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
    fc.constantFrom(
      "a",
      "ｅ",
      "\u0301",
      "\u0323",
      "\u1160",
      "ﬁ",
      "\u00a8",
      "\u212a",
      "\uff9e",
      "가",
      "\u037e",
      "\u1fef",
    ),
  );
  fc.assert(
    fc.property(fc.array(unit), (units) => {
      const text = units.join("");
      const whole = text.normalize("NFKC");
      expect(isAscii(plainForm(text))).toBe(isAscii(whole));
      if (isAscii(whole)) expect(plainForm(text)).toBe(whole);
    }),
    { numRuns: 2000 },
  );
});

test("the equivalence holds for every single character", () => {
  for (let code = 0; code <= 0x10_ffff; code += 1) {
    const character = String.fromCodePoint(code);
    if (isAscii(plainForm(`a${character}b`)) !== isAscii(`a${character}b`.normalize("NFKC"))) {
      expect(code.toString(16)).toBe("no exception");
    }
  }
});
