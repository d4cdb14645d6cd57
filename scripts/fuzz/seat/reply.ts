/**
 * What a model server of no good will sends: an answer that was well-formed once and was then bent, or none at all.
 *
 * A stream is built as a list of chunks, and bent on every floor of it: values in its chunks, their text, its lines, its
 * bytes, the reads that they come in, and the end of the connection.
 */
import fc from "fast-check";
import { type Call, content, json, texts, turn } from "./text.ts";

export type Written = { readonly bytes: Uint8Array; readonly after_ms: number };

/** What goes over the wire, from the first byte of the head on. */
export type HostileReply = {
  /** For a person. */
  readonly what: string;
  readonly writes: readonly Written[];
  /** "forever": the last write comes again and again. */
  readonly end: "close" | "reset" | "hang" | "forever";
};

const utf8 = (text: string) => new TextEncoder().encode(text);

/** Deeper than this no chunk is looked into. */
const DEEPEST = 8;

/** The places of a JSON value: the value itself, and each value inside of it. */
function placesOf(value: unknown, depth = 0): readonly (readonly (string | number)[])[] {
  if (typeof value !== "object" || value === null || depth === DEEPEST) return [[]];
  const inner = Object.entries(value).flatMap(([key, item]) =>
    placesOf(item, depth + 1).map((path) => [Array.isArray(value) ? Number(key) : key, ...path]),
  );
  return [[], ...inner];
}

/** A chunk as text, with the value at one of its places replaced by a JSON text; null takes the member out. */
export function withValueAt(chunk: object, place: number, text: string | null): string {
  const places = placesOf(chunk);
  const path = places[place % places.length] ?? [];
  const mark = "@@bent@@";
  const bent: unknown = path.length === 0 ? mark : structuredClone(chunk);
  let at = bent as Record<string | number, unknown>;
  for (const key of path.slice(0, -1)) at = at[key] as Record<string | number, unknown>;
  const last = path.at(-1);
  if (last !== undefined) {
    if (text === null) delete at[last];
    else at[last] = mark;
  }
  return JSON.stringify(bent).replace(JSON.stringify(mark), () => text ?? "");
}

type Turn = typeof turn extends fc.Arbitrary<infer T> ? T : never;

const HEAD = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "m", system_fingerprint: "b1" };

/** The chunks of a turn as llama.cpp sends them, which is the form with the most in it. */
function chunksOf({ content, reasoning, calls, finish_reason, usage, prefilled }: Turn): readonly object[] {
  const delta = (value: object, more: object = {}) => ({
    ...HEAD,
    choices: [{ index: 0, delta: value, finish_reason: null, ...more }],
  });
  return [
    delta({ role: "assistant", content: null }),
    ...prefilled.map((processed) => ({
      ...delta({ role: "assistant", content: null }),
      prompt_progress: { total: 4000, cache: 0, processed, time_ms: 4 },
    })),
    ...reasoning.map((piece) => delta({ reasoning_content: piece })),
    ...content.map((piece) => delta({ content: piece })),
    ...calls.flatMap((call, index) => fragmentsOf(call, index).map((each) => delta({ tool_calls: [each] }))),
    delta({}, { finish_reason }),
    ...(usage === null
      ? []
      : [{ ...HEAD, choices: [], usage, timings: { prompt_n: 4, predicted_n: 9, predicted_per_second: 80 } }]),
  ];
}

function fragmentsOf({ name, given, id, index, pieces, as }: Call, place: number): readonly object[] {
  const at = index === "own" ? { index: place } : index === null ? {} : { index };
  const named = id === "own" ? { id: `call-${place}` } : id === null ? {} : { id };
  if (as === "value") return [{ ...at, ...named, type: "function", function: { name, arguments: parsedOr(given) } }];
  const size = Math.max(1, Math.ceil(given.length / pieces));
  const parts = Array.from({ length: pieces }, (_, part) => given.slice(part * size, (part + 1) * size));
  return parts.map((piece, part) =>
    part === 0
      ? { ...at, ...named, type: "function", function: { name, arguments: piece } }
      : { ...at, function: as === "named" ? { name, arguments: piece } : { arguments: piece } },
  );
}

function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The same turn as one object. */
function wholeOf({ content, reasoning, calls, finish_reason, usage }: Turn): object {
  const tool_calls = calls.map(({ name, given, id, as }, place) => ({
    ...(id === null ? {} : { id: id === "own" ? `call-${place}` : id }),
    type: "function",
    function: { name, arguments: as === "value" ? parsedOr(given) : given },
  }));
  const message = {
    role: "assistant",
    content: content.join(""),
    ...(reasoning.length === 0 ? {} : { reasoning_content: reasoning.join("") }),
    ...(tool_calls.length === 0 ? {} : { tool_calls }),
  };
  return {
    ...HEAD,
    object: "chat.completion",
    choices: [{ index: 0, message, finish_reason }],
    ...(usage === null ? {} : { usage }),
  };
}

/** What is done to one chunk of a stream; `at` picks the chunk, `place` what of it. */
const bend = fc.record({
  how: fc.constantFrom(
    "value",
    "value",
    "value",
    "remove",
    "twice",
    "swap",
    "cut",
    "insert",
    "comment",
    "field",
    "lines",
    "error",
    "drop",
  ),
  at: fc.nat(40),
  place: fc.nat(40),
  json,
  text: texts,
});
type Bend = typeof bend extends fc.Arbitrary<infer T> ? T : never;

/** The lines of each event of a stream, bent. */
function eventsOf(chunks: readonly object[], bends: readonly Bend[]): readonly string[] {
  let events = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}`);
  for (const { how, at, place, json: text, text: words } of bends) {
    const index = at % Math.max(1, events.length);
    const chunk = chunks[at % chunks.length] ?? {};
    const event = events[index] ?? "data: {}";
    const bent = (lines: readonly string[]) => {
      events = [...events.slice(0, index), ...lines, ...events.slice(index + 1)];
    };
    switch (how) {
      case "value":
        bent([`data: ${withValueAt(chunk, place, text)}`]);
        break;
      case "remove":
        bent([`data: ${withValueAt(chunk, place, null)}`]);
        break;
      case "twice":
        bent([event, event]);
        break;
      case "swap":
        bent([events[index + 1] ?? "data: {}", event]);
        break;
      case "cut":
        bent([event.slice(0, (place * event.length) / 40)]);
        break;
      case "insert": {
        const middle = Math.floor((place * event.length) / 40);
        bent([`${event.slice(0, middle)}${words}${event.slice(middle)}`]);
        break;
      }
      case "comment":
        bent([`: ${words.replace(/[\r\n]/g, " ")}`, event]);
        break;
      case "field":
        bent([`event: ${words}\nid: ${words}\nretry: 1\n${event}`]);
        break;
      case "lines":
        // Several data lines, which are joined by line feeds.
        bent([event.replaceAll('","', '",\ndata:"')]);
        break;
      case "error":
        bent([`data: {"error":${text}}`]);
        break;
      case "drop":
        bent([]);
        break;
      default:
        how satisfies never;
    }
  }
  return events;
}

/** How the bytes of a body are cut into writes. */
const cutting = fc.record({
  ends: fc.constantFrom("\n\n", "\n\n", "\r\n\r\n", "\r\r"),
  mark: fc.boolean(),
  done: fc.constantFrom("data: [DONE]\n\n", "data: [DONE]\n\n", "data: [DONE]", "", "data: done\n\n"),
  writes: fc.constantFrom(1, 1, 2, 7, 60),
  /** So much of the bytes is sent, in parts of 100. */
  until: fc.constantFrom(100, 100, 100, 100, 98, 60, 20, 1),
  broken: fc.option(fc.record({ at: fc.nat(100), byte: fc.nat(255) }), { freq: 5 }),
  end: fc.constantFrom<HostileReply["end"][]>("close", "close", "close", "close", "close", "reset", "hang"),
});
type Cutting = typeof cutting extends fc.Arbitrary<infer T> ? T : never;

function written(bytes: Uint8Array, { writes, until, broken }: Cutting): readonly Written[] {
  const sent = bytes.slice(0, Math.ceil((bytes.length * until) / 100));
  if (broken !== null && sent.length > 0) sent[Math.floor((broken.at * (sent.length - 1)) / 100)] = broken.byte;
  const size = Math.max(1, Math.ceil(sent.length / writes));
  const parts = Array.from({ length: Math.ceil(sent.length / size) }, (_, at) =>
    sent.slice(at * size, (at + 1) * size),
  );
  return parts.map((part) => ({ bytes: part, after_ms: writes > 1 ? 1 : 0 }));
}

function headOf(status: number | string, headers: readonly string[]): Uint8Array {
  return utf8([`HTTP/1.1 ${status} X`, ...headers, "Connection: close", "", ""].join("\r\n"));
}

const STREAM = headOf(200, ["Content-Type: text/event-stream"]);
const OBJECT = headOf(200, ["Content-Type: application/json"]);

/** A good answer: without it no conversation gets further than its first request. */
const good: fc.Arbitrary<HostileReply> = fc.record({ turn, isStream: fc.boolean() }).map(({ turn, isStream }) => {
  const body = isStream
    ? `${eventsOf(chunksOf(turn), []).join("\n\n")}\n\ndata: [DONE]\n\n`
    : JSON.stringify(wholeOf(turn));
  return {
    what: "answer",
    writes: [{ bytes: concat(isStream ? STREAM : OBJECT, utf8(body)), after_ms: 0 }],
    end: "close",
  };
});

const bentStream: fc.Arbitrary<HostileReply> = fc
  .record({ turn, bends: fc.array(bend, { minLength: 1, maxLength: 3 }), cutting })
  .map(({ turn, bends, cutting }) => {
    const { ends, mark, done, end } = cutting;
    const events = eventsOf(chunksOf(turn), bends).map(
      (event) => `${event.replaceAll("\n", ends.slice(0, ends.length / 2))}${ends}`,
    );
    const body = utf8(`${mark ? "\ufeff" : ""}${events.join("")}${done}`);
    const how = bends.map((each) => each.how).join(", ");
    return { what: `stream: ${how}`, writes: [{ bytes: STREAM, after_ms: 0 }, ...written(body, cutting)], end };
  });

const bentObject: fc.Arbitrary<HostileReply> = fc
  .record({ turn, place: fc.nat(40), json, cutting, isMeant: fc.boolean() })
  .map(({ turn, place, json, cutting, isMeant }) => {
    const body = utf8(isMeant ? withValueAt(wholeOf(turn), place, json) : json);
    return { what: "object", writes: [{ bytes: OBJECT, after_ms: 0 }, ...written(body, cutting)], end: cutting.end };
  });

/** Bodies of errors that servers are known for, and of none that is known. */
const ERRORS: readonly string[] = [
  '{"error":{"message":"Loading model","type":"unavailable_error","code":503}}',
  '{"error":{"code":503,"message":"no slot available","type":"unavailable_error"}}',
  '{"error":{"code":400,"message":"request (9 tokens) exceeds the available context size (512 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":1231,"n_ctx":512}}',
  '{"error":{"message":"exceed_context_size_error","n_prompt_tokens":-1,"n_ctx":0}}',
  '{"error":{"message":"maximum context length is 999999999999","n_ctx":1e300}}',
  '{"error":{"code":500,"message":"Failed to parse tool call arguments as JSON: missing closing quote","type":"server_error"}}',
  '{"error":{"code":500,"message":"Failed to parse tool call arguments as JSON: syntax error","type":"server_error"}}',
  '{"error":{"message":"Cannot use custom grammar constraints with tools.","type":"invalid_request_error"}}',
  '{"error":{"message":"Unsupported parameter: max_tokens","param":"max_tokens","code":"unsupported_parameter"}}',
  '{"error":{"message":"seed and temperature, stream_options are not taken","param":null}}',
  '{"error":"model m not found","src":"llama-swap"}',
  '{"error":{"message":"concurrency limit","code":"concurrency_limit"}}',
  '{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}',
  '{"detail":[{"loc":["body"],"msg":"field required"}]}',
  "<html><body>502 Bad Gateway</body></html>",
  "",
];
const STATUSES = [
  100, 101, 103, 200, 201, 204, 205, 206, 300, 301, 302, 304, 307, 308, 400, 401, 402, 403, 404, 405, 408, 409, 413,
  422, 425, 429, 431, 451, 499, 500, 501, 502, 503, 504, 507, 521, 529, 599,
];
const HEADERS = [
  "Retry-After: 0",
  "Retry-After: 1",
  "Retry-After: -5",
  "Retry-After: 1e9",
  "Retry-After: 999999999999999999999",
  "Retry-After: soon",
  "Retry-After: Wed, 21 Oct 2065 07:28:00 GMT",
  "retry-after-ms: 7",
  "Location: http://169.254.169.254/latest",
  "Location: /v1/chat/completions",
  "Content-Length: 5",
  "Content-Length: 0",
  "Content-Length: 99999999",
  "Content-Length: 5\r\nContent-Length: 7",
  "Transfer-Encoding: chunked",
  "Content-Encoding: gzip",
  "Content-Encoding: br, zstd",
  "Content-Type: text/plain; charset=utf-16",
  "Upgrade: websocket",
  "Set-Cookie: a=b",
  `X-Long: ${"x".repeat(9000)}`,
  "X-Odd: \u00ff\u0001",
  "writ-scripted: yes",
];

const answered = fc
  .record({
    status: fc.oneof(fc.constantFrom(...STATUSES), fc.constantFrom(0, 99, 600, 999, "2x0", "")),
    headers: fc.array(fc.constantFrom(...HEADERS), { maxLength: 3 }),
    body: fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...ERRORS) },
      { weight: 1, arbitrary: json },
      { weight: 1, arbitrary: texts },
    ),
    cutting,
  })
  .map(({ status, headers, body, cutting }): HostileReply => {
    const head = headOf(status, headers);
    return {
      what: `HTTP ${status}`,
      writes: [{ bytes: head, after_ms: 0 }, ...written(utf8(body), cutting)],
      end: cutting.end,
    };
  });

/** What is no HTTP at all. */
const noise = fc
  .record({
    bytes: fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc
        .constantFrom(
          "",
          "\r\n\r\n",
          "HTTP/0.9 200\r\n\r\n",
          "HTTP/1.1 200 OK\r\n",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nhello",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nTrailer: x\r\n\r\n",
          "HTTP/2 200\r\n\r\n",
          "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
          "SSH-2.0-x\r\n",
          "\u0015\u0003\u0001\u0000\u0002\u0002\u0046",
          `HTTP/1.1 200 OK\r\n${"A: b\r\n".repeat(3000)}\r\n`,
        )
        .map(utf8),
    ),
    end: fc.constantFrom<HostileReply["end"][]>("close", "close", "close", "reset", "hang"),
  })
  .map(({ bytes, end }): HostileReply => ({ what: "noise", writes: [{ bytes, after_ms: 0 }], end }));

/** One write that comes again and again, in ticks of the server. */
const ENDLESS: Readonly<Record<string, string>> = {
  content: 'data: {"choices":[{"index":0,"delta":{"content":"@"}}]}\n\n',
  reasoning: 'data: {"choices":[{"index":0,"delta":{"reasoning_content":"@"}}]}\n\n',
  calls:
    'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"id":"@","function":{"name":"read_file","arguments":"{}"}}]}}]}\n\n',
  argument:
    'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"name":"write_file","arguments":"@"}}]}}]}\n\n',
  names: 'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"name":"@"}}]}}]}\n\n',
  empty: 'data: {"choices":[{"index":0,"delta":{"content":""}}]}\n\n',
  pings: ": @\n\n",
  blanks: "\n\n",
  line: "data: @",
  lines: "data: @\n",
  names_of_events: "event: @\n",
  progress: 'data: {"choices":[],"prompt_progress":{"total":9,"processed":9,"time_ms":1}}\n\n',
  finished: 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
  spaces: " ",
};

const endless = fc
  .record({
    kind: fc.constantFrom(...Object.keys(ENDLESS)),
    filler: fc.constantFrom("x", "word ", "a b c d e f ", "é", "\\ud800"),
    size: fc.constantFrom(1, 100, 60_000),
  })
  .map(({ kind, filler, size }): HostileReply => {
    const piece = (ENDLESS[kind] ?? "").replaceAll("@", filler.repeat(size / filler.length + 1));
    const again = piece.repeat(Math.ceil(65_536 / piece.length));
    return {
      what: `endless ${kind}`,
      writes: [
        { bytes: STREAM, after_ms: 0 },
        { bytes: utf8(again), after_ms: 20 },
      ],
      end: "forever",
    };
  });

/** One line with more in it than anybody writes. */
const huge = fc
  .record({
    field: fc.constantFrom("content", "reasoning_content", "arguments", "unknown"),
    mib: fc.constantFrom(1, 1, 4, 9),
    isWhole: fc.boolean(),
  })
  .map(({ field, mib, isWhole }): HostileReply => {
    const text = "lorem ipsum dolor sit amet ".repeat(Math.floor((mib * 1024 * 1024) / 27));
    const part =
      field === "arguments"
        ? {
            tool_calls: [
              {
                index: 0,
                id: "c",
                type: "function",
                function: { name: "finish", arguments: JSON.stringify({ answer: text }) },
              },
            ],
          }
        : { content: "short", [field]: text };
    const body = isWhole
      ? JSON.stringify({ choices: [{ index: 0, message: part, finish_reason: "stop" }] })
      : `data: ${JSON.stringify({ choices: [{ index: 0, delta: part, finish_reason: "stop" }] })}\n\ndata: [DONE]\n\n`;
    return {
      what: `${mib} MiB in one line: ${field}`,
      writes: [{ bytes: concat(isWhole ? OBJECT : STREAM, utf8(body)), after_ms: 0 }],
      end: "close",
    };
  });

/** A reply to a chat request. Some are good: without them no conversation would get past its first request. */
export const reply: fc.Arbitrary<HostileReply> = fc.oneof(
  { weight: 8, arbitrary: good },
  { weight: 10, arbitrary: bentStream },
  { weight: 3, arbitrary: bentObject },
  { weight: 4, arbitrary: answered },
  { weight: 1, arbitrary: noise },
  { weight: 1, arbitrary: endless },
  { weight: 1, arbitrary: huge },
);

/** A reply in the structured step: mostly an answer whose content is some JSON. */
export const structuredReply: fc.Arbitrary<HostileReply> = fc.oneof(
  {
    weight: 5,
    arbitrary: content.map((piece): HostileReply => {
      const chunk = { choices: [{ index: 0, delta: { content: piece }, finish_reason: "stop" }] };
      const body = `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`;
      return { what: "fields", writes: [{ bytes: concat(STREAM, utf8(body)), after_ms: 0 }], end: "close" };
    }),
  },
  { weight: 2, arbitrary: reply },
);

const jsonAnswer = json.map(
  (text): HostileReply => ({
    what: "JSON",
    writes: [{ bytes: concat(OBJECT, utf8(text)), after_ms: 0 }],
    end: "close",
  }),
);

/** What a path other than chat answers where it does not answer as it should: to its good answer, or in its place. */
export type Probe = { readonly reply: HostileReply } | { readonly place: number; readonly json: string | null };

/** null: it answers as it should. */
export const probe: fc.Arbitrary<Probe | null> = fc.oneof(
  { weight: 12, arbitrary: fc.constant(null) },
  {
    weight: 4,
    arbitrary: fc.record({
      place: fc.nat(40),
      json: fc.oneof(
        json,
        texts.map((text) => JSON.stringify(text)),
        fc.constant(null),
      ),
    }),
  },
  { weight: 4, arbitrary: fc.oneof(answered, answered, jsonAnswer, jsonAnswer, noise).map((reply) => ({ reply })) },
);

function concat(...parts: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(parts);
}
