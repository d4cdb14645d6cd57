/** Two writers at once: connections of one process, and processes of their own. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { listChain } from "../../src/editor/look.ts";
import { viewAt } from "../../src/editor/view.ts";
import { add, at, born, closed, draftOf, filesIn, journalOf, rowJson, verbsOf } from "../support/turn.ts";
import { scriptedWorld } from "../support/world.ts";

const OUTPUTS = "evidence_report.key_outputs";
const WRITER = join(import.meta.dir, "..", "support", "writer.ts");

function start(...words: string[]) {
  return Bun.spawn([process.execPath, WRITER, ...words], { stdin: "pipe", stdout: "pipe", stderr: "inherit" });
}

async function begun(child: ReturnType<typeof start>): Promise<void> {
  const { value } = await child.stdout.getReader().read();
  expect(new TextDecoder().decode(value)).toStartWith("begun\n");
}

function outputsOf(envelope: { readonly [key: string]: unknown }): string[] {
  return (envelope.evidence_report as { key_outputs: string[] }).key_outputs;
}

test("two connections that write in turns lose nothing", () => {
  using one = scriptedWorld();
  const id = born(one);
  using two = scriptedWorld({ folder: one.folder, minted: 100, pid: 5555 });
  for (let round = 0; round < 10; round++) {
    add(one, id, OUTPUTS, `one ${round}`);
    add(two, id, OUTPUTS, `two ${round}`);
  }
  expect(outputsOf(draftOf(one, id))).toHaveLength(20);
  expect(rowJson(two, id).evidence_report).toEqual(draftOf(one, id).evidence_report as never);
  expect(journalOf(one, id).map((change) => change.pid)).toEqual([4242, ...Array(10).fill([4242, 5555]).flat()]);
});

test("a process that finds the store locked waits for it, and its write is there", async () => {
  using world = scriptedWorld();
  const id = born(world);
  const holder = start(world.folder, "hold");
  await begun(holder);
  const waiter = start(world.folder, "add", id, "waited");
  await begun(waiter);
  // Readers take no lock: what was committed is seen while another process holds it.
  expect(outputsOf(viewAt(world, at(id), 1).envelope)).toEqual([]);
  holder.stdin.write("x");
  holder.stdin.end();
  expect(await Promise.all([holder.exited, waiter.exited])).toEqual([0, 0]);
  expect(outputsOf(draftOf(world, id))).toEqual(["waited-0"]);
});

test("a process that is killed while it holds the lock lets it go, and leaves nothing", async () => {
  using world = scriptedWorld();
  const id = born(world);
  const holder = start(world.folder, "hold");
  await begun(holder);
  holder.kill("SIGKILL");
  await holder.exited;
  add(world, id, OUTPUTS, "x");
  expect(outputsOf(draftOf(world, id))).toEqual(["x"]);
  expect(verbsOf(world, id)).toEqual(["dispatch", "add"]);
});

test("a process that is killed at work loses nothing that it said was added", async () => {
  using world = scriptedWorld();
  const id = born(world);
  for (let round = 0; round < 4; round++) {
    const child = start(world.folder, "add", id, `r${round}`, "100000");
    let said = "";
    for await (const chunk of child.stdout) {
      said += new TextDecoder().decode(chunk);
      if (said.split("\n").length > 3 * round + 4) break;
    }
    child.kill("SIGKILL");
    await child.exited;
    const added = said.split("\n").slice(1, -1);
    add(world, id, OUTPUTS, `after ${round}`);
    const outputs = outputsOf(draftOf(world, id));
    expect(added.filter((name) => !outputs.includes(name))).toEqual([]);
    expect(outputs.at(-1)).toBe(`after ${round}`);
    expect(outputsOf(rowJson(world, id))).toEqual(outputs);
  }
  expect(new Set(verbsOf(world, id).slice(1))).toEqual(new Set(["add"])); // a leftover is no edit by hand
}, 30_000);

test("8 processes that write to one closed contract open one link, and all land in it", async () => {
  using world = scriptedWorld();
  const id = closed(world);
  const children = Array.from({ length: 8 }, (_, number) => start(world.folder, "add", id, `p${number}`, "3"));
  expect(await Promise.all(children.map((child) => child.exited))).toEqual(Array(8).fill(0));
  const links = listChain(world, id).map((row) => row.contract_id);
  expect(links).toHaveLength(2);
  expect(outputsOf(draftOf(world, links[1] ?? ""))).toHaveLength(24);
  expect(world.sql("SELECT id FROM handoffs")).toHaveLength(2);
}, 30_000);

test("16 processes of 20 adds each: nothing is lost, the journal is whole, the file is what the store holds", async () => {
  using world = scriptedWorld();
  const id = born(world);
  const children = Array.from({ length: 16 }, (_, number) => start(world.folder, "add", id, `p${number}`, "20"));
  expect(await Promise.all(children.map((child) => child.exited))).toEqual(Array(16).fill(0));

  const outputs = outputsOf(draftOf(world, id));
  const names = children.flatMap((_, number) => Array.from({ length: 20 }, (__, entry) => `p${number}-${entry}`));
  expect(outputs.toSorted()).toEqual(names.toSorted());
  // Each process sees its own order.
  for (const [number] of children.entries()) {
    const own = outputs.filter((name) => name.startsWith(`p${number}-`));
    expect(own).toEqual(Array.from({ length: 20 }, (_, entry) => `p${number}-${entry}`));
  }
  expect(outputsOf(rowJson(world, id))).toEqual(outputs);

  const journal = journalOf(world, id);
  expect(journal.map((change) => change.verb)).toEqual(["dispatch", ...Array(320).fill("add")]);
  for (const [index, change] of journal.slice(1).entries()) {
    expect(change.changes).toEqual([
      { path: OUTPUTS, before: outputs.slice(0, index), after: outputs.slice(0, index + 1) },
    ]);
  }
  expect(world.drafts.read(id)?.digest).toBe(journal.at(-1)?.draft_sha256 ?? "");
  expect(filesIn(world)).toEqual([`${id}.json`]);
}, 30_000);

test("processes that open a store at the same moment make one", async () => {
  using first = scriptedWorld();
  const folder = join(first.folder, "fresh");
  const id = "a0123456789abcdef.1";
  // Each fails: there is no such draft. But each opened the store.
  const children = Array.from({ length: 8 }, () =>
    Bun.spawn([process.execPath, WRITER, folder, "add", id, "x"], {
      stdin: "ignore",
      stdout: "ignore",
      stderr: "pipe",
    }),
  );
  const talk = await Promise.all(children.map((child) => new Response(child.stderr).text()));
  for (const text of talk) expect(text).toContain("No draft found");
  using world = scriptedWorld({ folder });
  expect(world.sql("SELECT * FROM handoffs")).toEqual([]);
}, 30_000);
