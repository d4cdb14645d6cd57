/** The texts, the JSON and the turns that hostile answers are made of. */
import fc from "fast-check";

/** What a model may write, and what nobody would. */
export const texts: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    "",
    " ",
    "there are 412 pallets",
    "[DONE]",
    "a\na\na\na\na\na",
    "!".repeat(300),
    "<think>hm",
    "<think>hm</think>there are 412 pallets",
    "</think>412",
    "<tool_call>{",
    '<tool_call>{"name":"list_dir","arguments":{"path":"."}}</tool_call>',
    '<function=read_file>{"path":"docs/a.md"}',
    '[TOOL_CALLS][{"name":"finish","arguments":{"answer":"412"}}]',
    '```json\n{"summary":"412","count":412}\n```',
    "\u001b[2J\u001b]0;x\u0007\u202e412",
    "\u0000\u0001\u007f\u0085\u2028",
    "\ud83d\ude00 \ud83d",
    "\udc00",
    "é",
    "__proto__",
    "x".repeat(5000),
  ),
  fc.string({ maxLength: 40 }),
  fc.string({ unit: "binary", maxLength: 40 }),
);

const NAMES = ["read_file", "list_dir", "search_files", "write_file", "edit_file", "finish"];

/** Arguments of calls: such as run, such as nearly do, and such as are none. */
const given: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    '{"path":"docs/a.md"}',
    '{"path":"."}',
    '{"path":"../../etc/passwd"}',
    '{"path":"/etc/passwd"}',
    '{"path":"docs\\\\a.md"}',
    '{"path":"src/n.txt\\u0000"}',
    '{"path":"docs/a.md","offset":-1,"limit":0}',
    '{"path":"docs/a.md","offset":1e300}',
    '{"pattern":"(?i)pallets"}',
    '{"pattern":"(a+)+$"}',
    '{"pattern":"(","mode":"files"}',
    '{"pattern":".","glob":"**/[!a]*{b,c}"}',
    '{"answer":"there are 412 pallets"}',
    '{"answer":""}',
    '{"answer":null}',
  ),
  fc.constantFrom(
    '{"path":"src/n.txt","content":"412\\n"}',
    '{"path":"src/new/m.txt","content":""}',
    '{"path":"src/n.txt","content":"\\ud800"}',
    '{"path":"docs/a.md","content":"x"}',
    '{"path":".git/hooks/post-checkout","content":"x"}',
    '{"path":"src/n.txt","old_string":"1","new_string":"2"}',
    '{"path":"src/n.txt","old_string":"","new_string":"2"}',
    '{"path":"src/n.txt","old_string":"1","new_string":"1"}',
    `{"path":"src/big.txt","content":"${"y".repeat(70_000)}"}`,
  ),
  fc.constantFrom("", "{", '{"path":"docs/a', "nonsense", "[1]", "null", "{}", '{"path":1}', '{"path":"a","path":"b"}'),
  fc.constantFrom(
    '```{"path":"docs/a.md"}```',
    "[".repeat(3000),
    `${'{"a":'.repeat(3000)}1${"}".repeat(3000)}`,
    "1e999",
  ),
  fc.json(),
  fc.string({ unit: "binary", maxLength: 30 }),
);

/** JSON of any kind, as text: also such as no program would write. */
export const json: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom("null", "true", "0", "-1", "1.5", '""', '"x"', "[]", "{}", "[[]]", '{"a":1}', '["a"]', "-0", "1e999"),
  fc.constantFrom(
    "9007199254740991",
    "123456789012345678901234567890",
    '{"a":1,"a":2}',
    '{"__proto__":{"a":1}}',
    '"\\ud800"',
    '{"message":null,"code":"x"}',
    '{"message":"boom","code":429}',
    '{"message":"boom","code":503}',
    `${"[".repeat(4000)}${"]".repeat(4000)}`,
    `${'{"a":'.repeat(200_000)}1${"}".repeat(200_000)}`,
  ),
  fc.json(),
);

const call = fc.record({
  name: fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...NAMES) }, { weight: 1, arbitrary: texts }),
  given,
  id: fc.constantFrom<(string | null)[]>("own", "own", "own", null, "", "same"),
  index: fc.constantFrom<("own" | number | null)[]>("own", "own", "own", null, 0, 7, -1),
  pieces: fc.constantFrom(1, 1, 2, 5),
  /** "named": the name comes with every piece. */
  as: fc.constantFrom<("text" | "named" | "value")[]>("text", "text", "named", "value"),
});
export type Call = typeof call extends fc.Arbitrary<infer T> ? T : never;

const count = fc.constantFrom(0, 1, 50, 4096, 8192, Number.MAX_SAFE_INTEGER, -1, 1.5);

/** One turn of a model. */
export const turn = fc.record({
  content: fc.array(texts, { maxLength: 4 }),
  reasoning: fc.array(texts, { maxLength: 2 }),
  calls: fc.oneof(
    { weight: 2, arbitrary: fc.array(call, { maxLength: 0 }) },
    { weight: 3, arbitrary: fc.array(call, { minLength: 1, maxLength: 4 }) },
    { weight: 1, arbitrary: fc.array(call, { minLength: 8, maxLength: 70 }) },
  ),
  finish_reason: fc.constantFrom<(string | null)[]>(
    "stop",
    "stop",
    "tool_calls",
    "tool_calls",
    "length",
    "content_filter",
    "",
    null,
  ),
  usage: fc.option(
    fc.record({
      prompt_tokens: count,
      completion_tokens: count,
      total_tokens: count,
      completion_tokens_details: fc.record({ reasoning_tokens: count }),
      prompt_tokens_details: fc.record({ cached_tokens: count }),
    }),
  ),
  prefilled: fc.array(fc.nat(4000), { maxLength: 2 }),
});

/** What may come where the fields of a schema are asked for. */
export const content: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom('{"summary":"412 pallets","count":412,"items":["a","b"]}', '{"summary":"412"}'),
  },
  {
    weight: 2,
    arbitrary: fc
      .record({ summary: json, count: json, items: json })
      .map(({ summary, count, items }) => `{"summary":${summary},"count":${count},"items":${items}}`),
  },
  { weight: 1, arbitrary: json },
  { weight: 1, arbitrary: texts },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '{"summary":"412","items":["a","b',
      '{"summary":"412","summary":"1"}',
      '{"summary":"\\ud800"}',
      '{"Summary":"x"}',
      '{"summary":1e999}',
    ),
  },
);
