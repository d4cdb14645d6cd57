import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import * as v from "valibot";
import { ConfigFile } from "../../../src/core/config/config.ts";
import { BUILT_IN, CONFIG_BYTES, readConfig, readConfigBytes } from "../../../src/core/config/read.ts";
import type { JsonValue } from "../../../src/core/json/value.ts";

const SEAT = { name: "qwen-9b", base_url: "http://127.0.0.1:11436", model: "qwen3.5-9b", engine: "llama.cpp" } as const;

const told = (text: string) => readConfig(text).issues.map(({ code, path }) => `${code} ${path}`.trimEnd());
const of = (config: unknown) => told(JSON.stringify(config));
const ofSeat = (more: object) => of({ seats: [{ ...SEAT, ...more }] });

test("readConfig() takes the example of the specification as it is", () => {
  const example = `{
    "delegation_enabled": true,
    "remotes": [
      {"url": "http://100.64.0.7:18811", "token_env": "WRIT_NODE_TOKEN"},
      {"url": "https://gpu-b.example.net", "token_env": "WRIT_GPU_B", "ca_file": "/etc/ssl/gpu-b.pem"}
    ],
    "seats": [{"name": "qwen-9b", "base_url": "http://127.0.0.1:11436", "model": "qwen3.5-9b", "engine": "llama.cpp",
      "proxy": "llama-swap", "api_key_env": "", "ctx_tokens": 32768, "slots": 2, "step_tokens": 4096, "final_tokens": 8192,
      "thinking": "auto", "profile": "research", "tools": true, "stream": true, "seed_reads": true, "temperature": 0,
      "seed": 42, "extra_body": {}}],
    "default_seat": "qwen-9b",
    "agent_allow_write": false,
    "node": {"id": "", "listen": "127.0.0.1:18811", "token_env": "WRIT_NODE_TOKEN", "tls_cert": "", "tls_key": "",
      "max_running": 0, "max_queue": 0, "retain_hours": 24, "poll_lease_sec": 120, "drain_sec": 30, "restart_reruns": 1},
    "limits": {"width": 8, "contention_wait_sec": 90, "admission_wait_sec": 300, "slot_wait_sec": 1800,
      "capacity_wait_sec": 120, "orphan_grace_sec": 60, "orphan_policy": "replace", "call_deadline_sec": 1500,
      "mcp_wait_sec": 50, "same_tool": 8, "same_write_tool": 16},
    "quarantine": {"strikes": 2, "window_sec": 1800, "duration_sec": 1800},
    "env_rules": {"deny_tools": [], "max_calls_per_tool": {}, "max_observation_tokens": 0},
    "runs": {"keep_days": 30, "keep_contracts": true}
  }`;
  const { issues, values } = readConfig(example);
  expect(issues).toEqual([]);
  expect(values).toEqual(v.parse(ConfigFile, JSON.parse(example)));
});

test("an empty object has every default, and so has no file at all", () => {
  const { issues, values } = readConfig("{}");
  expect(issues).toEqual([]);
  expect(values).toEqual(v.parse(ConfigFile, {}));
  expect(BUILT_IN.values).toEqual(values);
});

test("a seat has its defaults, and needs its four keys", () => {
  expect(readConfig(JSON.stringify({ seats: [SEAT] })).values.seats).toEqual([
    {
      ...SEAT,
      proxy: "",
      api_key_env: "",
      ctx_tokens: 0,
      slots: 0,
      step_tokens: 4096,
      final_tokens: 8192,
      thinking: "auto",
      profile: "research",
      tools: true,
      stream: true,
      seed_reads: true,
      temperature: 0,
      seed: 42,
      extra_body: {},
    },
  ]);
  expect(of({ seats: [{}] })).toEqual(
    ["name", "base_url", "model", "engine"].map((key) => `missing_key seats[0].${key}`),
  );
});

describe("what is no JSON", () => {
  test.each([
    ["", "not_json"],
    ["\ufeff{}", "not_json"],
    ["{,}", "not_json"],
    ["// no\n{}", "not_json"],
    ["seats:\n  - name: a", "not_json"],
    ['{"limits": {"width": 1, "width": 2}}', "duplicate_key"],
    ["[".repeat(65), "too_deep"],
    ['{"default_seat": "\\ud800"}', "not_json"],
    ["[]", "type_mismatch"],
    ["null", "type_mismatch"],
  ])("readConfig(%j) is %s", (text, code) => {
    expect(told(text)).toEqual([code]);
  });

  test("a key given twice is told with both places", () => {
    expect(readConfig('{\n "a": 1,\n "a": 2}').issues).toEqual([
      {
        code: "duplicate_key",
        path: "",
        message: 'Key "a" is given twice: it stands at line 2, column 2 already',
        hint: "Keep one of them",
        line: 3,
        column: 2,
      },
    ]);
  });

  test("a file of exactly the limit is read, and one byte more is not", () => {
    const text = (size: number) => new TextEncoder().encode(`{}${" ".repeat(size - 2)}`);
    expect(readConfigBytes(text(CONFIG_BYTES)).issues).toEqual([]);
    expect(readConfigBytes(text(CONFIG_BYTES + 1)).issues.map(({ code }) => code)).toEqual(["file_too_large"]);
  });

  test("bytes that are no UTF-8 are named", () => {
    expect(readConfigBytes(new Uint8Array([0x7b, 0xff, 0x7d])).issues[0]?.message).toBe("Byte 1 is no UTF-8");
  });
});

test("all that is wrong is told at once, with its place, in the order of the text", () => {
  const text = `{
  "seets": [],
  "limits": {"width": 9, "same_tool": "8", "orphan_policy": "move"},
  "seats": [{"name": "a b", "base_url": "ftp://x", "model": "m", "engine": "lama.cpp", "slots": 2.0}],
  "agent_allow_write": "yes"
}`;
  expect(
    readConfig(text).issues.map(({ code, path, message, hint, line, column }) =>
      [code, path, `${line}:${column}`, message, hint].join(" | "),
    ),
  ).toEqual([
    'unknown_key | seets | 2:3 | The config has no key "seets" | Did you mean "seats"?',
    "out_of_range | limits.width | 3:23 | It must be from 1 to 8, not 9 | ",
    "type_mismatch | limits.same_tool | 3:39 | It must be an integer, not a string | Write digits alone, without quotes, point or exponent",
    'bad_value | limits.orphan_policy | 3:61 | It must be "replace" or "wait", not "move" | ',
    "bad_value | seats[0].name | 4:22 | It must be a name of 1 to 64 letters, digits, dots, underscores and hyphens that begins with a letter or a digit | ",
    "bad_url | seats[0].base_url | 4:29 | It must begin with http:// or https:// | ",
    'bad_value | seats[0].engine | 4:76 | It must be "llama.cpp" or "vllm" or "ollama" or "openai", not "lama.cpp" | Did you mean "llama.cpp"?',
    "type_mismatch | seats[0].slots | 4:97 | It must be an integer, not the number 2.0 | Write digits alone, without quotes, point or exponent",
    "type_mismatch | agent_allow_write | 5:24 | It must be true or false, not a string | ",
  ]);
});

describe("integers are integer literals inside their range, never clamped", () => {
  test.each([
    ["limits", "width", 1, 8],
    ["limits", "contention_wait_sec", -1, 86_400],
    ["limits", "admission_wait_sec", -1, 86_400],
    ["limits", "capacity_wait_sec", -1, 86_400],
    ["limits", "slot_wait_sec", 1, 86_400],
    ["limits", "orphan_grace_sec", 1, 86_400],
    ["limits", "call_deadline_sec", 1, 86_400],
    ["limits", "mcp_wait_sec", 0, 86_400],
    ["node", "poll_lease_sec", 0, 86_400],
    ["node", "max_queue", -1_000_000, 1_000_000],
    ["quarantine", "strikes", 1, 1000],
    ["runs", "keep_days", 0, 36_500],
  ])("%s.%s is from %d to %d", (group, key, least, most) => {
    const at = (literal: string | number) => readConfig(`{"${group}": {"${key}": ${literal}}}`).issues[0] ?? null;
    expect(at(least)).toBe(null);
    expect(at(most)).toBe(null);
    for (const outside of [least - 1, most + 1, "99999999999999999999"]) {
      expect(at(outside)?.message).toBe(`It must be from ${least} to ${most}, not ${outside}`);
    }
    for (const spelling of [`${most}.0`, `${most}e0`, `"${most}"`, "null", "true"]) {
      expect(at(spelling)?.code).toBe("type_mismatch");
    }
  });

  test("a temperature may have a point, and both it and a seed may be null", () => {
    expect(ofSeat({ temperature: 0.7, seed: null })).toEqual([]);
    expect(ofSeat({ temperature: null, seed: -1 })).toEqual([]);
    expect(ofSeat({ temperature: 2.1 })).toEqual(["out_of_range seats[0].temperature"]);
    expect(
      told('{"seats": [{"name":"a","base_url":"http://[::1]","model":"m","engine":"vllm","temperature":1e999}]}'),
    ).toEqual(["out_of_range seats[0].temperature"]);
    expect(ofSeat({ seed: 0.5 })).toEqual(["type_mismatch seats[0].seed"]);
  });
});

describe("the rules of a seat", () => {
  test.each([
    [{ step_tokens: 4096, final_tokens: 4096 }, []],
    [{ step_tokens: 4096, final_tokens: 4095 }, ["bad_value seats[0].final_tokens"]],
    [{ step_tokens: 9000 }, ["bad_value seats[0].final_tokens"]],
    [{ engine: "ollama" }, ["missing_key seats[0].ctx_tokens"]],
    [{ engine: "ollama", ctx_tokens: 0 }, ["missing_key seats[0].ctx_tokens"]],
    [{ engine: "ollama", ctx_tokens: 4096 }, []],
    [{ engine: "openai" }, ["missing_key seats[0].ctx_tokens"]],
    [{ engine: "openai", ctx_tokens: 0 }, []],
    [{ engine: "vllm" }, []],
    [{ profile: "edit" }, []],
    [{ profile: "reserch" }, ["bad_value seats[0].profile"]],
    [{ proxy: "llama-swap" }, []],
    [{ proxy: "nginx" }, ["bad_value seats[0].proxy"]],
    [{ model: "" }, ["bad_value seats[0].model"]],
    [{ model: "a\nb" }, ["bad_value seats[0].model"]],
    [{ name: "a".repeat(64) }, []],
    [{ name: "a".repeat(65) }, ["bad_value seats[0].name"]],
    [{ name: "-a" }, ["bad_value seats[0].name"]],
    [{ extra_body: { top_k: 20, deep: { stream: true } } }, []],
    [{ extra_body: [] }, ["type_mismatch seats[0].extra_body"]],
    [{ temprature: 1 }, ["unknown_key seats[0].temprature"]],
  ])("of %j", (more, issues) => {
    expect(ofSeat(more)).toEqual(issues);
  });

  test.each([
    "messages",
    "tools",
    "tool_choice",
    "model",
    "stream",
    "grammar",
    "response_format",
    "structured_outputs",
  ])("extra_body may not set %s", (key) => {
    expect(ofSeat({ extra_body: { top_k: 1, [key]: null } })).toEqual([`reserved_key seats[0].extra_body.${key}`]);
  });

  test("a number of extra_body that no double holds is refused, where it stands", () => {
    const text = `{"seats": [${JSON.stringify(SEAT).replace(/}$/, ',"extra_body":{"n":9007199254740993}}')}]}`;
    const [issue] = readConfig(text).issues;
    expect([issue?.code, issue?.path]).toEqual(["bad_value", "seats[0].extra_body"]);
    expect(text.slice((issue?.column ?? 0) - 1)).toStartWith("9007199254740993");
  });

  test("what is wrong beside them does not hide them", () => {
    expect(ofSeat({ slots: "2", step_tokens: 9000 })).toEqual([
      "bad_value seats[0].final_tokens",
      "type_mismatch seats[0].slots",
    ]);
  });
});

describe("a key never stands in the file", () => {
  test.each(["sk-proj-1234", "a b", "1X", "é", "$KEY", "a=b"])(
    "%j is no name of a variable, and is not shown",
    (value) => {
      const [issue] = readConfig(JSON.stringify({ seats: [{ ...SEAT, api_key_env: value }] })).issues;
      expect(issue).toMatchObject({ code: "bad_value", path: "seats[0].api_key_env" });
      expect(JSON.stringify(issue)).not.toContain(JSON.stringify(value).slice(1, -1));
    },
  );

  test("a key that would be a name as well is known by its shape, and is not shown", () => {
    for (const value of [`ghp_${"a1B2".repeat(9)}`, "abcdef0123456789abcdef0123456789abcdef0123456789"]) {
      for (const config of [
        { seats: [{ ...SEAT, api_key_env: value }] },
        { node: { token_env: value } },
        { remotes: [{ url: "http://127.0.0.1:1", token_env: value }] },
      ]) {
        const [issue] = readConfig(JSON.stringify(config)).issues;
        expect(issue?.code).toBe("literal_secret");
        expect(JSON.stringify(issue)).not.toContain(value);
      }
    }
  });
});

describe("addresses", () => {
  test.each([
    ["http://127.0.0.1:8080", true],
    ["http://localhost:8080/v1/", true],
    ["http://gpu-a:8080", true],
    ["http://[::1]:8080", true],
    ["http://[fd00::1]", true],
    ["http://10.1.2.3", true],
    ["http://172.31.0.1", true],
    ["http://192.168.0.1", true],
    ["http://100.64.0.1", true],
    ["http://169.254.0.1", true],
    ["https://api.example.com/openai", true],
    ["https://8.8.8.8", true],
    ["http://8.8.8.8", false],
    ["http://172.32.0.1", false],
    ["http://100.128.0.1", false],
    ["http://0.0.0.0:8080", false],
    ["http://[2001:db8::1]", false],
    ["http://0x8080808", false],
    ["http://user:secret@127.0.0.1", false],
    ["http://@127.0.0.1", false],
    ["http://127.0.0.1?key=secret", false],
    ["http://127.0.0.1/#secret", false],
    ["http://127.0.0.1:0", false],
    ["http://127.0.0.1:99999", false],
    ["http://127.0.0.1 ", false],
    ["http:\\\\127.0.0.1", false],
    ["ftp://127.0.0.1", false],
    ["127.0.0.1:8080", false],
    ["http://", false],
    ["", false],
  ])("%j is taken: %p, for a seat and for a node, and never shown", (url, isTaken) => {
    expect(ofSeat({ base_url: url })).toEqual(isTaken ? [] : ["bad_url seats[0].base_url"]);
    expect(of({ remotes: [url] })).toEqual(isTaken ? [] : ["bad_url remotes[0]"]);
    expect(of({ remotes: [{ url }] })).toEqual(isTaken ? [] : ["bad_url remotes[0].url"]);
    expect(JSON.stringify(readConfig(JSON.stringify({ remotes: [url] })).issues)).not.toContain("secret");
  });

  test.each([
    ["127.0.0.1:18811", true],
    ["0.0.0.0:0", true],
    ["[::1]:18811", true],
    ["build-box:1", true],
    [":18811", false],
    ["127.0.0.1", false],
    ["127.0.0.1:65536", false],
    ["::1:18811", false],
    ["[::g]:1", false],
    ["1.2.3:80", false],
    ["a b:80", false],
  ])("node.listen %j is taken: %p", (listen, isTaken) => {
    expect(of({ node: { listen } })).toEqual(isTaken ? [] : ["bad_value node.listen"]);
  });
});

test.each([
  [{ node: { id: "node-a" } }, []],
  [{ node: { id: "local" } }, ["bad_value node.id"]],
  [{ node: { id: "LOCAL" } }, ["bad_value node.id"]],
  [{ node: { id: "a/b" } }, ["bad_value node.id"]],
  [{ node: { tls_cert: "/a.pem", tls_key: "/a.key" } }, []],
  [{ node: { tls_cert: "/a.pem" } }, ["missing_key node.tls_key"]],
  [{ node: { tls_key: "/a.key" } }, ["missing_key node.tls_cert"]],
  [{ node: { tls_cert: "a.pem", tls_key: "~/a.key" } }, ["bad_value node.tls_cert", "bad_value node.tls_key"]],
  [{ remotes: [{ url: "https://a", ca_file: "ca.pem" }] }, ["bad_value remotes[0].ca_file"]],
  [{ remotes: [{ url: "https://a", tokn_env: "A" }] }, ["unknown_key remotes[0].tokn_env"]],
  [{ remotes: [5] }, ["type_mismatch remotes[0]"]],
  [{ remotes: [{}] }, ["missing_key remotes[0].url"]],
  [{ env_rules: { deny_tools: ["write_file", "writefile"] } }, ["bad_value env_rules.deny_tools[1]"]],
  [
    { env_rules: { max_calls_per_tool: { read_file: 0, reed_file: 1 } } },
    ["unknown_key env_rules.max_calls_per_tool.reed_file"],
  ],
  [{ $schema: "./config.schema.json" }, []],
  [{ $schema: 1 }, ["type_mismatch $schema"]],
  [{ "odd key.": 1 }, ['unknown_key ["odd key."]']],
])("of %j it says what is wrong", (config, issues) => {
  expect(of(config)).toEqual(issues as string[]);
});

test("there are at most 64 seats", () => {
  const seats = Array.from({ length: 65 }, (_, index) => ({ ...SEAT, name: `s${index}` }));
  expect(of({ seats })).toEqual(["out_of_range seats"]);
  expect(of({ seats: seats.slice(1) })).toEqual([]);
});

test("the NATS form of a remote is refused as not built, whatever else it says", () => {
  const transport = { kind: "nats", servers: ["tls://a"], creds_env: "WRIT_NATS_CREDS", prefix: "writ.v1" };
  const { issues } = readConfig(JSON.stringify({ remotes: ["https://a", { name: "pool", transport }] }));
  expect(issues.map(({ code, path, message }) => [code, path, message])).toEqual([
    ["not_built", "remotes[1]", "The NATS transport is not built"],
  ]);
});

test("a file of nothing but faults is told in part, and counted", () => {
  const keys = Array.from({ length: 5000 }, (_, index) => `"k${index}": 1`).join(",");
  const { issues } = readConfig(`{${keys}}`);
  expect(issues.length).toBe(101);
  expect(issues.at(-1)).toMatchObject({ code: "more", message: "There are 4900 issues more" });
});

test("lineOf() knows what the file gives, and nothing else", () => {
  const { lineOf } = readConfig('{\n"limits": {\n"width": 4},\n"remotes": ["https://a",\n"https://b"]}');
  expect(["limits.width", "remotes[0]", "remotes[1]", "limits.same_tool", ""].map(lineOf)).toEqual([
    3,
    4,
    5,
    null,
    null,
  ]);
});

// Values that a config might hold at a key, right ones more often than wrong ones.
const anyValue = fc.oneof(
  fc.constantFrom<JsonValue>(0, 1, -1, 8, 4096, 1.5, "", "a", "local", "https://a.example", "127.0.0.1:1", true, null),
  fc.jsonValue({ maxDepth: 2 }).map((value) => value as JsonValue),
);
const groupOf = (keys: readonly string[]) => fc.dictionary(fc.constantFrom(...keys), anyValue, { maxKeys: 6 });
const keysOf = (key: "node" | "limits" | "quarantine" | "env_rules" | "runs") =>
  Object.keys(ConfigFile.entries[key].wrapped.entries);
const anySeat = fc
  .tuple(groupOf(Object.keys(ConfigFile.entries.seats.pipe[0].wrapped.item.entries)), fc.boolean())
  .map(([seat, isWhole]) => ({ ...(isWhole ? SEAT : {}), ...seat }));
const anyConfig = fc.record(
  {
    delegation_enabled: anyValue,
    agent_allow_write: anyValue,
    default_seat: anyValue,
    seats: fc.oneof(fc.array(anySeat, { maxLength: 3 }), anyValue),
    remotes: fc.array(fc.oneof(anyValue, groupOf(["url", "token_env", "ca_file"])), { maxLength: 3 }),
    node: groupOf(keysOf("node")),
    limits: groupOf(keysOf("limits")),
    quarantine: groupOf(keysOf("quarantine")),
    env_rules: groupOf(keysOf("env_rules")),
    runs: groupOf(keysOf("runs")),
  },
  { requiredKeys: [] },
);

test("a config without an issue is what the schema says, and what the schema refuses has an issue", () => {
  fc.assert(
    fc.property(anyConfig, (config) => {
      const text = JSON.stringify(config);
      const { issues, values } = readConfig(text);
      const parsed = v.safeParse(ConfigFile, JSON.parse(text));
      if (issues.length === 0)
        expect({ ok: parsed.success, values }).toEqual({ ok: true, values: parsed.output as never });
      else if (parsed.success) {
        // What the schema does not say: spelling, and what stands in rules.ts.
        const shapes = new Set(["unknown_key", "out_of_range"]);
        expect(issues.filter(({ code }) => shapes.has(code))).toEqual([]);
      }
    }),
    { numRuns: 500 },
  );
});

test("readConfig() returns on any text", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: "binary" }),
        fc.json(),
        fc.string({ unit: "binary" }).map((s) => `{"seats":[${s}`),
      ),
      (text) => {
        expect(Array.isArray(readConfig(text.toWellFormed()).issues)).toBe(true);
      },
    ),
    { numRuns: 500 },
  );
});

test("readConfigBytes() returns on any bytes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      expect(Array.isArray(readConfigBytes(bytes).issues)).toBe(true);
    }),
  );
});
