import { describe, expect, test } from "bun:test";
import { closeSync, constants, existsSync, openSync } from "node:fs";
import { join } from "node:path";
import { serveMcp } from "../../src/mcp/server.ts";
import { TRANSPORT_LIMITS } from "../../src/mcp/transport.ts";
import { livingWorld, writCommand } from "../support/writ.ts";

/** The answer to a ping holds its id. */
const LONG = 16 * 1024;
const COUNT = 1000;
/** The most that may be read while nothing is taken: the answers, what waits behind them, the streams between. */
const MOST = (TRANSPORT_LIMITS.waiting_answers + TRANSPORT_LIMITS.waiting_bytes) / LONG + 80;

const idOf = (at: number) => `${at}-`.padEnd(LONG, "x");

/** A server and its client, who has asked COUNT times and takes answers when he is told to. */
function slowClient() {
  let asked = 0;
  const encoder = new TextEncoder();
  const input = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (asked === COUNT) controller.close();
        else controller.enqueue(encoder.encode(`{"jsonrpc":"2.0","id":"${idOf(asked++)}","method":"ping"}\n`));
      },
    },
    { highWaterMark: 0 },
  );
  const taken: string[] = [];
  const reading = Promise.withResolvers<void>();
  const stop = new AbortController();
  const served = serveMcp({
    version: "0",
    tools: {} as Parameters<typeof serveMcp>[0]["tools"],
    server: { readRoot: "/", isReadRootGiven: true, delegation: null },
    input,
    async write(text) {
      await reading.promise;
      taken.push(text);
    },
    stop: stop.signal,
    log: () => {},
  });
  return { asked: () => asked, taken, read: reading.resolve, stop: () => stop.abort(), served };
}

/** Lets everything happen that waits for nobody. */
async function settle() {
  for (let turn = 0; turn < 3 * COUNT; turn++) await Bun.sleep(0);
}

describe("a client of writ mcp that does not read", () => {
  test("is not read either, once as many answers wait as may, and loses none", async () => {
    const client = slowClient();
    await settle();
    expect(client.asked()).toBeLessThan(MOST);
    client.read();
    await client.served;
    expect(client.asked()).toBe(COUNT);
    const answered = client.taken.map((line) => String(JSON.parse(line).id));
    expect(answered.toSorted()).toEqual(Array.from({ length: COUNT }, (_, at) => idOf(at)).toSorted());
    expect(client.taken.join("")).not.toContain("error");
  });

  test("can be stopped", async () => {
    const client = slowClient();
    await settle();
    client.stop();
    client.read();
    await client.served;
    expect(client.asked()).toBeLessThan(MOST);
  });
});

describe("writ mcp with a client that never reads", () => {
  const ping = (at: number) => `{"jsonrpc":"2.0","id":"${idOf(at)}","method":"ping"}\n`;
  const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"contract_init","arguments":{}}}\n`;
  // More than a pipe holds, and less than as many answers as may wait.
  const asked = `${Array.from({ length: 40 }, (_, at) => ping(at)).join("")}${call}`;

  /** How it ends when it was asked to, once it has begun the last of its requests. */
  async function exitOf(ask: "end of input" | "SIGTERM" | "SIGINT"): Promise<number> {
    using world = livingWorld();
    const pipe = join(world.folder, "answers");
    Bun.spawnSync(["mkfifo", pipe]);
    // Open on both sides: it takes what it holds, and nobody reads it.
    const answers = openSync(pipe, constants.O_RDWR);
    const child = Bun.spawn([...writCommand(), "mcp"], {
      cwd: world.folder,
      env: world.env(),
      stdin: "pipe",
      stdout: answers,
      stderr: "ignore",
    });
    try {
      child.stdin.write(asked);
      await child.stdin.flush();
      while (!existsSync(join(world.data, "contract_drafts"))) await Bun.sleep(10);
      if (ask === "end of input") await child.stdin.end();
      else child.kill(ask);
      return await child.exited;
    } finally {
      child.kill("SIGKILL");
      closeSync(answers);
    }
  }

  test.skipIf(process.platform === "win32")(
    "ends with its input, and with the first signal",
    async () => {
      const asks = ["end of input", "SIGTERM", "SIGINT"] as const;
      expect(await Promise.all(asks.map(exitOf))).toEqual([0, 143, 130]);
    },
    60_000,
  );
});

describe("writ mcp without anything to write to", () => {
  test.skipIf(process.platform !== "linux").each([
    [">/dev/full", "Cannot write standard output: ENOSPC"],
    [">&-", "Cannot write standard output: it is closed"],
  ])("%s is no success", async (redirect, message) => {
    using world = livingWorld();
    const asked = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
    const ran = await world.shell(`echo '${asked}' | writ mcp ${redirect}`);
    expect([ran.exit, ran.stdout, ran.stderr]).toEqual([4, "", expect.stringContaining(message)]);
  });
});
