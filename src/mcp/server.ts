/**
 * The server: lines in, tools called, lines out, until standard input ends or somebody asks it to stop.
 *
 * The SDK speaks the protocol (versions, methods, errors, cancellation); what a line is and how arguments are read is ours.
 *
 * Source: delegation run, section 9; MCP 2025-06-18
 */
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListToolsRequestSchema,
  type ListToolsResult,
  McpError,
  type ProgressToken,
} from "@modelcontextprotocol/sdk/types.js";
import { errorOf, errorText, stackOf } from "../cli/print.ts";
import { WritError } from "../core/error.ts";
import { nearest } from "../core/near-miss.ts";
import { linesOf } from "../host/lines.ts";
import { openOutbox } from "../host/outbox.ts";
import { Inbox } from "./inbox.ts";
import { refused, type ServerSetting, type Tool, type ToolAnswer, type ToolCall } from "./tool.ts";
import type { Tools } from "./tools.ts";
import { LineTransport, TRANSPORT_LIMITS } from "./transport.ts";

/** How long the end of the server may take, in milliseconds: calls are stopped, answers written. */
const UNWIND_MS = 8000;

const INSTRUCTIONS =
  "writ counts a claim only with its evidence. The contract_ tools edit, check and close the contract of this turn. The delegation_ tools judge contracts that hand work to model seats; agent_delegate, where it is there, hands it over and grades what comes back.";

export type McpSetting = {
  readonly version: string;
  readonly tools: Tools;
  readonly server: ServerSetting;
  readonly input: ReadableStream<Uint8Array>;
  /** Writes a text whole to the client, and resolves when it has room for more. */
  readonly write: (text: string) => Promise<void>;
  /** Aborted when the server is asked to stop. */
  readonly stop: AbortSignal;
  /** A line for a person, on standard error. */
  readonly log: (line: string) => void;
};

/**
 * Serves until standard input ends, the client is gone, or `stop` comes; then every call is stopped, and what is owed is
 * written, in 8 s at most. While as many answers wait as may, no further request is begun, and soon none is read.
 *
 * Errors: `output_failed` where the answers can be written no more, though the client has not gone
 */
export async function serveMcp(setting: McpSetting): Promise<void> {
  const { version, tools, log } = setting;
  const over = new AbortController();
  const gone = new AbortController();
  const working = new Set<Promise<unknown>>();
  let fault: WritError | null = null;
  const outbox = openOutbox(
    setting.write,
    TRANSPORT_LIMITS.waiting_progress,
    (why) => {
      fault = outputFault(why);
      gone.abort();
    },
    { size: TRANSPORT_LIMITS.waiting_answers, onRoom: () => inbox.pump() },
  );
  const transport = new LineTransport(outbox);
  const inbox = new Inbox(
    (line) => transport.receive(line),
    () => !outbox.isFull(),
    TRANSPORT_LIMITS.waiting_bytes,
  );
  const server = new Server({ name: "writ", version }, { capabilities: { tools: {} }, instructions: INSTRUCTIONS });
  server.onerror = (error) => log(`writ mcp: ${error.message}`);

  const worked = async <T>(work: Promise<T>): Promise<T> => {
    working.add(work);
    try {
      return await work;
    } finally {
      working.delete(work);
    }
  };
  const queue = oneAfterTheOther();
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
    if (params?.cursor !== undefined) throw new McpError(ErrorCode.InvalidParams, "All tools stand on one page");
    return worked(listTools(tools));
  });
  server.setRequestHandler(CallToolRequestSchema, ({ params }, { requestId, signal, sendNotification, _meta }) => {
    const entry = Object.hasOwn(tools, params.name) ? tools[params.name] : undefined;
    if (entry === undefined) throw unknownTool(params.name, Object.keys(tools));
    const written = transport.argumentsOf(requestId);
    if (written === null) throw cancelled();
    const call: ToolCall = {
      server: setting.server,
      arguments: written,
      signal: AbortSignal.any([signal, over.signal]),
      progress: progressTo(_meta?.progressToken, (message) => {
        void sendNotification({ method: "notifications/progress", params: message }).catch(() => {
          // The client is gone; that is told where its answers are written.
        });
      }),
    };
    const work = async () => {
      const { tool } = await entry.load();
      // What was taken back while it waited is not begun.
      if (signal.aborted) throw cancelled();
      return await callTool(tool, call, log);
    };
    return worked(entry.inTurn ? queue(work) : work());
  });
  await server.connect(transport);

  const ending = AbortSignal.any([setting.stop, gone.signal]);
  const read = (async () => {
    try {
      for await (const line of linesOf(setting.input, TRANSPORT_LIMITS.message_bytes, ending)) await inbox.put(line);
    } catch (error) {
      // Nothing more can come, as at its end.
      log(`writ mcp: cannot read standard input: ${error instanceof Error ? error.message : error}`);
    }
    await inbox.emptied(UNWIND_MS);
  })();
  await Promise.race([read, aborted(ending)]);

  over.abort(new Error("the server ends"));
  const unwound = (async () => {
    await setting.server.delegation?.calls.end();
    while (working.size > 0) await Promise.allSettled(working);
    // The answers of what has just ended are handed over behind it.
    await Bun.sleep(0);
    await outbox.drained();
  })();
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), UNWIND_MS);
  await Promise.race([unwound, aborted(late.signal)]);
  clearTimeout(timer);
  await server.close();
  if (fault !== null) throw fault;
}

/** Null where the client has gone: nobody is left to be told. */
function outputFault(why: unknown): WritError | null {
  const code = why instanceof Error && "code" in why ? why.code : null;
  if (code === "EPIPE" || code === "ECONNRESET") return null;
  return new WritError("output_failed", `Cannot write standard output: ${typeof code === "string" ? code : why}`, {
    hint: "The client reads the answers there; calls that were going on are stopped",
    cause: why,
  });
}

async function listTools(tools: McpSetting["tools"]): Promise<ListToolsResult> {
  const loaded = await Promise.all(Object.values(tools).map(({ load }) => load()));
  return {
    tools: loaded.map(({ tool: { name, description, inputSchema, reads, reachesOut } }) => ({
      name,
      description,
      inputSchema: { ...inputSchema },
      annotations: { readOnlyHint: reads, destructiveHint: false, openWorldHint: reachesOut === true },
    })),
  };
}

async function callTool(tool: Tool, call: ToolCall, log: (line: string) => void): Promise<CallToolResult> {
  try {
    return resultOf(await tool.run(call));
  } catch (thrown) {
    const error = errorOf(thrown);
    if (error.code === "internal") log(`writ mcp: ${errorText(error)}\n${stackOf(error)}`);
    return resultOf(refused(error));
  }
}

function resultOf({ text, value, isError, talk }: ToolAnswer): CallToolResult {
  const texts = [text, ...(talk.length === 0 ? [] : [talk.join("\n")])];
  return {
    content: texts.map((each) => ({ type: "text", text: each })),
    ...(value === null ? {} : { structuredContent: { ...value } }),
    ...(isError ? { isError } : {}),
  };
}

/** Nobody reads it: a request that was cancelled gets no answer. */
function cancelled(): McpError {
  return new McpError(ErrorCode.ConnectionClosed, "The request was cancelled");
}

function unknownTool(name: string, names: readonly string[]): McpError {
  const near = nearest(name, names);
  const hint = near === null ? "tools/list has them all" : `did you mean "${near}"?`;
  return new McpError(ErrorCode.InvalidParams, `There is no tool "${name.slice(0, 80)}": ${hint}`);
}

type ProgressMessage = { progressToken: ProgressToken; progress: number; total: number; message: string };

function progressTo(token: ProgressToken | undefined, send: (message: ProgressMessage) => void): ToolCall["progress"] {
  return token === undefined ? null : (told) => send({ progressToken: token, ...told });
}

/** Begins each work when the one before it has ended, however it ended. */
function oneAfterTheOther(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work);
    last = next.catch(() => {
      // Told to whoever waits for it.
    });
    return next;
  };
}

/** Resolves when the signal comes, and leaves the listener to the signal. */
function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
