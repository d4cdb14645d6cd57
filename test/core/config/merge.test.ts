import { describe, expect, test } from "bun:test";
import { type ConfigOptions, type Environment, seatToFind } from "../../../src/core/config/environment.ts";
import { badConfig } from "../../../src/core/config/issue.ts";
import { mergeConfig, type Source, valuesOf } from "../../../src/core/config/merge.ts";
import { BUILT_IN, readConfig } from "../../../src/core/config/read.ts";
import type { FoundSeat } from "../../../src/core/config/seat.ts";
import { seatWith } from "../../../src/core/config/seat-with.ts";

const SEAT = { name: "qwen", base_url: "http://127.0.0.1:8080/v1/", model: "qwen", engine: "llama.cpp" } as const;
const FOUND: FoundSeat = { engine: "vllm", proxy: "", models: ["first", "second"], ctx_tokens: 16_384 };

type Given = {
  readonly file?: object;
  readonly environment?: Environment;
  readonly options?: ConfigOptions;
  readonly found?: FoundSeat | null;
};

function merged({ file, environment = {}, options = {}, found = null }: Given) {
  const read = file === undefined ? BUILT_IN : readConfig(JSON.stringify(file, null, 1));
  return mergeConfig(read, environment, options, found);
}

function sound(given: Given) {
  const effective = merged(given);
  if (!effective.ok) throw new Error(JSON.stringify(effective.issues));
  const sourceOf = (path: string) => shownSource(effective.sources.get(path));
  return { config: effective.config, sourceOf };
}

function issuesOf(given: Given) {
  const effective = merged(given);
  return effective.ok ? [] : effective.issues.map(({ code, path }) => `${code} ${path}`);
}

function shownSource(source: Source | undefined): string {
  if (source === undefined) return "none";
  return source.kind === "file" ? `file:${source.line}` : "name" in source ? source.name : source.kind;
}

test("without a file, a variable or an option everything is the default", () => {
  const { config } = sound({});
  expect(config).toMatchObject({
    delegation_enabled: true,
    remotes: [],
    seats: [],
    default_seat: "",
    agent_allow_write: false,
  });
  expect(config.node.listen).toBe("127.0.0.1:18811");
  expect(config.limits).toMatchObject({ width: 8, orphan_policy: "replace", mcp_wait_sec: 50 });
  const effective = merged({});
  expect(effective.ok && [...effective.sources.values()].every(({ kind }) => kind === "default")).toBe(true);
});

describe("an option outranks a variable, that the file, and the file the default", () => {
  const file = { node: { listen: "127.0.0.1:1", id: "a" }, limits: { width: 2 }, agent_allow_write: true };
  const environment = { WRIT_NODE_LISTEN: "127.0.0.1:2", WRIT_NODE_ID: "b", WRIT_AGENT_ALLOW_WRITE: "false" };
  const options = { listen: "127.0.0.1:3", width: "3" };

  test.each([
    [{}, ["127.0.0.1:18811", "default"]],
    [{ file }, ["127.0.0.1:1", "file:3"]],
    [{ file, environment }, ["127.0.0.1:2", "WRIT_NODE_LISTEN"]],
    [{ file, environment, options }, ["127.0.0.1:3", "--listen"]],
    [{ environment }, ["127.0.0.1:2", "WRIT_NODE_LISTEN"]],
    [{ file, options }, ["127.0.0.1:3", "--listen"]],
  ] as const)("node.listen of %j", (given, [listen, source]) => {
    const { config, sourceOf } = sound(given);
    expect([config.node.listen, sourceOf("node.listen")]).toEqual([listen, source]);
  });

  test("and so do the others", () => {
    const { config, sourceOf } = sound({ file, environment, options });
    expect([config.node.id, sourceOf("node.id")]).toEqual(["b", "WRIT_NODE_ID"]);
    expect([config.agent_allow_write, sourceOf("agent_allow_write")]).toEqual([false, "WRIT_AGENT_ALLOW_WRITE"]);
    expect([config.limits.width, sourceOf("limits.width")]).toEqual([3, "--width"]);
    expect(sourceOf("limits.same_tool")).toBe("default");
  });

  test("a variable that is empty or blank is as one that is not there", () => {
    const blank = {
      WRIT_NODE_LISTEN: "",
      WRIT_NODE_ID: "  ",
      WRIT_AGENT_ALLOW_WRITE: "",
      WRIT_REMOTES: " ",
      WRIT_SEAT_URL: "",
    };
    expect(sound({ file, environment: blank }).config).toEqual(sound({ file }).config);
  });
});

describe("remotes", () => {
  const file = {
    remotes: ["http://10.0.0.1:18811/", { url: "https://gpu.example", token_env: "GPU_TOKEN", ca_file: "/ca.pem" }],
  };

  test("a text and an object become the same form, without a slash at the end", () => {
    const { config, sourceOf } = sound({ file });
    expect(config.remotes).toEqual([
      { url: "http://10.0.0.1:18811", token_env: "WRIT_NODE_TOKEN", ca_file: "" },
      { url: "https://gpu.example", token_env: "GPU_TOKEN", ca_file: "/ca.pem" },
    ]);
    expect(["remotes[0].url", "remotes[0].token_env", "remotes[1].url", "remotes[1].token_env"].map(sourceOf)).toEqual([
      "file:3",
      "default",
      "file:5",
      "file:6",
    ]);
  });

  test("those of an option replace those of the variable, and those the file's, never merged", () => {
    const environment = { WRIT_REMOTES: "http://10.0.0.2, http://10.0.0.3/" };
    const urls = (given: Given) => sound(given).config.remotes.map(({ url }) => url);
    expect(urls({ file, environment })).toEqual(["http://10.0.0.2", "http://10.0.0.3"]);
    expect(urls({ file, environment, options: { remotes: ["https://x.example"] } })).toEqual(["https://x.example"]);
    expect(urls({ file, environment, options: { remotes: [] } })).toEqual(["http://10.0.0.2", "http://10.0.0.3"]);
    expect(sound({ file, environment }).sourceOf("remotes[1].url")).toBe("WRIT_REMOTES");
  });

  test("a node that is named by its URL keeps what the file says of it", () => {
    const { config, sourceOf } = sound({ file, options: { remotes: ["https://gpu.example/"] } });
    expect(config.remotes).toEqual([{ url: "https://gpu.example", token_env: "GPU_TOKEN", ca_file: "/ca.pem" }]);
    expect([sourceOf("remotes[0].url"), sourceOf("remotes[0].token_env")]).toEqual(["--remote", "file:6"]);
  });

  test.each([
    [{ file: { remotes: ["https://a", { url: "https://a/" }] } }, ["not_unique remotes[1]"]],
    [{ options: { remotes: ["https://a", "https://A/"] } }, ["not_unique --remote"]],
    [{ environment: { WRIT_REMOTES: "https://a,ftp://b" } }, ["bad_url WRIT_REMOTES"]],
    [{ options: { remotes: ["https://u:p@a"] } }, ["bad_url --remote"]],
  ])("of %j it says what is wrong", (given, issues) => {
    expect(issuesOf(given)).toEqual(issues);
  });
});

describe("seats", () => {
  test("a slash and /v1 behind a base URL are taken off", () => {
    const bases = [
      "http://127.0.0.1:8080/v1/",
      "http://127.0.0.1:8080/v1",
      "http://127.0.0.1:8080/",
      "http://127.0.0.1:8080",
    ];
    const seats = [...bases, "https://Api.Example/openai/v1"].map((base_url, index) => ({
      ...SEAT,
      name: `s${index}`,
      base_url,
    }));
    expect(sound({ file: { seats } }).config.seats.map(({ base_url }) => base_url)).toEqual([
      ...bases.map(() => "http://127.0.0.1:8080"),
      "https://api.example/openai",
    ]);
  });

  test.each([
    [{ seats: [SEAT, { ...SEAT, name: "b" }, SEAT] }, ["not_unique seats[2].name"]],
    [{ seats: [SEAT], default_seat: "qwen" }, []],
    [{ seats: [SEAT], default_seat: "qwem" }, ["no_such_seat default_seat"]],
    [{ default_seat: "qwen" }, ["no_such_seat default_seat"]],
  ])("of %j it says what is wrong", (file, issues) => {
    expect(issuesOf({ file })).toEqual(issues);
  });

  test("the issue of the file's own rules stands beside those of the whole", () => {
    expect(issuesOf({ file: { seats: [SEAT, { ...SEAT, slots: -1 }], default_seat: "x" } })).toEqual([
      "out_of_range seats[1].slots",
      "not_unique seats[1].name",
      "no_such_seat default_seat",
    ]);
  });
});

describe("the seat of WRIT_SEAT_URL", () => {
  const environment = { WRIT_SEAT_URL: "http://127.0.0.1:9931/v1" };
  const file = { seats: [SEAT], default_seat: "qwen" };

  test("it is called env, stands first and is the default; what is not said is what its server says", () => {
    const { config, sourceOf } = sound({ file, environment, found: FOUND });
    expect(config.seats.map(({ name }) => name)).toEqual(["env", "qwen"]);
    expect(config.default_seat).toBe("env");
    expect(config.seats[0]).toEqual(
      seatWith({ name: "env", base_url: "http://127.0.0.1:9931", model: "first", engine: "vllm", ctx_tokens: 16_384 }),
    );
    expect(
      ["default_seat", "seats[0].base_url", "seats[0].model", "seats[0].slots", "seats[1].name"].map(sourceOf),
    ).toEqual(["WRIT_SEAT_URL", "WRIT_SEAT_URL", "server", "default", "file:4"]);
  });

  test("has no tools where its server drops them", () => {
    const { config, sourceOf } = sound({ environment, found: { ...FOUND, engine: "llama.cpp", takes_tools: false } });
    expect([config.seats[0]?.tools, sourceOf("seats[0].tools")]).toEqual([false, "server"]);
    expect(sound({ environment, found: FOUND }).config.seats[0]?.tools).toBe(true);
  });

  test("what is said outranks what its server says", () => {
    const said = { ...environment, WRIT_SEAT_MODEL: "m", WRIT_SEAT_ENGINE: "ollama", WRIT_SEAT_CTX: "2048" };
    const { config, sourceOf } = sound({ environment: said, found: FOUND });
    expect(config.seats[0]).toMatchObject({ model: "m", engine: "ollama", ctx_tokens: 2048 });
    expect(sourceOf("seats[0].ctx_tokens")).toBe("WRIT_SEAT_CTX");
  });

  test.each([
    [{}, null],
    [environment, "http://127.0.0.1:9931"],
    [{ ...environment, WRIT_SEAT_MODEL: "m" }, "http://127.0.0.1:9931"],
    [{ ...environment, WRIT_SEAT_ENGINE: "vllm" }, "http://127.0.0.1:9931"],
    [{ ...environment, WRIT_SEAT_MODEL: "m", WRIT_SEAT_ENGINE: "vllm" }, null],
    [{ ...environment, WRIT_SEAT_MODEL: "m", WRIT_SEAT_ENGINE: "ollama" }, "http://127.0.0.1:9931"],
    [{ ...environment, WRIT_SEAT_MODEL: "m", WRIT_SEAT_ENGINE: "ollama", WRIT_SEAT_CTX: "4096" }, null],
    [{ WRIT_SEAT_URL: "nonsense" }, null],
  ])("of %j its server is asked: %p", (variables, url) => {
    expect(seatToFind(variables)).toBe(url);
  });

  test("an ollama that has nothing loaded will load its own default", () => {
    const found = { engine: "ollama", proxy: "", models: ["m"], ctx_tokens: null } as const;
    expect(sound({ environment, found }).config.seats[0]?.ctx_tokens).toBe(4096);
  });

  test("a model that no request can carry is passed over", () => {
    const found = { ...FOUND, models: ["a\nb", "good"] };
    expect(sound({ environment, found }).config.seats[0]?.model).toBe("good");
  });

  test.each([
    [{ WRIT_SEAT_URL: "http://8.8.8.8" }, ["bad_url WRIT_SEAT_URL"]],
    [{ ...environment, WRIT_SEAT_ENGINE: "lama" }, ["bad_value WRIT_SEAT_ENGINE"]],
    [{ ...environment, WRIT_SEAT_CTX: "0" }, ["out_of_range WRIT_SEAT_CTX"]],
    [{ ...environment, WRIT_SEAT_CTX: "8k" }, ["out_of_range WRIT_SEAT_CTX"]],
    [{ ...environment, WRIT_SEAT_MODEL: "a\tb" }, ["bad_value WRIT_SEAT_MODEL"]],
    [{ WRIT_SEAT_ENGINE: "lama", WRIT_SEAT_CTX: "8k" }, []],
    [
      { WRIT_AGENT_ALLOW_WRITE: "yes", WRIT_NODE_ID: "local", WRIT_NODE_LISTEN: "18811" },
      ["bad_value WRIT_AGENT_ALLOW_WRITE", "bad_value WRIT_NODE_ID", "bad_value WRIT_NODE_LISTEN"],
    ],
  ])("of %j it says what is wrong, all at once", (variables, issues) => {
    expect(issuesOf({ environment: variables })).toEqual(issues);
  });

  test("a seat of the file that is called env as well is not unique", () => {
    expect(issuesOf({ file: { seats: [{ ...SEAT, name: "env" }] }, environment })).toEqual([
      "not_unique seats[0].name",
    ]);
  });
});

test.each(["0", "9", "2.0", "two", "", "1e0"])("--width %p is out of range", (width) => {
  expect(issuesOf({ options: { width } })).toEqual(["out_of_range --width"]);
});

describe("tokens", () => {
  const file = { remotes: ["https://a", { url: "https://b", token_env: "GPU_TOKEN" }] };

  test.each([
    [{}, []],
    [{ WRIT_NODE_TOKEN: "", GPU_TOKEN: "x".repeat(16) }, []],
    [{ GPU_TOKEN: "x".repeat(15) }, ["bad_token remotes[1].token_env"]],
    [{ WRIT_NODE_TOKEN: "short" }, ["bad_token remotes[0].token_env"]],
    [{ GPU_TOKEN: `${"x".repeat(20)}\n` }, ["bad_token remotes[1].token_env"]],
    [{ GPU_TOKEN: "ü".repeat(20) }, ["bad_token remotes[1].token_env"]],
  ])("of %j", (environment, issues) => {
    expect(issuesOf({ file, environment })).toEqual(issues);
  });

  test("the bearer of this node is looked at too, and no token is shown", () => {
    const effective = merged({ environment: { WRIT_NODE_TOKEN: "tooShortToken" } });
    expect(effective.ok ? [] : effective.issues.map(({ path }) => path)).toEqual(["node.token_env"]);
    expect(JSON.stringify(effective)).not.toContain("tooShortToken");
  });

  test("a token_env that is empty sends none", () => {
    expect(issuesOf({ file: { node: { token_env: "" } }, environment: { WRIT_NODE_TOKEN: "short" } })).toEqual([]);
  });
});

test("valuesOf() names each value once, and objects whose keys are not the config's are one value", () => {
  const file = {
    seats: [{ ...SEAT, extra_body: { a: { b: 1 } } }],
    env_rules: { max_calls_per_tool: { read_file: 3 }, deny_tools: ["edit_file"] },
  };
  const rows = valuesOf(sound({ file }).config);
  const paths = rows.map(({ path }) => path);
  expect(new Set(paths).size).toBe(paths.length);
  expect(rows).toContainEqual({ path: "seats[0].extra_body", value: { a: { b: 1 } } });
  expect(rows).toContainEqual({ path: "env_rules.max_calls_per_tool", value: { read_file: 3 } });
  expect(rows).toContainEqual({ path: "env_rules.deny_tools", value: ["edit_file"] });
  expect(rows).toContainEqual({ path: "remotes", value: [] });
  expect(paths.slice(0, 3)).toEqual(["delegation_enabled", "remotes", "seats[0].name"]);
});

test("each URL of several that makes no sense says which it is, and shows nothing of itself", () => {
  const messages = (environment: Record<string, string>, remotes: readonly string[] = []) => {
    const merged = mergeConfig(BUILT_IN, environment, { remotes });
    return merged.ok ? [] : merged.issues.map(({ path, message }) => `${path}: ${message.split(": ")[0]}`);
  };
  const password = "https://u:hunter2@b";
  expect(messages({ WRIT_REMOTES: `ftp://a,https://ok,${password}` })).toEqual([
    "WRIT_REMOTES: URL 1 of 3",
    "WRIT_REMOTES: URL 3 of 3",
  ]);
  expect(messages({}, ["ftp://a", "ftp://b"])).toEqual(["--remote: URL 1 of 2", "--remote: URL 2 of 2"]);
  expect(JSON.stringify(messages({ WRIT_REMOTES: password }))).not.toContain("hunter2");
  expect(messages({ WRIT_REMOTES: "ftp://a" })[0]).not.toContain("URL 1");
});

test.each<[Record<string, string>, Parameters<typeof mergeConfig>[2], string | null, string]>([
  [{}, { remotes: ["127.0.0.1:18811"], remotesAs: "URL" }, "/c.json", "What was typed is not valid: 1 issue"],
  [{}, { listen: "28999", width: "20" }, "/c.json", "What was typed is not valid: 2 issues"],
  [{ WRIT_REMOTES: "ftp://a" }, {}, "/c.json", "The config from the environment is not valid: 1 issue"],
  [
    { WRIT_REMOTES: "ftp://a" },
    { width: "20" },
    "/c.json",
    "What was typed, with the environment, is not valid: 2 issues",
  ],
  [{ WRIT_REMOTES: "ftp://a" }, {}, null, "The config from the environment is not valid: 1 issue"],
])("what is wrong is told of where it stands: %j %j", (environment, options, file, message) => {
  const merged = mergeConfig(BUILT_IN, environment, options);
  if (merged.ok) throw new Error("it is not valid");
  expect(badConfig(file, merged.issues).message).toBe(message);
});

test("an issue of the file is told of the file", () => {
  const merged = mergeConfig(readConfig('{"limits":{"width":9}}'), {}, { width: "20" });
  if (merged.ok) throw new Error("it is not valid");
  expect(badConfig("/c.json", merged.issues).message).toStartWith('The config "/c.json"');
});
