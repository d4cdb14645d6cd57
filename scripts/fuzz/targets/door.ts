/** What comes in by the doors: lines of MCP, words of a command line, addresses of the board, scripts of a seat. */
import { parseArguments } from "../../../src/cli/arguments.ts";
import { defineCommand } from "../../../src/cli/command.ts";
import { commandFault, commandsOf, readPayload } from "../../../src/core/approval/request.ts";
import { hrefOf, parseAddress } from "../../../src/core/board/address.ts";
import { readClaims } from "../../../src/core/board/claims.ts";
import { type DriftInput, evaluateDrift } from "../../../src/core/context/drift.ts";
import { mergeContext, splitByOwner } from "../../../src/core/context/merge.ts";
import { isWhatName } from "../../../src/core/context/name.ts";
import { issueLines } from "../../../src/core/issue-text.ts";
import { parseJson } from "../../../src/core/json/parse.ts";
import { isObject, type JsonObject } from "../../../src/core/json/value.ts";
import { isRoute, readRouting } from "../../../src/core/placement/pin.ts";
import { readChatRequest } from "../../../src/core/scripted/chat-request.ts";
import { Play } from "../../../src/core/scripted/play.ts";
import { readScript } from "../../../src/core/scripted/read-script.ts";
import { linesOf } from "../../../src/host/lines.ts";
import { readArguments } from "../../../src/mcp/arguments.ts";
import { readContractsIn } from "../../../src/mcp/contracts.ts";
import { MAX_IN_A_LIST, readLine } from "../../../src/mcp/message.ts";
import { chatOf, playedOf, targetOf, WORLD } from "../../../test/core/scripted/played.ts";
import { captureNames, captureOf } from "../../../test/support/llama-capture.ts";
import { asJson, blocksIn, fileAt, filesBelow, valuesAt, vectors } from "../corpus.ts";
import { hold, oneLineEach, promised, reading, same } from "../target.ts";

const PARAMETERS = {
  name: { kind: "text", required: true },
  route: { kind: "text", choices: ["auto", "local"] },
  id: { kind: "text", orNumber: true },
  width: { kind: "number", least: 1, most: 64 },
  strict: { kind: "flag" },
  tags: { kind: "texts" },
  subtasks: { kind: "json", schema: {} },
} as const;

export const mcpLine = reading({
  name: "mcp-line",
  parts: ["line"],
  corpus: () => [
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}',
    '{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"agent_delegate","arguments":{"name":"x","subtasks":[{"goal":"g","acceptance":["contains:a"]}],"width":4,"strict":true,"tags":["a"]},"_meta":{"progressToken":1}}}',
    '[{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}},{"jsonrpc":"2.0","id":2,"result":{}}]',
    '{"jsonrpc":"2.0","id":3,"method":"tools/list"}',
    ...blocksIn("docs/mcp.md", "json"),
  ],
  words: [
    "jsonrpc",
    '"2.0"',
    "method",
    "params",
    "arguments",
    "tools/call",
    "id",
    "result",
    "error",
    "subtasks",
    "route",
    "width",
    "goal",
    "1e2",
    "9007199254740993",
  ],
  read: async ({ bytes }) => {
    const whole = await Array.fromAsync(linesOf(streamOf(bytes, bytes.length), LINE_BYTES));
    same("lines in pieces are the same lines", await Array.fromAsync(linesOf(streamOf(bytes, 97), LINE_BYTES)), whole);
    hold(
      "no line is beyond its bound",
      whole.every((line) => (line.kind === "line" ? line.bytes.length <= LINE_BYTES : line.size_bytes > LINE_BYTES)),
    );
    const { isBatch, messages } = readLine(bytes);
    hold(
      "a line has messages, not more than a list may have",
      messages.length > 0 && messages.length <= MAX_IN_A_LIST && (isBatch || messages.length === 1),
      messages.length,
    );
    for (const message of messages) {
      if (message.kind === "fault")
        hold("a fault has a sentence", message.message.length > 0 && message.code < 0, message);
      if (message.kind !== "request") continue;
      hold(
        "an id is a text or a whole number",
        typeof message.id === "string" || Number.isSafeInteger(message.id),
        message.id,
      );
      // What the SDK is handed has no arguments in it.
      hold(
        "arguments are JSON as it was written",
        JSON.parse(message.arguments) !== undefined &&
          (message.method !== "tools/call" || !("arguments" in (message.params ?? {}))),
      );
      const values = promised(() => readArguments(PARAMETERS, message.arguments));
      if (values?.subtasks === undefined) continue;
      const read = readContractsIn("subtasks", values.subtasks, "/nonexistent");
      hold(
        "issues stand below the argument",
        read.issues.every(({ path }) => path.startsWith("/subtasks")),
        read.issues,
      );
    }
  },
});

const LINE_BYTES = 256;

function streamOf(bytes: Uint8Array, piece: number): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.subarray(at, at + piece));
      at += piece;
    },
  });
}

const probe = defineCommand({
  meta: { name: "probe", description: "Probe" },
  examples: ["writ probe a", "writ probe b"],
  exits: { 0: "done" },
  run: () => 0,
  args: {
    field: { type: "positional", required: true },
    value: { type: "positional", required: false, valueHint: "VALUE|-" },
    "draft-id": { type: "string", alias: ["contract-id", "d"], valueHint: "ID" },
    state: { type: "enum", options: ["open", "closed"] },
    tag: { type: "string", multiple: true },
    close: { type: "boolean" },
    progress: { type: "boolean", default: true },
  },
});

export const argv = reading({
  name: "argv",
  parts: ["words, one a line"],
  corpus: () => [
    "f\nv\n--draft-id\n9\n--tag=a\n--tag\nb",
    "--state\nopen\nf\n--\n--close",
    "-d9\nf\n--no-progress\n--json",
  ],
  words: [
    "--",
    "-",
    "--draft-id=",
    "--no-",
    "--tag\n",
    "=",
    "--close=true",
    "--json\n",
    "-d\n",
    "--__proto__=1\n",
    "--constructor\n",
    "--no-constructor",
    "\u0000",
    "--déjà",
  ],
  read: ({ text }) => {
    const words = text.split("\n");
    const read = promised(() => parseArguments(probe, words));
    if (read === null) return;
    hold(
      "only what was declared comes out",
      Object.keys(read.args).every((key) => Object.hasOwn(probe.args ?? {}, key)),
      read.args,
    );
    hold("what is required is there", typeof read.args.field === "string");
  },
});

export const pin = reading({
  name: "pin",
  parts: ["route", "reason"],
  corpus: () => [
    ["local", "privacy: customer data"],
    ["remote", "measurement"],
    ["spread", "operator: x"],
  ],
  words: ["privacy", "locality", "measurement", "operator", ":", "auto", "spread", "__proto__", "constructor"],
  read: ({ text: route }, { text: reason }) => {
    const routes = isRoute(route) ? [route] : (["auto", "local", "remote", "spread"] as const);
    for (const each of routes) {
      const read = readRouting(each, reason);
      if (!read.ok) {
        oneLineEach([read.message, read.hint]);
        continue;
      }
      const { routing } = read;
      hold("a reason pins", routing.kind === "pinned" && routing.to === each, routing);
      if (routing.kind === "pinned") same("what was read reads as itself", readRouting(each, routing.reason), read);
    }
  },
});

export const boardAddress = reading({
  name: "board-address",
  parts: ["path", "query", "envelope"],
  corpus: () => {
    const envelopes = asJson(valuesAt(vectors("contract-finalize"), "envelope"));
    return ["", "approvals", "turn/7", "board.css", "turn/007"].flatMap((path, at) =>
      ["state=open&q=a&workspace=%2Fw&before=9", "show=runs&part=3", "", "state=any"].map((query, other) => [
        path,
        query,
        envelopes[at + other] ?? "{}",
      ]),
    );
  },
  words: [
    "turn/",
    "state=",
    "any",
    "&q=",
    "%",
    "%zz",
    "+",
    "part=1e9",
    "before=-1",
    "../",
    "show=writes",
    "evidence_ids",
    "verbatim_outputs",
  ],
  read: ({ text: path }, { text: query }, { text: envelope }) => {
    const address = parseAddress(path, query);
    if (address !== null) {
      const href = hrefOf(address, { page: "overview", filter: { workspace: null, text: null } });
      const [back = "", rest = ""] = href.slice(2).split("?");
      same("an address is found again by its own reference", parseAddress(back, rest), address);
    }
    const { cited } = readClaims(envelope);
    hold(
      "what is cited can be an id",
      cited.length <= 100 && cited.every((id) => Number.isSafeInteger(id) && id > 0),
      cited,
    );
  },
});

export const approval = reading({
  name: "approval",
  parts: ["command", "payload"],
  corpus: () =>
    ["git push origin main", "rm -rf build", "npm publish --tag next"].map((text) => [
      text,
      `{"commands":["${text}"],"risk_level":"high","rationale":null}`,
    ]),
  words: ["&&", ";", "|", "`", "$(", "\\\n", "'", '"', "\u202e", "commands", "<(", ">"],
  read: ({ text }, { text: payload }) => {
    const fault = commandFault(text);
    if (fault === null)
      hold(
        "a command that a person can consent to is one line",
        !/[\r\n`;|]|\$\(|&&/.test(text) && text.trim() === text,
        text,
      );
    const read = readPayload(payload);
    hold(
      "commands are texts",
      commandsOf(read).every((each) => typeof each === "string"),
    );
  },
});

export const context = reading({
  name: "context",
  parts: ["correction", "stored section", "payload"],
  corpus: () => {
    const inputs = vectors<DriftInput>("contract-drift").filter((input) => "entry" in input);
    return inputs.map((input) => [
      JSON.stringify(input),
      JSON.stringify(input.stored ?? {}),
      JSON.stringify(input.entry.payload ?? {}),
    ]);
  },
  words: [
    "entry",
    "drift",
    "key_path",
    "command",
    "observed_at",
    "payload",
    "contract",
    "project_identity",
    "__proto__",
    "a.b.c",
    "2026-01-01T00:00:00Z",
    "git log",
  ],
  read: ({ text }, { text: stored }, { text: payload }) => {
    const [input, section, added] = [text, stored, payload].map((each) => parseJson(each));
    isWhatName(payload.slice(0, 200));
    if (input?.ok && isObject(input.value)) {
      const { entry, stored: sections, goal, project, record } = input.value;
      const isRun = (run: unknown) =>
        isObject(run as JsonObject) &&
        typeof (run as JsonObject).command === "string" &&
        ["string", "undefined"].includes(typeof ((run as JsonObject).output ?? undefined));
      if (
        isObject(entry) &&
        isObject(entry.payload) &&
        typeof entry.contract === "string" &&
        isObject(sections) &&
        (record === null || (Array.isArray(record) && record.every(isRun)))
      ) {
        const asked = {
          entry,
          stored: sections,
          goal: typeof goal === "string" ? goal : null,
          project: typeof project === "string" ? project : null,
          record,
        } as unknown as DriftInput;
        const { applies, failed } = evaluateDrift(asked);
        same("a correction applies where no guard fails", applies, failed.length === 0);
      }
    }
    if (!section?.ok || !added?.ok || !isObject(added.value)) return;
    const merged = mergeContext(section.value, added.value);
    same("what was merged once is merged", mergeContext(merged, added.value), merged);
    const keys = isObject(section.value) ? Object.keys(section.value) : [];
    const { owned, refused } = splitByOwner(0, added.value, [
      { workspace: "/w", keys },
      { workspace: "/v", keys: ["a", "__proto__"] },
    ]);
    same(
      "each key has an owner or is refused",
      owned.reduce((sum, share) => sum + share.keys.length, refused.length),
      Object.keys(added.value).length,
    );
  },
});

export const script = reading({
  name: "seat-script",
  parts: ["script", "request"],
  corpus: () => {
    const scripts = [
      fileAt("fixtures/write-door/right.json"),
      ...blocksIn("docs/scripted-seat.md", "json"),
      ...SCRIPTS,
    ];
    const requests = captureNames().flatMap((name) => {
      const { body } = captureOf(name).request;
      return typeof body === "object" && body !== null ? [JSON.stringify(body)] : [];
    });
    return requests.map((request, at) => [scripts[at % scripts.length] ?? "", request]);
  },
  words: ["turns", "when", "reply", "content", "tool_calls", "goal_contains", "step", "delay_ms", "chunk", "cut", "error", "http", "engine", "proxy", "busy", "states", "messages", "stream", "tools", "response_format", "grammar", "max_tokens", "usage", "reasoning", "matches", "hang", "reset", "endpoints"], // biome-ignore format: a list
  max_bytes: 16 * 1024,
  grown_bytes: 64 * 1024,
  read: ({ bytes }, { text }) => {
    readChatRequest(text);
    const read = readScript(bytes);
    if (!read.ok) {
      hold(
        "a refusal has issues",
        read.issues.length > 0 && read.issues.every(({ message }) => message !== ""),
        read.issues,
      );
      oneLineEach(read.issues.flatMap((issue) => issueLines(issue)));
      return;
    }
    const play = new Play(read.script, WORLD, 0);
    for (const incoming of [
      chatOf(text),
      { ...chatOf(text), target: targetOf("GET", text.slice(0, 40)) },
      { ...chatOf(text), target: targetOf("POST", "/tokenize") },
    ]) {
      const meeting = play.meet(incoming, 0);
      if (meeting.kind === "answer") playedOf(meeting.plan, meeting.entry);
      else if (meeting.kind !== "reset" && play.admit(0).includes(meeting.ticket)) {
        bounded(() => playedOf(play.play(meeting.ticket), meeting.entry));
        play.release();
      }
    }
  },
});

/** A plan that is told to go on for ever has no end to look at. */
function bounded(look: () => unknown): void {
  try {
    look();
  } catch (error) {
    if (!(error instanceof Error) || error.message !== "the plan has no end") throw error;
  }
}

const SCRIPTS = filesBelow("fixtures/write-door", ".json");
