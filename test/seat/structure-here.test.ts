import { describe, expect, test } from "bun:test";
import { WritError } from "../../src/core/error.ts";
import { structureHere } from "../../src/seat/structure-here.ts";
import { jobOf, type Script, scriptedSeat, slowly } from "../support/seat-world.ts";

const output_schema = { properties: { port: { type: "integer" } }, required: ["port"] };

async function structure(script: Script, output = "The port is 80.", wall_ms = 60_000) {
  const scripted = scriptedSeat(script);
  const signal = new AbortController().signal;
  const made = await structureHere(scripted.world, jobOf({ output_schema }), output, {
    wall_ms,
    signal,
    onProgress: () => {},
  });
  return { ...scripted, made };
}

describe("an answer that came without its form", () => {
  test("gets it from a seat here, and that is said", async () => {
    const { made, requests, slots } = await structure({ replies: ['{"port":80}'] });
    expect(made).toEqual({
      structured: '{"port":80}',
      repack: { mode: "grammar", attempts: 1, ms: 0, note: "structured by the delegator" },
    });
    expect(requests).toHaveLength(1);
    expect(slots.taken).toBe(0);
  });

  test("gets it without a request where it has it", async () => {
    const { made, requests } = await structure({ replies: [] }, 'It is {"port":80}.');
    expect(made).toMatchObject({ structured: '{"port":80}', repack: { mode: "lossless" } });
    expect(requests).toEqual([]);
  });

  test.each<[string, Script]>([
    ["no slot is free", { replies: ['{"port":80}'], slot: null }],
    ["the seat is not ready", { replies: ['{"port":80}'], looks: ["loading"] }],
    ["the seat fails at it too", { replies: ['{"port":"eighty"}'] }],
    ["the time is over", { replies: [slowly(61_000, '{"port":80}')] }],
    [
      "the slots of this machine cannot be used",
      {
        replies: ['{"port":80}'],
        world: {
          slotLine: {
            take: async () => {
              throw new WritError("state_failed", "no");
            },
          },
        },
      },
    ],
  ])("has none where %s, and nothing is waited for", async (_, script) => {
    const { made, slots, clock } = await structure(script);
    expect(made).toBeNull();
    expect(slots.taken).toBe(0);
    expect(clock.now).toBeLessThanOrEqual(60_000);
  });
});
