/** The rows of delegation: one leg here, one leg through a node, and a call of 64 legs, on scripted seats. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Row } from "./rows.ts";
import type { Scene } from "./scene.ts";
import { openTap } from "./tap.ts";

const LEGS = 64;
const LEGS_PER_FILE = 8;
const WIDTH = 8;
const TURN_MS = 200;
/** The answer, and its fields. */
const TURNS = 2;

export const FLEET_ROWS: readonly Row[] = [
  {
    name: "leg",
    work: "`writ delegate` of one leg on a seat of zero latency",
    against: "a program that makes the same requests to the seat",
    goal: null,
    repetitions: 20,
    warmups: 3,
    prepare: async (scene) => {
      const seat = await scene.serve(["seat", "serve", "--script", script(scene, "leg", 0, 1)], "leg-seat");
      const tap = openTap(seat);
      const call = delegation(scene, "leg", { seats: [seatOf(tap.url)] }, 1);
      await call.run();
      const requests = scene.file("leg-requests.json", JSON.stringify(tap.asked));
      const direct = delegation(scene, "leg-direct", { seats: [seatOf(seat)] }, 1);
      return {
        work: direct.run,
        baseline: () => scene.baseline("requests", [requests, seat]),
        verify: () => `${tap.asked.length} requests`,
        close: () => tap.close(),
      };
    },
  },
  {
    name: "node-leg",
    work: "`writ delegate` of one leg through a node of this machine, on a seat of zero latency",
    against: "a program that makes the same requests to the node",
    goal: 1.3,
    limit:
      "Node and seat do the same in both. A delegator is a process that reads config and contract, compiles patterns, places, keeps an intent and a record, and grades, each of it once and cold: a call that ends at its contract file has already taken five times `--version`.",
    repetitions: 20,
    warmups: 3,
    prepare: async (scene) => {
      const seat = await scene.serve(["seat", "serve", "--script", script(scene, "node-leg", 0, 1)], "node-seat");
      const config = scene.file("node-config.json", JSON.stringify({ seats: [seatOf(seat)] }));
      const node = await scene.serve(["node", "serve", "--listen", "127.0.0.1:0", "--config", config], "node");
      const tap = openTap(node);
      const call = delegation(scene, "node-leg", { remotes: [{ url: tap.url, token_env: "" }] }, 1, REMOTE);
      await call.run();
      const requests = scene.file("node-requests.json", JSON.stringify(tap.asked));
      const direct = delegation(scene, "node-direct", { remotes: [{ url: node, token_env: "" }] }, 1, REMOTE);
      return {
        work: direct.run,
        baseline: () => scene.baseline("requests", [requests, node]),
        verify: () => `${tap.asked.length} requests`,
        close: () => tap.close(),
      };
    },
  },
  {
    name: "width",
    work: `${LEGS} legs of two turns, ${WIDTH} at once, ${TURN_MS} ms a turn`,
    against: "the ideal schedule, waited out",
    goal: 1.1,
    limit:
      "The turns of a seat without spread end in the same moment, and then eight legs stand in line for one thread: about 10 ms of work between two legs, and a few between two turns. A tenth of a second is the start.",
    repetitions: 5,
    warmups: 1,
    prepare: async (scene) => {
      const seat = await scene.serve(["seat", "serve", "--script", script(scene, "width", TURN_MS, WIDTH)], "width");
      const call = delegation(scene, "width-call", { seats: [seatOf(seat)] }, LEGS, ["--width", String(WIDTH)]);
      return {
        work: call.run,
        baseline: () => Bun.sleep((LEGS / WIDTH) * TURNS * TURN_MS),
        verify: () => `${LEGS} legs succeeded each time`,
      };
    },
  },
];

const REMOTE = ["--route", "remote", "--pin-reason", "measurement"] as const;

function seatOf(base_url: string): object {
  return { name: "s", base_url, model: "scripted/bench", engine: "llama.cpp" };
}

/** A seat that says one sentence and then its fields, each after so long. */
function script(scene: Scene, name: string, delay_ms: number, slots: number): string {
  const turns = [
    { id: "fields", when: { constraint: "any" }, reply: { json: { summary: "two lines" }, delay_ms } },
    { id: "say", reply: { content: "The note has two lines.", delay_ms } },
  ];
  return scene.file(`${name}-script.json`, JSON.stringify({ schema_version: 1, name: "bench", slots, turns }));
}

/** A call of so many legs, in a data folder of its own; a run of it throws unless every leg succeeds. */
function delegation(scene: Scene, name: string, config: object, legs: number, more: readonly string[] = []) {
  const data = scene.dataFolder(name);
  writeFileSync(join(data, "config.json"), JSON.stringify(config), { mode: 0o600 });
  const one = (number: number) => ({
    goal: `Say how many lines note ${number} has.`,
    context: [{ name: `note-${number}.md`, text: `first line of ${number}\nsecond line\n` }],
    output_schema: { properties: { summary: { type: "string" } }, required: ["summary"] },
    acceptance: ["nonempty:summary", "contains:two"],
  });
  const files = Array.from({ length: Math.ceil(legs / LEGS_PER_FILE) }, (_, file) => {
    const many = Array.from({ length: Math.min(legs, LEGS_PER_FILE) }, (_, at) => one(file * LEGS_PER_FILE + at));
    return scene.file(`${name}-${file}.json`, JSON.stringify(many));
  });
  const args = ["delegate", "--json", "--strict", "--quiet", ...more, ...files.flatMap((path) => ["--contract", path])];
  return { run: () => scene.writAtOnce(args, { data }) };
}
