import { describe, expect, test } from "bun:test";
import { WritError } from "../../src/core/error.ts";
import type { CommandEnd } from "../../src/core/prove/command-end.ts";
import type { FreshCopy } from "../../src/core/prove/fresh-copy.ts";
import { type ProofRequest, proveTurn } from "../../src/prove/prove.ts";
import type { World } from "../../src/prove/world.ts";
import { keepOutputOf } from "../../src/record/keep.ts";
import { born, closed, closing, everything, fill, finalize, ran } from "../support/turn.ts";
import { type ScriptedWorld, scriptedWorld } from "../support/world.ts";

type Asked = { copied: string[]; runs: { argv: readonly string[]; cwd: string }[]; removed: number; said: string[] };

/** A world that copies nothing and runs nothing, and remembers what it was asked for. */
function provingWorld(
  base: ScriptedWorld,
  script: { end?: Partial<CommandEnd>; copy?: Partial<FreshCopy>; run?: World["run"]; removal?: string } = {},
): World & { asked: Asked } {
  const asked: Asked = { copied: [], runs: [], removed: 0, said: [] };
  return {
    asked,
    store: base.store,
    sha256: base.sha256,
    values: base.values,
    async copyFolder(folder) {
      asked.copied.push(folder);
      return {
        kind: "git",
        source: "/work",
        commit: "c0ffee",
        dirty: false,
        files: 2,
        bytes: 20,
        skipped: [],
        ignored: [],
        root: "/copy/work",
        folder: "/copy/work",
        ...script.copy,
        remove() {
          asked.removed += 1;
          return script.removal ?? null;
        },
      };
    },
    async run(argv, how) {
      asked.runs.push({ argv, cwd: how.cwd });
      if (script.run !== undefined) return await script.run(argv, how);
      how.keep("3 pass\n");
      const times = { started_ms: 0, ended_ms: 1000 };
      return { is_started: true, exit_code: 0, signal: null, ended_by: "itself", cut: false, ...times, ...script.end };
    },
    keepOutput: () => keepOutputOf(base),
    isProgram: base.isProgram,
    progress: (text) => void asked.said.push(text),
    warn: (text) => void asked.said.push(`warning: ${text}`),
  };
}

/** A closed turn that cites a command of which there is a run. */
function provable(world: ScriptedWorld, command = "make test", more: Parameters<typeof ran>[3] = {}): string {
  const id = born(world);
  ran(world, id, command, more);
  const passed = (more.exit_code ?? 0) === 0;
  const verification = { type: "command", command, result: passed ? "pass" : "fail" };
  fill(world, id, closing(passed ? "COMPLETE" : "BLOCKED", { evidence_report: { verification } }));
  finalize(world, id);
  return id;
}

const REQUEST = { folder: null, timeout_ms: 60_000 };

async function prove(world: World, contract: string, more: Partial<ProofRequest> = {}) {
  return await proveTurn(world, { ...REQUEST, contract, signal: new AbortController().signal, ...more });
}

async function refusalOf(proving: Promise<unknown>): Promise<WritError> {
  const error = await proving.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (error instanceof WritError) return error;
  throw new Error(`it was not refused: ${error}`);
}

describe("proveTurn()", () => {
  test("repeats the cited command in the copy of its folder, removes the copy, and writes nothing", async () => {
    using base = scriptedWorld();
    const id = provable(base);
    const before = everything(base);
    const world = provingWorld(base);
    const proof = await prove(world, id);
    expect(proof).toMatchObject({
      outcome: "agrees",
      contract_id: id,
      command: "make test",
      moved: null,
      seq: 1,
      expected: { exit_code: 0, from: "record" },
      end: { exit_code: 0 },
      output: { output: "3 pass\n", output_bytes: 7, output_sha256: base.sha256("3 pass\n") },
      copy: {
        kind: "git",
        source: "/work",
        commit: "c0ffee",
        dirty: false,
        files: 2,
        bytes: 20,
        skipped: [],
        ignored: [],
      },
    });
    expect(world.asked).toMatchObject({
      copied: ["/work"],
      runs: [{ argv: ["sh", "-c", "make test"], cwd: "/copy/work" }],
      removed: 1,
    });
    expect(everything(base)).toEqual(before);
  });

  test.each([
    { recorded: 0, today: { exit_code: 0 }, outcome: "agrees" },
    { recorded: 0, today: { exit_code: 1 }, outcome: "disagrees" },
    { recorded: 0, today: { exit_code: null, signal: "SIGSEGV" }, outcome: "disagrees" },
    { recorded: 2, today: { exit_code: 2 }, outcome: "agrees" },
    { recorded: 2, today: { exit_code: 0 }, outcome: "disagrees" },
  ])("exit $recorded in the record and $today today $outcome", async ({ recorded, today, outcome }) => {
    using base = scriptedWorld();
    const id = provable(base, "make test", { exit_code: recorded });
    expect((await prove(provingWorld(base, { end: today }), id)).outcome).toBe(outcome as "agrees");
  });

  test("a command whose words are known runs as words, else by a shell", async () => {
    using base = scriptedWorld();
    const world = provingWorld(base);
    await prove(world, provable(base, "bun test 'a b'", { argv: ["bun", "test", "a b"] }));
    await prove(world, provable(base, "bun test | cat"));
    expect(world.asked.runs.map(({ argv }) => argv)).toEqual([
      ["bun", "test", "a b"],
      ["sh", "-c", "bun test | cat"],
    ]);
  });

  test.each([
    { command: "cd /work/sub && make", cwd: "/work/sub", moved: "cd /copy/work/sub && make" },
    { command: "cd /work && make", cwd: "/work/sub", moved: "cd /copy/work && make" },
    { command: "make", cwd: "/work/sub", moved: null },
    {
      command: "cd /linked/sub; cd /linked; make",
      cwd: "/linked/sub",
      moved: "cd /copy/work/sub; cd /copy/work; make",
    },
    { command: "cd /short; make", cwd: "/short", moved: "cd /copy/work/sub; make" },
  ])("$command of $cwd is moved to the copy: $moved", async ({ command, cwd, moved }) => {
    using base = scriptedWorld();
    const world = provingWorld(base, { copy: { folder: "/copy/work/sub" } });
    const proof = await prove(world, provable(base, command, { cwd }));
    expect(proof.moved).toBe(moved);
    expect(world.asked.runs).toEqual([{ argv: ["sh", "-c", moved ?? command], cwd: "/copy/work/sub" }]);
  });

  test("words are moved to the copy one by one", async () => {
    using base = scriptedWorld();
    const world = provingWorld(base);
    const proof = await prove(world, provable(base, "bun test /work/a", { argv: ["bun", "test", "/work/a"] }));
    expect(world.asked.runs[0]?.argv).toEqual(["bun", "test", "/copy/work/a"]);
    expect(proof.moved).toBe("bun test /copy/work/a");
  });

  test("--cwd names the folder instead, and the recorded one means its copy too", async () => {
    using base = scriptedWorld();
    const world = provingWorld(base, { copy: { source: "/new" } });
    const id = provable(base, "cd /work && make", { cwd: "/work" });
    expect((await prove(world, id, { folder: "/new" })).moved).toBe("cd /copy/work && make");
    expect(world.asked.copied).toEqual(["/new"]);
  });

  test.each([
    { what: "an unknown id", setUp: () => "9", code: "no_row" },
    { what: "an open turn", setUp: (world: ScriptedWorld) => born(world), code: "not_closed" },
    {
      what: "a turn that cites no command",
      setUp: (world: ScriptedWorld) => closed(world, "COMPLETE"),
      code: "nothing_to_prove",
    },
    {
      what: "a run whose folder is not on record",
      setUp: (world: ScriptedWorld) => provable(world, "make", { cwd: null }),
      code: "nothing_to_prove",
    },
    {
      what: "a record that was edited",
      setUp: (world: ScriptedWorld) => {
        const id = provable(world);
        world.sql("UPDATE tool_records SET command = 'true'");
        return id;
      },
      code: "record_broken",
    },
    {
      what: "a program that this machine lacks",
      setUp: (world: ScriptedWorld) => provable(world, "cargo test", { argv: ["cargo", "test"] }),
      code: "proof_inconclusive",
    },
  ])("$what is refused as $code, and nothing is copied", async ({ setUp, code }) => {
    using base = scriptedWorld();
    const world = provingWorld(base);
    expect<string>((await refusalOf(prove(world, setUp(base)))).code).toBe(code);
    expect(world.asked).toMatchObject({ copied: [], runs: [], removed: 0 });
  });

  test("a program that was missing then as well, and one named by its path, are tried", async () => {
    using base = scriptedWorld();
    const world = provingWorld(base, { end: { exit_code: 127 } });
    const missing = provable(base, "cargo", { argv: ["cargo"], exit_code: 127 });
    expect((await prove(world, missing)).outcome).toBe("agrees");
    expect((await prove(world, provable(base, "./go", { argv: ["./go"] }))).outcome).toBe("disagrees");
  });

  test("a command that did not end in time proves nothing, and its copy is removed", async () => {
    using base = scriptedWorld();
    const world = provingWorld(base, { end: { exit_code: null, signal: "SIGTERM", ended_by: "time" } });
    const { code, message } = await refusalOf(prove(world, provable(base)));
    expect([code, message]).toEqual([
      "proof_inconclusive",
      '"make test" did not end within 60 seconds and was stopped',
    ]);
    expect(world.asked.removed).toBe(1);
  });

  test("a proof that is stopped ends with the signal's reason once its copy is removed", async () => {
    using base = scriptedWorld();
    const controller = new AbortController();
    const reason = new Error("enough");
    const world = provingWorld(base, {
      run: async () => {
        controller.abort(reason);
        return {
          is_started: true,
          exit_code: 0,
          signal: null,
          ended_by: "itself",
          cut: false,
          started_ms: 0,
          ended_ms: 0,
        };
      },
    });
    const proving = prove(world, provable(base), { signal: controller.signal });
    expect(await proving.catch((error: unknown) => error)).toBe(reason);
    expect(world.asked.removed).toBe(1);
  });

  test("a copy that cannot be removed is said, and a run that breaks does not keep it", async () => {
    using base = scriptedWorld();
    const world = provingWorld(base, { removal: "The copy stays" });
    await prove(world, provable(base));
    expect(world.asked.said.at(-1)).toBe("warning: The copy stays");
    const broken = provingWorld(base, { run: () => Promise.reject(new TypeError("kaput")) });
    expect(await prove(broken, provable(base)).catch((error: unknown) => error)).toBeInstanceOf(TypeError);
    expect(broken.asked.removed).toBe(1);
  });

  test("only runs that the close counted are repeated", async () => {
    using base = scriptedWorld();
    const id = provable(base);
    ran(base, id, "make test", { exit_code: 1 });
    expect((await prove(provingWorld(base), id)).seq).toBe(1);
  });
});
