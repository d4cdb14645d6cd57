import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { endOfKeyBlock, openKeyBlock, REDACTED, redact, valueRedactor } from "../../../src/core/record/redact.ts";
import { stripSequences } from "../../../src/core/terminal.ts";

const ESC = "\u001b";
const BEGIN = "-----BEGIN RSA PRIVATE KEY-----";
const END = "-----END RSA PRIVATE KEY-----";

/** Letters and digits in plenty; put together here so that no scanner takes a test for a leak. */
function body(length: number): string {
  return "a1B2".repeat(length).slice(0, length);
}

describe("redact() by shape", () => {
  test.each([
    ["a private key", `x\n${BEGIN}\nMII\n${END}\ny`, `x\n${REDACTED}\ny`],
    ["a private key in lower case", `${BEGIN.toLowerCase()}\nMII\n${END.toLowerCase()}`, REDACTED],
    [
      "two private keys, what is between them kept",
      `${BEGIN}a${END} and ${BEGIN}b${END}`,
      `${REDACTED} and ${REDACTED}`,
    ],
    ["a private key that never ends, to the end", `x ${BEGIN}\nMII\n`, `x ${REDACTED}`],
    ["an AWS id", `id AKIA${"A1".repeat(8)}.`, `id ${REDACTED}.`],
    ["no AWS id that is too long", `AKIA${"A1".repeat(8)}B`, `AKIA${"A1".repeat(8)}B`],
    ["gho_", `gho_${body(20)}`, REDACTED],
    ["no ghp_ of 19", `ghp_${body(19)}`, `ghp_${body(19)}`],
    ["github_pat_", `github_pat_${body(10)}_${body(9)}`, REDACTED],
    ["glpat-", `glpat-${body(16)}`, REDACTED],
    ["xoxb-", `xoxb-${body(10)}`, REDACTED],
    ["xoxe-", `xoxe-${body(10)}`, REDACTED],
    ["sk-", `sk-${body(20)}`, REDACTED],
    ["no sk- inside a word", `task-${body(20)}`, `task-${body(20)}`],
    ["AIza", `AIza${body(35)}`, REDACTED],
    ["npm_", `npm_${body(30)}`, REDACTED],
    ["sk_live_", `sk_live_${body(16)}`, REDACTED],
    ["rk_test_", `rk_test_${body(16)}`, REDACTED],
    ["pypi-", `pypi-${body(16)}`, REDACTED],
    ["hf_", `hf_${body(20)}`, REDACTED],
    ["whsec_ with signs of base64", `whsec_${body(14)}+/`, REDACTED],
    ["sbp_", `sbp_${body(20)}`, REDACTED],
    ["a bot's token", `12345678:${body(35)}`, REDACTED],
    ["a JWT", `eyJ${body(8)}.${body(8)}.${body(3)}`, REDACTED],
    ["a JWT without a signature", `eyJ${body(8)}.${body(8)}.`, REDACTED],
    ["no JWT of two segments", `eyJ${body(8)}.${body(8)}`, `eyJ${body(8)}.${body(8)}`],
    ["a JWT behind a dash, what is before it kept", `x-eyJ${body(8)}.${body(8)}.z`, `x-${REDACTED}`],
    ["a URL's password", "HTTPS://me:p:w@host/x", `HTTPS://me:${REDACTED}@host/x`],
    ["no URL without a scheme's letter", "1://me:pw12@host", "1://me:pw12@host"],
    ["basic credentials", "BASIC  dXNlcjpwYXNz", `BASIC ${REDACTED}`],
    ["a pair with a colon and quotes", `{"my-api-key" : 'abcd'}`, `{"my-api-key" : '${REDACTED}'}`],
    ["a pair with more name behind the word", "TOKEN_FILE=/run/x", `TOKEN_FILE=${REDACTED}`],
    ["no pair with a value of three", "token=abc", "token=abc"],
    ["each pair of several", "token=abcd,secret=efgh", `token=${REDACTED},secret=${REDACTED}`],
  ])("marks %s", (_, text, marked) => {
    expect(redact(text, "output")).toBe(marked);
  });

  test.each([
    "passwd",
    "passphrase",
    "secret",
    "accesskey",
    "access-key",
    "account_key",
    "private_key",
    "credential",
    "credentials",
  ])("marks the value of %s", (word) => {
    expect(redact(`${word}=abcd`, "output")).toBe(`${word}=${REDACTED}`);
  });

  test.each([
    ["a commit", "9fceb02d0ae598e95dc970b74767f19372d61af8"],
    ["a UUID", "123e4567-e89b-12d3-a456-426614174000"],
    ["a lock file's digest", "sha512-z3Hk0+8fT/3y5Z0F6n9cQ=="],
    ["a path", "/usr/lib/node_modules/npm_config/hf_hub/file.ts:12:3"],
    ["a URL with a port", "https://localhost:8080/@scope"],
  ])("leaves %s", (_, text) => {
    expect(redact(text, "output")).toBe(text);
  });

  test.each([
    ["a colour", `${ESC}[1;31m`],
    ["a private sequence", `${ESC}[?25h`],
    ["a character set", `${ESC}(B`],
    ["a title", `${ESC}]0;title\u0007`],
    ["an 8-bit colour", "\u009b0m"],
  ])("marks a token directly behind %s", (_, sequence) => {
    expect(redact(`${sequence}ghp_${body(20)}`, "output")).toBe(`${sequence}${REDACTED}`);
    expect(redact(`${sequence}AKIA${"A1".repeat(8)}`, "output")).toBe(`${sequence}${REDACTED}`);
    expect(redact(`${sequence}eyJ${body(8)}.${body(8)}.`, "output")).toBe(`${sequence}${REDACTED}`);
    expect(redact(`${sequence}bearer ${body(8)}`, "output")).toBe(`${sequence}bearer ${REDACTED}`);
    expect(redact(`${sequence}token=abcd`, "output")).toBe(`${sequence}token=${REDACTED}`);
  });

  test("keeps a token in a word, also when the word looks like the end of a colour", () => {
    expect(redact(`[31mghp_${body(20)}`, "output")).toBe(`[31mghp_${body(20)}`);
  });

  test("of a command leaves pairs alone and marks all else", () => {
    expect(redact(`x --token=abcd -H "Authorization: Bearer ${body(8)}"`, "command")).toBe(
      `x --token=abcd -H "Authorization: Bearer ${REDACTED}"`,
    );
  });
});

// The rules as they are written, in quadratic time.
const EDGE = String.raw`(?:\b|(?<=\x1b\[[0-?]*[ -/]*[@-~]))`;
const WORD =
  "(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|account[_-]?key|private[_-]?key|credential)";
const AS_WRITTEN: readonly (readonly [rule: string, pattern: RegExp, marked: string, alphabet: readonly string[]])[] = [
  [
    "1",
    /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/gi,
    REDACTED,
    ["-----BEGIN ", "-----END ", "RSA ", "PRIVATE KEY-----", "-----", "-", "PRIVATE KEY", "x", "\n"],
  ],
  [
    "4",
    new RegExp(String.raw`${EDGE}eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`, "g"),
    REDACTED,
    ["eyJ", "eyJaaaaaaaa", "aaaaaaaa.", ".aaaaaaaa.", "a", "-", ".", " ", `${ESC}[0m`],
  ],
  [
    "5",
    /([a-z][a-z0-9+.-]*:\/\/[^\s:/@]+:)[^\s@/]+(@)/gi,
    `$1${REDACTED}$2`,
    ["a", "1", "a://u", "a://u:", "://", ":", "/", "p@", "@", "+", " ", "é"],
  ],
  [
    "7",
    new RegExp(String.raw`\b([A-Za-z0-9_.-]*${WORD}[A-Za-z0-9_.-]*)(["']?\s*[:=]\s*["']?)([^\s"',;]{4,})`, "gi"),
    `$1$2${REDACTED}`,
    ["token", "SECRET", "api-key", "a", ".", "-", "=", ":", '"', "'", " ", "\n", "abcd", "ab", ";", "é", `${ESC}[0m`],
  ],
];

test.each(AS_WRITTEN)("redact() does what rule %s says literally", (rule, pattern, marked, alphabet) => {
  const texts = fc.array(fc.constantFrom(...alphabet), { maxLength: 24 }).map((parts) => parts.join(""));
  let matches = 0;
  fc.assert(
    fc.property(texts, (text) => {
      // Where a sequence hides a match, the text goes without its sequences.
      const literal = text.replace(pattern, marked);
      const plain = stripSequences(text).replace(pattern, marked);
      const expected = stripSequences(literal) === plain ? literal : plain;
      if (expected !== text) matches += 1;
      expect(redact(text, rule === "7" ? "output" : "command")).toBe(expected);
    }),
    { numRuns: 3000 },
  );
  expect(matches).toBeGreaterThan(100);
});

const HIDDEN = "ghp_QbCdEfGhIjKlMnOpQrStUvWxYz0123456789";

test.each([
  {
    what: "a highlight of its beginning",
    text: `GITHUB=${ESC}[01;31m${ESC}[Kghp_${ESC}[m${ESC}[K${HIDDEN.slice(4)} end`,
  },
  { what: "a colour in its middle", text: `${HIDDEN.slice(0, 9)}${ESC}[1m${HIDDEN.slice(9)}` },
  { what: "a coloured key and value", text: `${ESC}[32mpassword${ESC}[0m=${ESC}[33mQbCdEfGhIjKl` },
  { what: "a C1 sequence in its middle", text: `${HIDDEN.slice(0, 9)}\x9b1m${HIDDEN.slice(9)}` },
])("a secret does not hide behind $what", ({ text }) => {
  const marked = redact(text, "output");
  expect(marked).toContain("[REDACTED]");
  expect(stripSequences(marked)).not.toMatch(/QbCd|IjKl|6789/);
});

test("a secret of the environment does not hide behind a colour", () => {
  const values = valueRedactor({ X_TOKEN: "abcdef123456gh" });
  expect(redact(`abcdef${ESC}[1m123456gh`, "output", values)).toBe("[REDACTED]");
});

test("colours stay where they hide nothing", () => {
  const text = `${ESC}[31m${HIDDEN}${ESC}[0m ${ESC}[32mok${ESC}[0m`;
  expect(redact(text, "output")).toBe(`${ESC}[31m[REDACTED]${ESC}[0m ${ESC}[32mok${ESC}[0m`);
});

test("redact() takes hostile text of a whole window", () => {
  const parts = [
    "a.",
    "token",
    "eyJeyJ-eyJ-",
    "eyJaaaaaaaa.",
    "a",
    "sk-",
    BEGIN,
    "-----BEGIN ",
    "a://",
    `${ESC}[0;`,
    " ",
  ];
  for (const part of parts) {
    const text = part.repeat(Math.floor(65_536 / part.length));
    for (const end of ["", "=", ".", "@", "m"]) expect(redact(text + end, "output").length).toBeGreaterThan(0);
  }
});

test.each([
  ["no key", "text", -1],
  ["a closed key", `${BEGIN}a${END}`, -1],
  ["an open key", `x${BEGIN}a`, 1 + BEGIN.length],
  ["a closed key and an open one", `${BEGIN}${END}${BEGIN}`, 2 * BEGIN.length + END.length],
  ["an end without a beginning", `a${END}`, -1],
])("openKeyBlock() of %s", (_, text, expected) => {
  expect(openKeyBlock(text)).toBe(expected);
});

test("endOfKeyBlock() is behind the first end line", () => {
  expect(endOfKeyBlock(`a${END}b${END}`)).toBe(1 + END.length);
  expect(endOfKeyBlock("a")).toBe(-1);
});

describe("valueRedactor()", () => {
  const marks = (environment: Record<string, string>, text: string) => valueRedactor(environment)?.(text) ?? null;

  test.each(["API_KEY", "token", "MySecretName", "PGPASSWORD", "AWS_CREDS", "BASIC_AUTH", "AUTHENTICATION"])(
    "takes the value of %s",
    (name) => {
      expect(marks({ [name]: "hunter22" }, "x hunter22 y")).toBe(`x ${REDACTED} y`);
    },
  );

  test.each([
    ["a harmless name", { HOME: "/home/user" }],
    ["an author's name", { GIT_AUTHOR_NAME: "Some Body" }],
    ["seven characters", { API_KEY: "hunter2" }],
    ["seven code points in more code units", { API_KEY: "😀😀😀😀😀😀😀" }],
    ["nothing", {}],
  ])("is null for %s", (_, environment) => {
    expect(valueRedactor(environment)).toBeNull();
  });

  test("passes over a variable that is not set", () => {
    expect(valueRedactor({ API_KEY: undefined })).toBeNull();
  });

  const value = '???>>>p"ss\\wörd/+';
  test.each([
    ["as it is", value],
    ["JSON-escaped", JSON.stringify(value).slice(1, -1)],
    ["URL-encoded", encodeURIComponent(value)],
    ["in base64", Buffer.from(value).toString("base64")],
    ["in base64 for URLs", Buffer.from(value).toString("base64url")],
  ])("finds the value %s", (_, form) => {
    expect(marks({ API_KEY: value }, `<${form}>`)).toBe(`<${REDACTED}>`);
  });

  test("marks the longest of values that share a place, and leaves nothing of any", () => {
    const environment = { A_KEY: "abcdefgh", B_KEY: "abcdefghijkl", C_KEY: "klmnopqr" };
    expect(marks(environment, "xabcdefghijkly")).toBe(`x${REDACTED}y`);
    expect(marks(environment, "xabcdefghijklmnopqry")).toBe(`x${REDACTED}y`);
    expect(marks(environment, "abcdefghabcdefgh")).toBe(`${REDACTED}${REDACTED}`);
  });

  test("comes before the shapes, and in commands too", () => {
    const values = valueRedactor({ API_KEY: `${BEGIN}\nMII\n` });
    expect(redact(`${BEGIN}\nMII\nrest`, "command", values)).toBe(`${REDACTED}rest`);
  });

  test("takes a value that holds half of a surrogate pair", () => {
    expect(marks({ API_KEY: "hunter22\ud800" }, "hunter22\ufffd")).toBe(REDACTED);
  });

  test("takes an environment of 500 secrets", () => {
    const environment = Object.fromEntries(
      Array.from({ length: 500 }, (_, index) => [`KEY_${index}`, `value-number-${index}-of-many`]),
    );
    expect(marks(environment, "a value-number-499-of-many b value-number-500-of-many")).toBe(
      `a ${REDACTED} b value-number-500-of-many`,
    );
  });
});
