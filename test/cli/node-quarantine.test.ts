import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { strikePlace } from "../../src/core/placement/quarantine.ts";
import { openQuarantine } from "../../src/host/quarantine-file.ts";
import { TOKEN, tagged, willing } from "../support/fleet.ts";
import { configureNode, startNode } from "../support/node-command.ts";
import { startScriptedSeat } from "../support/scripted-seat.ts";
import { documentOf, type LivingWorld, livingWorld, shown } from "../support/writ.ts";

const RULES = { strikes: 2, window_sec: 1800, duration_sec: 1800 };

let world: LivingWorld;
let state: string;
beforeEach(() => {
  world = livingWorld();
  state = join(world.data, "run");
  mkdirSync(state, { recursive: true });
});
afterEach(() => world[Symbol.dispose]());

const strike = (place: string, at = Date.now()) =>
  openQuarantine(state).change((marks) => strikePlace(marks, place, at, RULES));
const list = async () => documentOf(await world.writ(["node", "quarantine", "list", "--json"])).places;

test("writ node quarantine list shows who is passed over and until when, and who has a strike", async () => {
  expect(shown(await world.writ(["node", "quarantine", "list"]))).toBe("No node is passed over\n--- exit 0\n");
  strike("gpu-b");
  strike("gpu-b");
  strike("gpu-a");
  expect(await list()).toEqual([
    { node: "gpu-a", until: null, strikes: 1 },
    { node: "gpu-b", until: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/), strikes: 0 },
  ]);
  const ran = await world.writ(["node", "quarantine", "list"]);
  expect(ran.stdout.replace(/\d{4}-\S+Z/, "2026-01-05T10:00:00Z")).toBe(
    [
      "node   passed over until     strikes",
      "gpu-a  -                     1",
      "gpu-b  2026-01-05T10:00:00Z  0",
      "",
    ].join("\n"),
  );
});

test("whoever looks at a node that is passed over is told so, and how that ends", async () => {
  await using seat = await startScriptedSeat(willing());
  configureNode(world, { url: seat.url }, { node: { id: "gpu-b" } });
  await using node = await startNode(world, { WRIT_NODE_TOKEN: TOKEN });
  const ends = "writ node quarantine clear gpu-b";
  const env = { WRIT_NODE_TOKEN: TOKEN };
  const status = (...args: string[]) => world.writ(["node", "status", node.url, ...args], { env });
  expect(documentOf(await status("--json")).passed_over_until).toBeNull();
  expect((await status()).stdout).not.toContain("passed over");
  // One that shares its id is known by where it is.
  const shared = `gpu-b@${new URL(node.url).host}`;
  for (const name of ["gpu-b@10.0.0.9:1", "gpu-b@10.0.0.9:1"]) strike(name);
  expect(documentOf(await status("--json")).passed_over_until).toBeNull();
  for (const name of [shared, shared]) strike(name);
  expect((await status()).stdout).toContain(`writ node quarantine clear ${shared}`);
  await world.writ(["node", "quarantine", "clear"]);
  strike("gpu-b");
  strike("gpu-b");
  expect(documentOf(await status("--json")).passed_over_until).toMatch(/^\d{4}-.*Z$/);
  expect((await status()).stdout).toContain(ends);
  expect((await world.writ(["doctor", "--remote", node.url], { env })).stdout).toContain(ends);

  const contract = join(world.folder, "legs.json");
  writeFileSync(contract, JSON.stringify([tagged("leg-1")]));
  const args = ["delegate", "--contract", contract, "--remote", node.url, "--route", "remote", "--json"];
  const { exit, stderr } = await world.writ(args, { env });
  expect([exit, stderr]).toEqual([4, expect.stringContaining("see: writ node quarantine list")]);
});

test("writ node quarantine list forgets what has run out", async () => {
  strike("gpu-a", Date.now() - 3_600_000);
  expect(await list()).toEqual([]);
});

test("writ node quarantine clear forgets one node or all of them, and says so when there is nothing to forget", async () => {
  for (const place of ["gpu-a", "gpu-a", "gpu-b", "gpu-c"]) strike(place);
  expect(shown(await world.writ(["node", "quarantine", "clear", "gpu-d"]))).toBe(
    '"gpu-d" was not passed over; did you mean "gpu-a"?\n--- exit 0\n',
  );
  expect(shown(await world.writ(["node", "quarantine", "clear", "gpu-a"]))).toBe(
    "No longer passed over: gpu-a\n--- exit 0\n",
  );
  expect(await list()).toMatchObject([{ node: "gpu-b" }, { node: "gpu-c" }]);
  const all = await world.writ(["node", "quarantine", "clear", "--json"]);
  expect(documentOf(all)).toEqual({ ok: true, status: "ok", cleared: ["gpu-b", "gpu-c"] });
  expect(await list()).toEqual([]);
  expect(shown(await world.writ(["node", "quarantine", "clear"]))).toBe("No node was passed over\n--- exit 0\n");
});

test("writ node quarantine clear ends in 4 where the file cannot be changed", async () => {
  strike("gpu-a");
  // A folder in the place of its lock: nobody gets it.
  rmSync(join(state, "quarantine.json.lock"));
  mkdirSync(join(state, "quarantine.json.lock"));
  expect(existsSync(join(state, "quarantine.json"))).toBe(true);
  const ran = await world.writ(["node", "quarantine", "clear", "--json"]);
  expect([ran.exit, documentOf(ran).code]).toEqual([4, "state_failed"]);
});

test("writ node quarantine list of a file that is none of ours is empty", async () => {
  writeFileSync(join(state, "quarantine.json"), "{");
  expect(await list()).toEqual([]);
});
