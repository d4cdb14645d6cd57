/**
 * A writ with made-up commands, one for each thing that the frame has to cope with. An entry file like `src/main.ts`.
 */
import { defineCommand } from "../../src/cli/command.ts";
import { openFrame } from "../../src/cli/frame.ts";
import type { Nodes } from "../../src/cli/node.ts";
import { WritError } from "../../src/core/error.ts";

const EXAMPLES = ["writ one", "writ two"] as const;
const args = {};
const exits = { 0: "done" };

const commands = {
  boom: defineCommand({
    meta: { name: "boom", description: "Have a defect" },
    args,
    examples: EXAMPLES,
    exits,
    run: () => {
      throw new TypeError("kaput\nsecond line");
    },
  }),
  stray: defineCommand({
    meta: { name: "stray", description: "Forget a promise" },
    args,
    examples: EXAMPLES,
    exits,
    run: ({ json, out }) => {
      void Promise.reject(new TypeError("forgotten"));
      if (json) out.document({ ok: true });
      return 0;
    },
  }),
  always: defineCommand({
    meta: { name: "always", description: "Print JSON whatever is given" },
    args: { json: { type: "string", description: "The patch" } },
    output: "always",
    examples: EXAMPLES,
    exits,
    run: ({ args: { json }, out }) => {
      if (json === undefined) throw new WritError("bad_json", "No body");
      out.document({ ok: true, json });
      return 0;
    },
  }),
  hook: defineCommand({
    meta: { name: "hook", description: "Be called by a harness" },
    args: { fail: { type: "enum", options: ["store", "defect"] } },
    examples: EXAMPLES,
    exits,
    run: ({ args: { fail } }) => {
      if (fail === "store") throw new WritError("store_busy", "The store is locked", { hint: "Try again" });
      if (fail === "defect") throw new TypeError("kaput");
      return 0;
    },
  }),
  wrap: defineCommand({
    meta: { name: "wrap", description: "Run a command" },
    args: { c: { type: "string", valueHint: "TEXT" } },
    rest: { name: "CMD", description: "The command" },
    output: "none",
    withoutJson: "It prints what its command prints",
    examples: EXAMPLES,
    exits,
    run: ({ args: { c }, rest, json, out }) => {
      out.line(JSON.stringify({ c: c ?? null, rest, json }));
      return 7;
    },
  }),
  hostile: defineCommand({
    meta: { name: "hostile", description: "Print what a stranger wrote" },
    args,
    examples: EXAMPLES,
    exits,
    run: ({ json, out }) => {
      const text = "red \u001b[31mred\u001b[0m \u202ebidi";
      if (json) out.document({ text, ok: true });
      else out.line(text);
      out.talk(text);
      return 0;
    },
  }),
  long: defineCommand({
    meta: { name: "long", description: "Print three megabytes" },
    args,
    examples: EXAMPLES,
    exits,
    run: ({ out }) => {
      out.product("x".repeat(3_000_000));
      out.talk("printed");
      return 0;
    },
  }),
};

const entries = Object.entries(commands).map(([name, command]) => [
  name,
  {
    summary: command.meta.description,
    load: async () => ({ command }),
    ...(name === "hook" ? { hook: true, commands: { sub: { summary: "Sub", load: async () => ({ command }) } } } : {}),
  },
]);
const tree: Nodes = Object.fromEntries(entries);

const frame = openFrame(process.argv.slice(2), process.env.WRIT_DEBUG === "1", { tree, misplaced: {} });
const stray = (error: unknown) => {
  process.exitCode = frame.report(error);
};
process.on("uncaughtException", stray).on("unhandledRejection", stray);
const status = await frame.run().catch((error: unknown) => frame.report(error));
process.exitCode ||= status;
