/** What one test of a fleet starts: nodes and delegators, all of them gone at its end. */
import type { JsonObject } from "../../src/core/json/value.ts";
import { type Delegator, delegator, TOKEN } from "./fleet.ts";
import { type Fate, networkFront, type Passed } from "./network-front.ts";
import { configureNode, type NodeCommand, startNode } from "./node-command.ts";
import { type NodeScript, scriptedNode } from "./scripted-node.ts";
import { type RunningSeat, type ScriptObject, startScriptedSeat } from "./scripted-seat.ts";
import { smallDisk } from "./small-disk.ts";
import { type LivingWorld, livingWorld } from "./writ.ts";

export type NodeMore = {
  readonly id?: string;
  readonly slots?: number;
  readonly node?: JsonObject;
  readonly token?: string;
  /** Of the config, beside seats and node. */
  readonly config?: JsonObject;
  /** Called before it is started. */
  readonly prepare?: (world: LivingWorld) => void;
};

/** A node that can be killed and started again where it was. */
export type StagedNode = {
  readonly world: LivingWorld;
  readonly seat: RunningSeat;
  readonly url: string;
  /** The process that serves now, or served last. */
  readonly now: NodeCommand;
  stop(signal: "SIGKILL" | "SIGTERM"): Promise<number>;
  start(token?: string): Promise<NodeCommand>;
  /** How often the seat was asked to work, tools and all. */
  worked(): Promise<number>;
};

export function openStage() {
  const ends: (() => Promise<unknown> | unknown)[] = [];
  return {
    /** Starts a node with one scripted seat, and waits until it has looked at it. */
    async node(script: ScriptObject, { id = "a", slots = 1, node = {}, ...more }: NodeMore = {}): Promise<StagedNode> {
      const world = livingWorld();
      ends.push(() => world[Symbol.dispose]());
      more.prepare?.(world);
      const seat: RunningSeat = await startScriptedSeat(script);
      ends.push(() => seat.close());
      configureNode(world, { url: seat.url, more: { slots } }, { node: { id, ...node }, ...more.config });
      let now: NodeCommand = await startNode(world, { WRIT_NODE_TOKEN: more.token ?? TOKEN });
      ends.push(() => now.stop("SIGKILL"));
      const { url } = now;
      await isReady(now);
      return {
        world,
        seat,
        url,
        get now() {
          return now;
        },
        stop: (signal) => now.stop(signal),
        async start(token = TOKEN) {
          now = await startNode(world, { WRIT_NODE_TOKEN: token }, "--listen", new URL(url).host);
          await isReady(now);
          return now;
        },
        worked: async () => (await seat.log()).filter(({ tools }) => tools.length > 0).length,
      };
    },
    delegator(...given: Parameters<typeof delegator>): Delegator {
      const made = delegator(...given);
      ends.push(() => made[Symbol.dispose]());
      return made;
    },
    /** A node that says what it is told to. */
    scripted(script: NodeScript) {
      const made = scriptedNode(script);
      ends.push(() => made.close());
      return made;
    },
    /** A network in front of a node. */
    async front(url: string, fateOf?: (request: Passed) => Fate) {
      const made = await networkFront(url, fateOf);
      ends.push(() => made.close());
      return made;
    },
    /** A small disk in the place of a folder. */
    disk(folder: string, megabytes: number) {
      const made = smallDisk(folder, megabytes);
      ends.push(() => made[Symbol.dispose]());
      return made;
    },
    /** Called at the end, before what was started earlier goes. */
    atEnd: (end: () => Promise<unknown> | unknown) => void ends.push(end),
    async [Symbol.asyncDispose]() {
      for (const end of ends.toReversed()) await end();
    },
  };
}

/** It has looked at its seat: until then no delegator sends it anything. */
async function isReady(node: NodeCommand): Promise<void> {
  await until(async () => {
    const { seats } = (await node.health()) as { seats: readonly { served: boolean | null }[] };
    return seats[0]?.served === true;
  });
}

/** Looks again and again; a test in which it never holds fails by its own limit. */
export async function until(holds: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 5));
}
