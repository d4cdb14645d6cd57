/** `writ delegate` with answers as large as they may be, and many of them. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { piecesOf, serveLarge, streamOf, words } from "../support/large-seat.ts";
import { type LivingWorld, livingWorld, writCommand } from "../support/writ.ts";

const MIB = 1024 * 1024;

let world: LivingWorld;
beforeAll(() => {
  world = livingWorld();
});
afterAll(() => world[Symbol.dispose]());

function put(name: string, value: unknown): void {
  writeFileSync(join(world.folder, name), JSON.stringify(value));
}

describe.skipIf(process.platform !== "linux")("the memory of one leg (needs /proc)", () => {
  const SIZE = 7.9 * MIB;
  /** Times the size of the answer that a leg may take beyond one with a short answer; docs/memory.md says what it takes. */
  const MULTIPLE = 12;

  /** The most that a call took, in bytes. */
  async function peakOf(body: string): Promise<{ readonly peak: number; readonly status: unknown }> {
    using seat = serveLarge(body);
    put("memory.json", seat.config);
    put("contract.json", { goal: "say it", acceptance: ["contains:w"] });
    const child = Bun.spawn([...writCommand(), "delegate", "--contract", "contract.json", "--config", "memory.json"], {
      cwd: world.folder,
      env: world.env(),
      stdin: "ignore",
      stdout: "pipe",
      stderr: "ignore",
    });
    let peak = 0;
    // It only grows: the last reading before the end counts.
    const timer = setInterval(() => {
      peak = Math.max(peak, highWater(child.pid));
    }, 2);
    const stdout = await new Response(child.stdout).text();
    await child.exited;
    clearInterval(timer);
    const { results } = JSON.parse(stdout) as { results: readonly { status: string }[] };
    return { peak, status: results[0]?.status };
  }

  function highWater(pid: number): number {
    try {
      return Number(/VmHWM:\s*(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024;
    } catch {
      return 0; // it has ended
    }
  }

  const text = words(SIZE);
  const call = (given: string) => ({
    tool_calls: [{ index: 0, id: "c", function: { name: "finish", arguments: given } }],
  });
  const bodies: Readonly<Record<string, () => string>> = {
    "in pieces": () => streamOf(piecesOf(text, 4096).map((content) => ({ content }))),
    "a quarter of it in tokens": () => streamOf(piecesOf(text.slice(0, SIZE / 4), 4).map((content) => ({ content }))),
    reasoning: () =>
      streamOf([...piecesOf(text, 4096).map((piece) => ({ reasoning_content: piece })), { content: "with an answer" }]),
    arguments: () => streamOf(piecesOf(JSON.stringify({ answer: text }), 4096).map(call)),
    "one line": () => streamOf([{ content: text }]),
    "one object": () =>
      JSON.stringify({ choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" }] }),
  };

  test("is a small multiple of its answer, however that comes", async () => {
    const small = await peakOf(streamOf([{ content: "with an answer" }]));
    expect(small.peak).toBeGreaterThan(MIB);
    for (const [how, bodyOf] of Object.entries(bodies)) {
      const { peak, status } = await peakOf(bodyOf());
      expect([how, status]).toEqual([how, "succeeded"]);
      const times = (peak - small.peak) / SIZE;
      expect(times < MULTIPLE ? "" : `${how} takes ${times.toFixed(1)} times its size`).toBe("");
    }
  }, 60_000);
});

describe("the document of 64 large legs", () => {
  const LEGS = 64;
  const OUTPUT = words(96 * 1024).trimEnd();
  const contracts = (acceptance: string) => {
    for (let file = 0; file < LEGS / 8; file += 1) {
      put(
        `many-${file}.json`,
        Array.from({ length: 8 }, (_, leg) => ({ goal: `say it, ${file} ${leg}`, acceptance: [acceptance] })),
      );
    }
  };
  const named = Array.from({ length: LEGS / 8 }, (_, file) => `--contract many-${file}.json`).join(" ");
  const delegate = `writ delegate ${named} --config many.json --quiet`;

  type Printed = { readonly ok: boolean; readonly results: readonly { readonly output: string }[] };
  const wholeLegs = (text: string) => {
    const { results } = JSON.parse(text) as Printed;
    return results.filter(({ output }) => output === OUTPUT).length;
  };

  test("comes whole through a slow pipe, is written to --out as it is printed, and what a closed one lost is kept", async () => {
    using seat = serveLarge(streamOf(piecesOf(OUTPUT, 4096).map((content) => ({ content }))));
    put("many.json", seat.config);
    contracts("contains:w");
    const slow = await world.shell(
      `${delegate} --out out | while [ -n "$(head -c 262144 | tee -a printed | tail -c 1)" ]; do sleep 0.01; done
      echo $\{PIPESTATUS[0]}`,
    );
    expect(slow).toEqual({ exit: 0, stdout: "0\n", stderr: "" });
    const printed = readFileSync(join(world.folder, "printed"), "utf8");
    expect(printed).toEndWith("}\n");
    expect(wholeLegs(printed)).toBe(LEGS);
    const written = readFileSync(join(world.folder, "out", "result.json"), "utf8");
    expect(printed === `{"ok":true,${written.slice(1)}`).toBe(true);

    const closed = await world.shell(`${delegate} | head -c 100000 | wc -c; echo $\{PIPESTATUS[0]}`);
    expect(closed.stdout).toBe("100000\n4\n");
    const id = /writ runs show (run-[0-9a-f]{24}) prints it again/.exec(closed.stderr)?.[1] ?? "";
    const kept = await world.writ(["runs", "show", id]);
    expect([kept.exit, wholeLegs(kept.stdout)]).toEqual([0, LEGS]);
  }, 60_000);

  test("is not what decides the status where the legs do", async () => {
    using seat = serveLarge(streamOf(piecesOf(OUTPUT, 4096).map((content) => ({ content }))));
    put("many.json", seat.config);
    contracts("contains:zebra");
    const few = "writ delegate --contract many-0.json --config many.json --quiet";
    const ran = await world.shell(`${few} --strict | true; echo $\{PIPESTATUS[0]}`);
    expect(ran.stdout).toBe("1\n");
    expect(ran.stderr).toContain("standard output did not take the whole result");
  }, 60_000);
});
