/** `writ mcp` as clients see it: the SDK's own client over standard input and output, or the bare lines. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { RequestOptions } from "@modelcontextprotocol/sdk/shared/protocol.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import type { JsonValue } from "../../src/core/json/value.ts";
import { type LivingWorld, type Ran, writCommand } from "./writ.ts";

/** What a tool answered. */
export type Answer = {
  readonly isError: boolean;
  /** The document of the first text. */
  readonly document: JsonValue;
  readonly structured: unknown;
  /** The second text, where there is one: what the command says on standard error. */
  readonly talk: string | null;
};

export type McpClient = {
  readonly client: Client;
  call(tool: string, args?: Readonly<Record<string, unknown>>, options?: RequestOptions): Promise<Answer>;
  /** What has come on the server's standard error so far. */
  stderr(): string;
  readonly pid: number;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

export type McpOptions = {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
};

/** Starts `writ mcp` and says hello to it. */
export async function startMcp(world: LivingWorld, { args = [], env = {}, cwd }: McpOptions = {}): Promise<McpClient> {
  const [command = "", ...words] = writCommand();
  const transport = new StdioClientTransport({
    command,
    args: [...words, "mcp", ...args],
    env: world.env(env),
    cwd: cwd ?? world.folder,
    stderr: "pipe",
  });
  let talk = "";
  transport.stderr?.on("data", (piece: Buffer) => {
    talk += piece.toString();
  });
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(transport);
  const close = () => client.close();
  return {
    client,
    async call(tool, args = {}, options) {
      const result = await client.callTool({ name: tool, arguments: { ...args } }, undefined, options);
      return answerOf(result as CallToolResult);
    },
    stderr: () => talk,
    pid: transport.pid ?? -1,
    close,
    [Symbol.asyncDispose]: close,
  };
}

export function answerOf({ content, structuredContent, isError }: CallToolResult): Answer {
  const texts = content.map((each) => (each.type === "text" ? each.text : ""));
  return {
    isError: isError === true,
    document: JSON.parse(texts[0] ?? "") as JsonValue,
    structured: structuredContent,
    talk: texts[1] ?? null,
  };
}

/** A server whose lines a test writes and reads by itself. */
export type McpLines = {
  readonly pid: number;
  /** Sends bytes as they are. */
  send(text: string | Uint8Array): void;
  /** Sends one message as a line. */
  say(message: Readonly<Record<string, unknown>>): void;
  /** The next line that comes; null at the end. */
  next(): Promise<Record<string, unknown> | null>;
  /** Closes the server's standard input. */
  hangUp(): void;
  kill(signal: NodeJS.Signals): void;
  /** What is left to read, and how the process ended. */
  ended(): Promise<Ran>;
  [Symbol.asyncDispose](): Promise<void>;
};

export function startMcpLines(world: LivingWorld, { args = [], env = {}, cwd }: McpOptions = {}): McpLines {
  const child = Bun.spawn([...writCommand(), "mcp", ...args], {
    cwd: cwd ?? world.folder,
    env: world.env(env),
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
  const talk = new Response(child.stderr).text();
  const reader = child.stdout.getReader();
  const decoder = new TextDecoder();
  let read = "";
  const send = (text: string | Uint8Array) => {
    child.stdin.write(text);
    void child.stdin.flush();
  };
  return {
    pid: child.pid,
    send,
    say: (message) => send(`${JSON.stringify(message)}\n`),
    async next() {
      for (;;) {
        const end = read.indexOf("\n");
        if (end >= 0) {
          const line = read.slice(0, end);
          read = read.slice(end + 1);
          return JSON.parse(line) as Record<string, unknown>;
        }
        const { done, value } = await reader.read();
        if (done) return null;
        read += decoder.decode(value, { stream: true });
      }
    },
    hangUp: () => void child.stdin.end(),
    kill: (signal) => child.kill(signal),
    async ended() {
      for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
        read += decoder.decode(piece.value, { stream: true });
      }
      return { exit: await child.exited, stdout: read, stderr: await talk };
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

/** The message with which a client begins. */
export function hello(protocolVersion = "2025-06-18", id: string | number = 0): Readonly<Record<string, unknown>> {
  const params = { protocolVersion, capabilities: {}, clientInfo: { name: "test", version: "1.0.0" } };
  return { jsonrpc: "2.0", id, method: "initialize", params };
}
