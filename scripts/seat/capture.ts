/**
 * Asks the real server what the endpoint adapter and the scripted seat have to know, and writes its answers to
 * fixtures/llama-cpp/. Run by hand after the pinned server has changed; `npm run seat` must have installed it.
 *
 * Run: bun scripts/seat/capture.ts [CASE...]
 *
 * What differs from run to run is made the same: ids, times, measured speeds, this machine's paths.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installed, PACKAGES } from "./install.ts";
import { awaitUrl, end, launch, type Settings, TOOLS_TEMPLATE } from "./server.ts";

const OUT = join(import.meta.dir, "..", "..", "fixtures", "llama-cpp");
const LIMIT_MS = 120_000;
const KEY = "captured-with-this-key";

type Request = {
  readonly method?: "GET" | "POST";
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
};
type Case = {
  readonly name: string;
  readonly about: string;
  /** Which server is asked; one of SERVERS. */
  readonly of: keyof typeof SERVERS;
  readonly ask: Request;
  /** Requests that are open meanwhile, so that slots are taken. */
  readonly beside?: readonly Request[];
  /** Asked while the model is still loading. */
  readonly loading?: boolean;
};

const SERVERS = {
  plain: { template: "", slots: 2, slot_ctx: 2048 },
  tools: { template: TOOLS_TEMPLATE, slots: 2, slot_ctx: 2048 },
  thinks: { template: join(import.meta.dir, "thinks.jinja"), slots: 1, slot_ctx: 2048 },
  small: { template: TOOLS_TEMPLATE, slots: 1, slot_ctx: 512 },
  locked: { template: "", slots: 1, slot_ctx: 512, api_key: KEY },
} as const;

const CHAT = "/v1/chat/completions";
const HI = [{ role: "user", content: "Say hello." }];
const TOOLS = [
  {
    type: "function",
    function: {
      name: "read_file",
      description: "Read a workspace file as numbered lines.",
      parameters: {
        type: "object",
        properties: { path: { type: "string" } },
        required: ["path"],
        additionalProperties: false,
      },
    },
  },
  {
    type: "function",
    function: {
      name: "finish",
      description: "End the task with the final answer text.",
      parameters: {
        type: "object",
        properties: { answer: { type: "string" } },
        required: ["answer"],
        additionalProperties: false,
      },
    },
  },
];
const read = (n: number, path: string, text: string) => [
  {
    role: "assistant",
    content: "",
    tool_calls: [
      { id: `c${n}`, type: "function", function: { name: "read_file", arguments: JSON.stringify({ path }) } },
    ],
  },
  { role: "tool", tool_call_id: `c${n}`, content: text },
];
/** A history after which the model asks for a third file. */
const READS = [
  { role: "system", content: "You are a careful worker." },
  { role: "user", content: "Read the files a.md and b.md and c.md." },
  ...read(1, "a.md", "1: apples"),
  ...read(2, "b.md", "1: pears"),
];
const LONG = { role: "user", content: "apples and pears ".repeat(400) };
const GREEDY = { temperature: 0, seed: 42 };
const STREAM = { ...GREEDY, stream: true, stream_options: { include_usage: true } };
const SCHEMA = {
  type: "object",
  properties: { ok: { type: "string", enum: ["yes"] } },
  required: ["ok"],
  additionalProperties: false,
};
const responseFormat = (schema: unknown) => ({
  type: "json_schema",
  json_schema: { name: "result", strict: true, schema },
});
const chat = (body: object, headers: Readonly<Record<string, string>> = {}): Request => ({
  path: CHAT,
  body: { model: PACKAGES.model.alias, ...body },
  headers,
});
const THOUGHT = 'root ::= "They want a greeting.\\n</think>\\n\\nHello there."';
/** Busy for some seconds. */
const ESSAY = chat({
  ...STREAM,
  max_tokens: 400,
  ignore_eos: true,
  messages: [{ role: "user", content: "Write an essay." }],
});

const CASES: readonly Case[] = [
  { name: "health", about: "ready", of: "plain", ask: { path: "/health" } },
  { name: "health-loading", about: "while the model loads", of: "plain", ask: { path: "/health" }, loading: true },
  {
    name: "chat-loading",
    about: "a chat while the model loads",
    of: "plain",
    ask: chat({ messages: HI }),
    loading: true,
  },
  {
    name: "models-loading",
    about: "/v1/models while the model loads",
    of: "plain",
    ask: { path: "/v1/models" },
    loading: true,
  },
  { name: "props-loading", about: "/props while the model loads", of: "plain", ask: { path: "/props" }, loading: true },
  {
    name: "props",
    about: "a chat template that knows tools; n_ctx is the window of one slot",
    of: "tools",
    ask: { path: "/props" },
  },
  {
    name: "props-without-tools",
    about: "the model's own template knows no tools",
    of: "plain",
    ask: { path: "/props" },
  },
  { name: "slots", about: "all idle, none used yet", of: "small", ask: { path: "/slots" } },
  { name: "slots-busy", about: "the only slot is at work", of: "small", ask: { path: "/slots" }, beside: [ESSAY] },
  {
    name: "slots-no-slot",
    about: "fail_on_no_slot with none free",
    of: "small",
    ask: { path: "/slots?fail_on_no_slot=1" },
    beside: [ESSAY],
  },
  {
    name: "slots-one-free",
    about: "fail_on_no_slot with one of two free",
    of: "tools",
    ask: { path: "/slots?fail_on_no_slot=1" },
    beside: [ESSAY],
  },
  { name: "models", about: "", of: "plain", ask: { path: "/v1/models" } },
  { name: "tokenize", about: "", of: "plain", ask: { path: "/tokenize", body: { content: "Hello world, ä" } } },
  {
    name: "tokenize-wrong",
    about: "content is no string",
    of: "plain",
    ask: { path: "/tokenize", body: { content: 7 } },
  },
  { name: "unknown-path", about: "", of: "plain", ask: { path: "/nothing" } },
  { name: "unknown-path-vllm", about: "what config init asks first", of: "plain", ask: { path: "/version" } },
  { name: "chat-by-get", about: "", of: "plain", ask: { path: CHAT } },
  { name: "metrics-off", about: "an endpoint that was not switched on", of: "plain", ask: { path: "/metrics" } },
  { name: "bad-json", about: "", of: "plain", ask: { path: CHAT, body: '{"messages":[' } },
  { name: "no-messages", about: "", of: "plain", ask: chat({}) },
  { name: "wrong-messages", about: "", of: "plain", ask: chat({ messages: "hi" }) },
  {
    name: "other-model",
    about: "the model's name is not looked at",
    of: "plain",
    ask: chat({ ...GREEDY, model: "no-such-model", messages: HI, max_tokens: 4 }),
  },
  { name: "unauthorized", about: "no key", of: "locked", ask: chat({ messages: HI }) },
  {
    name: "unauthorized-wrong",
    about: "a wrong key",
    of: "locked",
    ask: chat({ messages: HI }, { authorization: "Bearer not-the-key" }),
  },
  { name: "unauthorized-props", about: "/props wants the key too", of: "locked", ask: { path: "/props" } },
  { name: "health-without-key", about: "/health wants no key", of: "locked", ask: { path: "/health" } },
  { name: "models-without-key", about: "/v1/models wants none either", of: "locked", ask: { path: "/v1/models" } },
  {
    name: "authorized",
    about: "the key",
    of: "locked",
    ask: chat({ ...GREEDY, messages: HI, max_tokens: 4 }, { authorization: `Bearer ${KEY}` }),
  },
  { name: "chat", about: "", of: "plain", ask: chat({ ...GREEDY, messages: HI, max_tokens: 32 }) },
  {
    name: "chat-length",
    about: "cut by max_tokens",
    of: "plain",
    ask: chat({ ...GREEDY, messages: HI, max_tokens: 3 }),
  },
  { name: "stream", about: "", of: "plain", ask: chat({ ...STREAM, messages: HI, max_tokens: 32 }) },
  {
    name: "stream-length",
    about: "cut by max_tokens",
    of: "plain",
    ask: chat({ ...STREAM, messages: HI, max_tokens: 3 }),
  },
  {
    name: "stream-no-usage",
    about: "without stream_options",
    of: "plain",
    ask: chat({ ...GREEDY, stream: true, messages: HI, max_tokens: 3 }),
  },
  {
    name: "stream-progress",
    about: "return_progress, a prompt of several batches",
    of: "tools",
    ask: chat({ ...STREAM, return_progress: true, cache_prompt: true, messages: [LONG], max_tokens: 3 }),
  },
  {
    name: "too-long",
    about: "the prompt alone",
    of: "small",
    ask: chat({ ...GREEDY, messages: [LONG], max_tokens: 8 }),
  },
  {
    name: "too-long-stream",
    about: "the same of a stream: no stream begins",
    of: "small",
    ask: chat({ ...STREAM, messages: [LONG], max_tokens: 8 }),
  },
  {
    name: "window-full",
    about: "the prompt fits, the answer does not: it is cut there",
    of: "small",
    ask: chat({ ...GREEDY, ignore_eos: true, messages: HI, max_tokens: 4000 }),
  },
  {
    name: "tool-call",
    about: "",
    of: "tools",
    ask: chat({ ...GREEDY, tools: TOOLS, tool_choice: "auto", messages: READS, max_tokens: 80 }),
  },
  {
    name: "stream-tool-call",
    about: "",
    of: "tools",
    ask: chat({ ...STREAM, tools: TOOLS, tool_choice: "auto", messages: READS, max_tokens: 80 }),
  },
  {
    name: "tool-call-cut",
    about: "cut inside the arguments",
    of: "tools",
    ask: chat({ ...GREEDY, tools: TOOLS, messages: READS, max_tokens: 25 }),
  },
  {
    name: "stream-tool-call-cut",
    about: "cut inside the arguments",
    of: "tools",
    ask: chat({ ...STREAM, tools: TOOLS, messages: READS, max_tokens: 25 }),
  },
  {
    name: "stream-tool-call-cut-early",
    about: "cut before the name of the tool is known: nothing of it is sent",
    of: "tools",
    ask: chat({ ...STREAM, tools: TOOLS, messages: READS, max_tokens: 8 }),
  },
  {
    name: "tools-unknown-to-template",
    about: "a template without tools: they are dropped without a word",
    of: "plain",
    ask: chat({ ...GREEDY, tools: TOOLS, tool_choice: "required", messages: HI, max_tokens: 12 }),
  },
  {
    name: "history-arguments",
    about: "an assistant message of the history whose arguments are no JSON",
    of: "tools",
    ask: chat({
      ...GREEDY,
      tools: TOOLS,
      max_tokens: 8,
      messages: [
        { role: "user", content: "Read a.md." },
        {
          role: "assistant",
          content: "",
          tool_calls: [{ id: "c1", type: "function", function: { name: "read_file", arguments: '{"path": "a.md' } }],
        },
        { role: "tool", tool_call_id: "c1", content: "1: apples" },
      ],
    }),
  },
  {
    name: "history-arguments-without-tools",
    about: "the same where the template knows no tools",
    of: "plain",
    ask: chat({
      ...GREEDY,
      max_tokens: 8,
      messages: [
        { role: "user", content: "Read a.md." },
        {
          role: "assistant",
          content: "",
          tool_calls: [{ id: "c1", type: "function", function: { name: "read_file", arguments: '{"path": "a.md' } }],
        },
        { role: "tool", tool_call_id: "c1", content: "1: apples" },
      ],
    }),
  },
  {
    name: "history-content-null",
    about: "content null beside calls",
    of: "tools",
    ask: chat({
      ...GREEDY,
      tools: TOOLS,
      max_tokens: 8,
      messages: [
        { role: "user", content: "Read a.md." },
        { ...read(1, "a.md", "")[0], content: null },
        ...read(1, "a.md", "1: apples").slice(1),
      ],
    }),
  },
  {
    name: "grammar",
    about: "",
    of: "plain",
    ask: chat({ ...GREEDY, grammar: 'root ::= "{\\"ok\\":\\"" ("yes" | "no") "\\"}"', messages: HI, max_tokens: 24 }),
  },
  {
    name: "bad-grammar",
    about: "",
    of: "plain",
    ask: chat({ ...GREEDY, grammar: "root ::= (", messages: HI, max_tokens: 8 }),
  },
  {
    name: "bad-grammar-stream",
    about: "",
    of: "plain",
    ask: chat({ ...STREAM, grammar: "root ::= (", messages: HI, max_tokens: 8 }),
  },
  {
    name: "grammar-with-tools",
    about: "",
    of: "tools",
    ask: chat({ ...GREEDY, tools: TOOLS, grammar: 'root ::= "a"', messages: HI, max_tokens: 8 }),
  },
  {
    name: "schema-with-tools",
    about: "unlike a grammar, a schema is taken beside tools",
    of: "tools",
    ask: chat({ ...GREEDY, tools: TOOLS, response_format: responseFormat(SCHEMA), messages: HI, max_tokens: 24 }),
  },
  {
    name: "json-schema",
    about: "",
    of: "plain",
    ask: chat({ ...GREEDY, response_format: responseFormat(SCHEMA), messages: HI, max_tokens: 24 }),
  },
  {
    name: "json-object",
    about: "",
    of: "plain",
    ask: chat({ ...GREEDY, response_format: { type: "json_object" }, messages: HI, max_tokens: 48 }),
  },
  {
    name: "bad-schema",
    about: "a $ref that leads nowhere",
    of: "plain",
    ask: chat({
      ...GREEDY,
      response_format: responseFormat({ type: "object", properties: { a: { $ref: "#/$defs/none" } } }),
      messages: HI,
      max_tokens: 8,
    }),
  },
  {
    name: "bad-schema-type",
    about: "a type that does not exist",
    of: "plain",
    ask: chat({
      ...GREEDY,
      response_format: responseFormat({ type: "object", properties: { a: { type: "txet" } }, required: ["a"] }),
      messages: HI,
      max_tokens: 8,
    }),
  },
  {
    name: "schema-lookahead",
    about: "a pattern that no grammar can say is left out without a word",
    of: "plain",
    ask: chat({
      ...GREEDY,
      response_format: responseFormat({
        type: "object",
        properties: { a: { type: "string", pattern: "^(?=x)y$" } },
        required: ["a"],
      }),
      messages: HI,
      max_tokens: 24,
    }),
  },
  {
    name: "unknown-format",
    about: "",
    of: "plain",
    ask: chat({ ...GREEDY, response_format: { type: "yaml" }, messages: HI, max_tokens: 8 }),
  },
  {
    name: "thinking-off",
    about: "both switches are taken, also by a template that does not think",
    of: "plain",
    ask: chat({
      ...GREEDY,
      chat_template_kwargs: { enable_thinking: false },
      reasoning_effort: "none",
      messages: HI,
      max_tokens: 8,
    }),
  },
  {
    name: "reasoning",
    about: "a template that thinks; a grammar makes the model close its thought",
    of: "thinks",
    ask: chat({ ...GREEDY, grammar: THOUGHT, messages: HI, max_tokens: 40 }),
  },
  {
    name: "stream-reasoning",
    about: "the same as a stream",
    of: "thinks",
    ask: chat({ ...STREAM, grammar: THOUGHT, messages: HI, max_tokens: 40 }),
  },
  {
    name: "stream-reasoning-only",
    about: "a thought that is never closed: no content comes",
    of: "thinks",
    ask: chat({ ...STREAM, messages: HI, max_tokens: 40 }),
  },
  {
    name: "reasoning-off",
    about: "a template that thinks, switched off",
    of: "thinks",
    ask: chat({
      ...GREEDY,
      chat_template_kwargs: { enable_thinking: false },
      reasoning_effort: "none",
      messages: HI,
      max_tokens: 40,
    }),
  },
];

const wanted = new Set(Bun.argv.slice(2));
const cases = CASES.filter((one) => wanted.size === 0 || wanted.has(one.name));
mkdirSync(OUT, { recursive: true });
for (const of of Object.keys(SERVERS) as (keyof typeof SERVERS)[]) {
  const here = cases.filter((one) => one.of === of);
  if (here.length > 0) await captureAll(of, here);
}

async function captureAll(of: keyof typeof SERVERS, cases: readonly Case[]): Promise<void> {
  const runtime = installed();
  if (runtime === undefined) throw new Error("the seat is not installed; run `npm run seat` first");
  const folder = mkdtempSync(join(tmpdir(), "writ-capture-"));
  const log = join(folder, "log");
  const settings: Settings = {
    model: runtime.model,
    alias: PACKAGES.model.alias,
    port: await freePort(),
    threads: 2,
    api_key: "",
    ...SERVERS[of],
  };
  const url = `http://127.0.0.1:${settings.port}`;
  const pid = launch(runtime, settings, log);
  try {
    for (const one of cases.filter((one) => one.loading === true)) save(one, await askLoading(url, one.ask), folder);
    await awaitUrl(pid, log, LIMIT_MS, () => {});
    for (const one of cases.filter((one) => one.loading !== true)) {
      const stop = new AbortController();
      const open = (one.beside ?? []).map((request) => occupy(url, request, stop.signal));
      await Promise.all(open);
      save(one, await ask(url, one.ask), folder);
      stop.abort();
      if (open.length > 0) await idle(url);
    }
  } finally {
    await end(pid, 5000);
    rmSync(folder, { recursive: true, force: true });
  }
}

type Answer = { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly text: string };

async function ask(url: string, request: Request): Promise<Answer> {
  const response = await send(url, request, AbortSignal.timeout(LIMIT_MS));
  const headers = Object.fromEntries(
    [...response.headers].filter(([name]) => !["content-length", "keep-alive", "connection", "date"].includes(name)),
  );
  return { status: response.status, headers, text: await response.text() };
}

/** Asks until the port is open and the answer is the one of a server that loads. */
async function askLoading(url: string, request: Request): Promise<Answer> {
  for (let tries = 0; tries < 500; tries++) {
    try {
      return await ask(url, request);
    } catch {
      await Bun.sleep(10); // the port is not open yet
    }
  }
  throw new Error("the server never opened its port");
}

/** Opens a stream and comes back when its first bytes are there: its slot is taken from then on. */
async function occupy(url: string, request: Request, signal: AbortSignal): Promise<void> {
  const response = await send(url, request, signal);
  await response.body?.getReader().read();
}

async function idle(url: string): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const { text } = await ask(url, { path: "/slots" });
    if (!text.includes('"is_processing":true')) return;
    await Bun.sleep(100);
  }
  throw new Error("a slot stays taken after its client has gone");
}

function send(url: string, request: Request, signal: AbortSignal): Promise<Response> {
  const body = typeof request.body === "string" ? request.body : JSON.stringify(request.body);
  return fetch(`${url}${request.path}`, {
    method: request.method ?? (body === undefined ? "GET" : "POST"),
    // A connection that has carried a stream is closed by the server, and a request that is just then sent on it is lost.
    keepalive: false,
    headers: { "content-type": "application/json", ...request.headers },
    signal,
    ...(body === undefined ? {} : { body }),
  });
}

function save(one: Case, answer: Answer, folder: string): void {
  const { server } = PACKAGES;
  const document = {
    case: one.name,
    about: one.about,
    server: `llama.cpp ${server.build} (${server.package} ${server.version}), ${PACKAGES.model.alias}`,
    request: {
      method: one.ask.method ?? (one.ask.body === undefined ? "GET" : "POST"),
      path: one.ask.path,
      headers: one.ask.headers ?? {},
      body: one.ask.body ?? null,
    },
    response: { status: answer.status, headers: answer.headers, body_lines: same(answer.text, folder).split("\n") },
  };
  writeFileSync(join(OUT, `${one.name}.json`), `${JSON.stringify(document, null, 2)}\n`);
  console.error(`${one.name}: ${answer.status} ${answer.text.slice(0, 160).replaceAll("\n", " ")}`);
}

/** What differs from run to run, made the same. */
function same(text: string, folder: string): string {
  return text
    .replaceAll(folder, "/tmp")
    .replace(/"model_path":"[^"]*"/g, '"model_path":"/models/SmolLM2-135M-Instruct.Q4_1.gguf"')
    .replace(/"media_marker":"[^"]*"/g, '"media_marker":"<__media__>"')
    .replace(/chatcmpl-[A-Za-z0-9]+/g, "chatcmpl-0")
    .replace(/"id":"[A-Za-z0-9]{32}"/g, '"id":"call0000000000000000000000000000"')
    .replace(/"created":\d+/g, '"created":1700000000')
    .replace(/"(\w+_ms|\w+_per_second)":[-\d.e+]+/g, '"$1":1.5');
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });
}
