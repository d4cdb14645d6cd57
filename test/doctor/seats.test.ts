import { describe, expect, test } from "bun:test";
import type { ChatOutcome, ChatRequest } from "../../src/core/seat/endpoint.ts";
import { examine } from "../../src/doctor/examine.ts";
import {
  answered,
  configLook,
  doctorWorld,
  type EndpointScript,
  SEAT,
  scriptedEndpoint,
} from "../support/doctor-world.ts";

type Told = {
  readonly endpoint?: EndpointScript;
  readonly seat?: object;
  readonly load?: boolean;
};

async function told({ endpoint = {}, seat = {}, load = false }: Told = {}) {
  const opened = scriptedEndpoint(endpoint);
  const world = doctorWorld({
    asked: { only: { kind: "seat", name: "qwen" }, load },
    config: async () => configLook({ seats: [{ ...SEAT, ...seat }] }),
    openSeat: () => opened,
  });
  const findings = (await examine(world)).filter(({ check }) => check.startsWith("seat "));
  return {
    lines: findings.map(({ outcome, subject, message }) => `${outcome} ${subject}: ${message}`),
    findings,
    requests: opened.requests,
  };
}

const lineOf = async (subject: string, script: Told) =>
  (await told(script)).lines.find((line) => line.includes(` ${subject}: `)) ?? "none";

const isTool = ({ tools }: ChatRequest) => tools.length > 0;
const isFirstTool = (request: ChatRequest) => isTool(request) && request.messages.length === 1;
const isPlain = ({ tools, constraint }: ChatRequest) => tools.length === 0 && constraint === null;

test("a seat that does all that a leg asks of it passes each check", async () => {
  const { lines, requests } = await told();
  expect(lines).toEqual([
    "PASS connect: http://127.0.0.1:8080 answers",
    'PASS model: It serves "qwen3-8b"',
    "PASS window: 8192 tokens by the server",
    "PASS chat: It answered in 30 ms, 100 tokens a second",
    "PASS tools: It called a tool and used the result",
    "PASS structured: It answers by schema in the mode grammar",
    "PASS thinking off: No reasoning came back",
  ]);
  expect(requests.map(({ max_tokens }) => max_tokens)).toEqual([16, 512, 512, 256]);
  expect(requests.every(({ thinking }) => thinking === "off")).toBe(true);
  // A server refuses form beside tools.
  expect(requests.filter(({ tools, constraint }) => tools.length > 0 && constraint !== null)).toEqual([]);
});

describe("what the server says of itself", () => {
  test.each([
    ["gone", ["FAIL connect: nothing listens"]],
    ["not_served", ["PASS connect: http://127.0.0.1:8080 answers", "FAIL model: nothing listens"]],
    ["loading", ["PASS connect: http://127.0.0.1:8080 answers", "WARN model: nothing listens"]],
  ] as const)("%s ends the checks of this seat", async (state, lines) => {
    const { lines: found, requests } = await told({ endpoint: { look: { state, message: "nothing listens" } } });
    expect(found).toEqual([...lines]);
    expect(requests).toEqual([]);
  });

  test("what it does not tell is a warning, and the seat is tried all the same", async () => {
    const { lines } = await told({ endpoint: { look: { state: "unknown", message: "HTTP 404" } } });
    expect(lines[0]).toBe('WARN model: Whether it serves "qwen3-8b" is not told: HTTP 404');
    expect(lines).toHaveLength(6);
  });
});

describe("behind a proxy", () => {
  const stopped = { look: { state: "stopped", message: "it is not loaded" } } as const;

  test("a model that is not loaded is not loaded by a look", async () => {
    const { findings, requests } = await told({ endpoint: stopped, seat: { proxy: "llama-swap" } });
    expect(findings.at(-1)).toMatchObject({
      outcome: "SKIP",
      subject: "model",
      hint: "--load has it loaded and tried",
    });
    expect(requests).toEqual([]);
  });

  test("with --load it is loaded first, and tried", async () => {
    const { lines } = await told({ endpoint: stopped, seat: { proxy: "llama-swap" }, load: true });
    expect(lines.slice(0, 2)).toEqual([
      "PASS connect: http://127.0.0.1:8080 answers",
      "PASS load: The proxy loaded it",
    ]);
    expect(lines).toHaveLength(7);
  });

  test("one that cannot be loaded fails, and nothing else is tried", async () => {
    const warmUp: ChatOutcome = { kind: "died", status: 500, message: "unable to start process" };
    const { lines } = await told({ endpoint: { ...stopped, warmUp }, seat: { proxy: "llama-swap" }, load: true });
    expect(lines.at(-1)).toBe("FAIL load: unable to start process");
  });
});

test.each([
  [0, 8192, "PASS window: 8192 tokens by the server"],
  [8192, 8192, "PASS window: 8192 tokens by the server"],
  [4096, 8192, "PASS window: 8192 tokens by the server; the config uses 4096 of them"],
  [16_384, 8192, "FAIL window: The config says 16384 tokens, and the server has 8192"],
  [4096, null, "PASS window: 4096 tokens by the config; the server does not tell"],
  [0, null, "WARN window: It is not known: a prompt may turn out to be too long"],
])("a window of %p by the config and %p by the server: %s", async (ctx_tokens, window, line) => {
  expect(await lineOf("window", { endpoint: { window }, seat: { ctx_tokens } })).toBe(line);
});

describe("where no answer comes, that is told, and nothing further is asked", () => {
  test.each<[ChatOutcome, string]>([
    [
      { kind: "busy", status: 429, retry_after_sec: 1, message: "rate limit" },
      "WARN chat: Others keep it busy: rate limit",
    ],
    [{ kind: "loading", message: "loading" }, "WARN chat: It is loading: loading"],
    [{ kind: "refused", status: 401, message: "no key" }, "FAIL chat: It refused (HTTP 401): no key"],
    [{ kind: "died", status: null, message: "reset" }, "FAIL chat: reset"],
    [{ kind: "not_served", message: "no such model" }, "FAIL chat: no such model"],
    [
      { kind: "stalled", phase: "prefill", silent_ms: 240_000, allowed_ms: 240_000 },
      "FAIL chat: Nothing came for 240 s (prefill)",
    ],
    [{ kind: "too_large", bytes: 9_000_000 }, "FAIL chat: It answered with more than is kept: 9000000 bytes"],
    [{ kind: "aborted" }, "FAIL chat: There was no whole answer in 300 s"],
  ])("%j", async (outcome, line) => {
    const { lines, requests } = await told({ endpoint: { chat: () => outcome } });
    expect(lines.at(-1)).toBe(line);
    expect(requests).toHaveLength(1);
  });

  test("a key that is refused points at the config", async () => {
    const { findings } = await told({ endpoint: { chat: () => ({ kind: "refused", status: 403, message: "no" }) } });
    expect(findings.at(-1)?.hint).toBe("See api_key_env");
  });

  test("a script without turns for the doctor's questions points at the page that has them", async () => {
    const chat = () => ({ kind: "refused" as const, status: 400, message: "scripted seat: no turn fits this request" });
    const { findings } = await told({ endpoint: { chat } });
    expect(findings.at(-1)?.hint).toContain("writ docs scripted-seat");
  });

  test("an answer of nothing fails", async () => {
    const chat = (request: ChatRequest) => (isPlain(request) ? answered({}) : undefined);
    expect(await lineOf("chat", { endpoint: { chat } })).toBe("FAIL chat: It answered with nothing");
  });
});

describe("a tool call", () => {
  test("is not asked of a server that drops tools: the reason is told", async () => {
    const { lines, requests } = await told({ endpoint: { takesTools: false } });
    const line = "FAIL tools: The chat template of its model knows no tools: the server drops them without a word";
    expect(lines).toContain(line);
    expect(requests.filter(({ tools }) => tools.length > 0)).toEqual([]);
  });

  const first = (outcome: ChatOutcome) => ({
    chat: (request: ChatRequest) => (isFirstTool(request) ? outcome : undefined),
  });
  const call = { id: null, name: "look_up", arguments: '{"colour":"blue"}' };

  test.each<[string, ChatOutcome, string]>([
    [
      "markup in the text",
      answered({ content: '<tool_call>{"name":"look_up","arguments":{}}</tool_call>' }),
      "WARN tools: Its call came as markup in the text: the server does not parse it",
    ],
    [
      "markup that does not read",
      answered({ content: "<tool_call>look_up(blue)" }),
      "WARN tools: Its call came as markup in the text: the server does not parse it",
    ],
    ["no call", answered({ content: "The word is blue." }), "FAIL tools: It was told to call a tool, and called none"],
    [
      "another tool",
      answered({ calls: [{ ...call, name: "browse" }] }),
      'FAIL tools: It called "browse" with what is no call of look_up',
    ],
    [
      "arguments that are no JSON",
      answered({ calls: [{ ...call, arguments: "{" }] }),
      'FAIL tools: It called "look_up" with what is no call of look_up',
    ],
    ["a call without an id", answered({ calls: [call] }), "PASS tools: It called a tool and used the result"],
    [
      "a server that fails at it",
      { kind: "refused", status: 400, message: "tools need --jinja" },
      "FAIL tools: It refused (HTTP 400): tools need --jinja",
    ],
  ])("%s", async (_, outcome, line) => {
    expect(await lineOf("tools", { endpoint: first(outcome) })).toBe(line);
  });

  test("an answer that does not use the result is a warning", async () => {
    const chat = (request: ChatRequest) =>
      request.messages.length === 3 ? answered({ content: "It is blue." }) : undefined;
    expect(await lineOf("tools", { endpoint: { chat } })).toBe(
      "WARN tools: It called a tool, and its answer does not say what the tool returned",
    );
  });

  test("the result goes back under the id of the call, with arguments as they came", async () => {
    const { requests } = await told();
    expect(requests[2]?.messages.slice(1)).toEqual([
      {
        role: "assistant",
        content: "",
        tool_calls: [{ id: "c1", type: "function", function: { name: "look_up", arguments: '{"colour":"blue"}' } }],
      },
      { role: "tool", tool_call_id: "c1", content: "walrus" },
    ]);
  });

  test("a seat that the config says has no tools is not asked for any", async () => {
    const { lines, requests } = await told({ seat: { tools: false } });
    expect(lines.find((line) => line.includes("tools"))).toStartWith("SKIP tools");
    expect(requests.some(isTool)).toBe(false);
  });
});

describe("an answer by schema", () => {
  const byMode = (modes: Readonly<Record<string, ChatOutcome>>) => ({
    chat: ({ constraint }: ChatRequest) => (constraint === null ? undefined : modes[constraint.mode]),
  });
  const refused: ChatOutcome = { kind: "mode_refused", status: 400, message: "no grammar" };

  test("the first mode that works is named, with those that do not", async () => {
    const modes = { grammar: refused, json_schema: answered({ content: "Yes, it is." }) };
    expect(await lineOf("structured", { endpoint: byMode(modes) })).toBe(
      "PASS structured: It answers by schema in the mode json_object (grammar is refused, json_schema is ignored)",
    );
  });

  test("where none works, it fails", async () => {
    const wrong = answered({ content: '{"ok":"no"}' });
    const modes = { grammar: refused, json_schema: wrong, json_object: wrong, prompt: wrong };
    expect(await lineOf("structured", { endpoint: byMode(modes) })).toBe(
      "FAIL structured: It does not answer by schema: grammar is refused, json_schema is not kept to, json_object is not kept to, prompt is not kept to",
    );
  });

  test("a server that fails at it is told as such", async () => {
    expect(
      await lineOf("structured", { endpoint: byMode({ grammar: { kind: "died", status: 502, message: "cut" } }) }),
    ).toBe("FAIL structured: cut");
  });
});

test.each([
  [{ content: "ok", reasoning: "let me think" }, "WARN"],
  [{ content: "<think>hm</think>ok" }, "WARN"],
  [{ content: "<think>hm" }, "WARN"],
  [{ content: "ok" }, "PASS"],
])("of an answer %j the check that thinking is off is %s", async (completion, outcome) => {
  const chat = (request: ChatRequest) => (isPlain(request) ? answered(completion) : undefined);
  expect(await lineOf("thinking off", { endpoint: { chat } })).toStartWith(`${outcome} `);
});

describe("an ollama", () => {
  const seat = { engine: "ollama", ctx_tokens: 4096 };
  const isLong = (request: ChatRequest) => isPlain(request) && request.max_tokens === 1;
  const usage = (prompt_tokens: number) => ({
    prompt_tokens,
    completion_tokens: 1,
    reasoning_tokens: 0,
    cached_tokens: 0,
  });
  const reading = (tokens: number | null) => ({
    chat: (request: ChatRequest) =>
      isLong(request) ? answered({ content: "1", usage: tokens === null ? null : usage(tokens) }) : undefined,
  });

  test("is given a number for half of the tokens of its window", async () => {
    const { requests, lines } = await told({ seat, endpoint: { window: null } });
    const prompt = requests.find(isLong)?.messages[0]?.content ?? "";
    expect(prompt.split(" ")).toHaveLength(2048);
    expect(prompt.split(" ").every((word) => /^\d{3}$/.test(word))).toBe(true);
    expect(lines.slice(-2)).toEqual([
      "PASS long prompt: It read a prompt of half the window whole, 2048 tokens",
      "PASS loaded window: 8192 tokens",
    ]);
  });

  test.each([
    [2047, "FAIL long prompt: It read 2047 tokens of a prompt of 2048 or more: its window is smaller than 4096"],
    [2048, "PASS long prompt: It read a prompt of half the window whole, 2048 tokens"],
    [null, "WARN long prompt: It does not say how many tokens it read"],
  ])("that says it read %p tokens: %s", async (tokens, line) => {
    expect(await lineOf("long prompt", { seat, endpoint: { window: null, ...reading(tokens) } })).toBe(line);
  });

  test.each([
    [4095, "FAIL loaded window: It is loaded with 4095 tokens, and the config says 4096"],
    [4096, "PASS loaded window: 4096 tokens"],
    [null, "WARN loaded window: /api/ps does not list the model"],
  ])("that is loaded with %p tokens: %s", async (loaded, line) => {
    expect(await lineOf("loaded window", { seat, endpoint: { window: null, loaded } })).toBe(line);
  });
});

describe("a scripted seat is shown as such", () => {
  test("by the name of its model, from the first line on", async () => {
    const { findings } = await told({ endpoint: { isScripted: () => true } });
    expect(new Set(findings.map(({ check }) => check))).toEqual(new Set(["seat qwen (scripted)"]));
  });

  test("by its answers, whatever its model is called", async () => {
    const { findings } = await told({ endpoint: { isScripted: (requests) => requests.length > 0 } });
    expect(findings.find(({ subject }) => subject === "connect")?.check).toBe("seat qwen");
    expect(findings.find(({ subject }) => subject === "chat")?.check).toBe("seat qwen (scripted)");
  });

  test("also by the answer with which it refuses", async () => {
    const chat = (): ChatOutcome => ({ kind: "refused", status: 400, message: "HTTP 400: no turn" });
    const { findings } = await told({ endpoint: { chat, isScripted: (requests) => requests.length > 0 } });
    expect(findings.at(-1)).toMatchObject({ check: "seat qwen (scripted)", subject: "chat", outcome: "FAIL" });
  });
});

test("of several seats each is tried, and a finding is told as soon as it is made", async () => {
  const heard: string[] = [];
  const requests: number[] = [];
  const world = doctorWorld({
    config: async () => configLook({ seats: [SEAT, { ...SEAT, name: "other" }] }),
    openSeat: () =>
      scriptedEndpoint({
        chat: () => {
          requests.push(heard.length);
          return undefined;
        },
      }),
  });
  const findings = await examine(world, ({ check }) => heard.push(check));
  expect(heard).toEqual(findings.map(({ check }) => check));
  expect(new Set(heard.filter((check) => check.startsWith("seat")))).toEqual(new Set(["seat qwen", "seat other"]));
  // Findings were told between the requests.
  expect(new Set(requests).size).toBeGreaterThan(3);
});

test("the seat of the environment whose server is silent fails, and the others are tried", async () => {
  const look = configLook({ seats: [{ ...SEAT, name: "env" }, SEAT] });
  const world = doctorWorld({
    config: async () => (look.kind === "loaded" ? { ...look, silent: "nothing answers" } : look),
  });
  const lines = (await examine(world)).filter(({ check }) => check.startsWith("seat"));
  expect(lines[0]).toMatchObject({ check: "seat env", outcome: "FAIL", message: "nothing answers" });
  expect(lines.slice(1).every(({ check, outcome }) => check === "seat qwen" && outcome === "PASS")).toBe(true);
});

test("without a seat there is nothing to try, and of a config that is not valid nothing is tried", async () => {
  const of = async (config: object) =>
    (await examine(doctorWorld({ config: async () => configLook(config) }))).filter(({ check }) => check === "seat");
  const remotes = [{ url: "http://10.0.0.2:18811" }];
  expect(await of({ remotes })).toMatchObject([
    { outcome: "SKIP", message: "There is none: legs can only go to nodes", hint: null },
  ]);
  expect(await of({})).toMatchObject([
    {
      outcome: "SKIP",
      message: "There is none, and no node either: nothing can be delegated",
      hint: expect.stringContaining("writ config init"),
    },
  ]);
  expect(await of({ seats: [{}] })).toMatchObject([{ outcome: "SKIP", message: "The config is not valid" }]);
});
