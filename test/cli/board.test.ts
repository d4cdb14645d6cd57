import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { startBoard } from "../support/board.ts";
import { type LivingWorld, livingWorld, shown } from "../support/writ.ts";

let world: LivingWorld;

beforeEach(() => {
  world = livingWorld();
});
afterEach(() => world[Symbol.dispose]());

async function textOf(url: string): Promise<string> {
  const body = await (await fetch(url)).text();
  return body.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
}

describe("writ board", () => {
  test("prints one line to open, and nothing else", async () => {
    const board = await startBoard(world);
    expect(board.printed).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{32}\/\n$/);
    expect((await fetch(board.url)).status).toBe(200);
    expect(shown(await board.stop())).toBe(`${board.url}\n--- exit 0\n`);
  });

  test("with --json prints a document with url and port", async () => {
    const board = await startBoard(world, "--json");
    const { ok, url, port, ...rest } = JSON.parse(board.printed);
    expect([ok, url, rest]).toEqual([true, board.url, {}]);
    expect(new URL(url).port).toBe(String(port));
    expect((await board.stop()).stdout).toBe(board.printed);
  });

  test.each(["SIGINT", "SIGTERM"] as const)("ends quietly with 0 on %s, also with connections open", async (signal) => {
    const board = await startBoard(world);
    await fetch(board.url);
    const port = Number(new URL(board.url).port);
    const socket = connect(port, "127.0.0.1").on("error", () => {});
    await new Promise((resolve) => socket.once("connect", resolve));
    const ended = await board.stop(signal);
    expect({ exit: ended.exit, stderr: ended.stderr }).toEqual({ exit: 0, stderr: "" });
    expect(await fetch(board.url).catch(() => "gone")).toBe("gone");
  });

  test("makes a new token each time", async () => {
    const boards = [await startBoard(world), await startBoard(world)];
    const [one, two] = boards.map((board) => new URL(board.url).pathname);
    expect(one).not.toBe(two);
    for (const board of boards) await board.stop();
  });

  test("makes no store, and shows one that appears later", async () => {
    const board = await startBoard(world);
    expect(await textOf(board.url)).toContain("There is no store yet");
    expect(existsSync(world.data)).toBe(false);
    await world.born("--goal", "Mend the <b>total</b>");
    expect(await textOf(board.url)).toContain("Mend the &lt;b&gt;total&lt;/b&gt;");
    await board.stop();
  });

  test("shows what commands wrote, run by run", async () => {
    const id = await world.born("--goal", "Mend it");
    await world.writ(["run", "--contract-id", id, "--", "sh", "-c", "printf '\\033[31mred\\033[0m\\n'; exit 3"]);
    const board = await startBoard(world);
    const before = readdirSync(world.data).filter((name) => !/-(wal|shm)$/.test(name));
    const text = await textOf(`${board.url}turn/1`);
    expect(text).toContain("exit 3");
    expect(text).toContain("9 characters of terminal control left out");
    await world.writ(["contract", "set", "--draft-id", id, "conclusion", "half way"]);
    expect(await textOf(`${board.url}turn/1`)).toContain("half way");
    expect(readdirSync(world.data).filter((name) => !/-(wal|shm)$/.test(name))).toEqual(before);
    await board.stop();
  });

  test("serves on the port that it is told, and says when that is taken", async () => {
    const board = await startBoard(world);
    const { port } = new URL(board.url);
    const second = await world.writ(["board", "--port", port]);
    expect(shown(second)).toBe(
      `--- stderr\nError: Port ${port} is taken\nName another with --port, or leave it out: then any free one is taken\n--- exit 4\n`,
    );
    await board.stop();
    const again = await startBoard(world, "--port", port);
    expect(new URL(again.url).port).toBe(port);
    await again.stop();
  });

  test.each(["x", "-1", "70000", "1.5", ""])("refuses the port %j", async (port) => {
    const ran = await world.writ(["board", `--port=${port}`, "--json"]);
    expect(ran.exit).toBe(2);
    expect(JSON.parse(ran.stdout)).toMatchObject({ ok: false, code: "usage" });
  });

  test("tells of a store that cannot be read on the page, and goes on", async () => {
    await world.born();
    const board = await startBoard(world);
    await Bun.write(
      join(world.data, "writ.db"),
      "no database at all, but long enough to be taken for one by its length",
    );
    const response = await fetch(board.url);
    expect(response.status).toBe(503);
    expect(await response.text()).toContain("The store cannot be read now");
    expect((await fetch(`${board.url}board.css`)).status).toBe(200);
    expect((await board.stop()).stderr).toBe("");
  });
});
