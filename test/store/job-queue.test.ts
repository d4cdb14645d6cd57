import { describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import type { DelegationContract } from "../../src/core/delegation/contract.ts";
import { agesOf, mayFollow } from "../../src/core/node/job.ts";
import type { Submission } from "../../src/core/node/submit.ts";
import { openJobQueue } from "../../src/store/job-queue.ts";

function place() {
  const folder = mkdtempSync(join(tmpdir(), "writ-queue-"));
  const path = join(folder, "run", "node.db");
  return {
    folder,
    path,
    open: () => openJobQueue(path).queue,
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}

function submission(n: number): Submission {
  return {
    job_id: `wrt-${String(n).padStart(24, "0")}`,
    contract: { timeout_sec: 300 } as DelegationContract,
    contract_text: `{"goal":"${n}"}`,
    contract_sha256: `sha-${n}`,
    seat: "",
    estimate_tokens: 100,
    deadline_sec: 0,
    label: "",
    origin: "",
  };
}
const id = (n: number) => submission(n).job_id;

describe("the queue of a node", () => {
  test("keeps what was submitted across a reopening, and starts it in order", () => {
    using here = place();
    const first = here.open();
    for (const n of [3, 1, 2]) expect(first.submit(submission(n), -1, 0)).toBe("stored");
    first.close();
    const queue = here.open();
    expect(queue.waiting().map(({ job_id }) => [job_id, queue.contract(job_id)])).toEqual(
      [3, 1, 2].map((n) => [id(n), `{"goal":"${n}"}`]),
    );
    expect([3, 1, 2].map((n) => queue.position(id(n)))).toEqual([0, 1, 2]);
    queue.close();
  });

  test("stores one id once, and no more jobs than there may be", () => {
    using here = place();
    const queue = here.open();
    expect(queue.submit(submission(1), 2, 0)).toBe("stored");
    expect(queue.submit(submission(1), 2, 0)).toBe("known");
    expect(queue.submit(submission(2), 2, 0)).toBe("stored");
    queue.claim(id(1), 0);
    expect(queue.submit(submission(3), 2, 0)).toBe("full");
    expect(queue.find(id(3))).toBeNull();
    queue.finish(id(1), "{}", 0);
    expect(queue.submit(submission(3), 2, 0)).toBe("stored");
    queue.close();
  });

  test("of a claim and a cancellation, one wins", () => {
    using here = place();
    const queue = here.open();
    queue.submit(submission(1), -1, 0);
    expect([queue.claim(id(1), 0), queue.cancel(id(1), false, 0)]).toEqual([true, false]);
    queue.submit(submission(2), -1, 0);
    expect([queue.cancel(id(2), true, 0), queue.claim(id(2), 0)]).toEqual([true, false]);
    expect(queue.find(id(2))).toMatchObject({ state: "canceled", reaped: true, rev: 2 });
    queue.close();
  });

  test("a start puts what ran back to the head, and ends what ran too often with a result", () => {
    using here = place();
    let queue = here.open();
    for (const n of [1, 2, 3]) queue.submit(submission(n), -1, 0);
    queue.claim(id(2), 0);
    queue.claim(id(3), 0);
    expect(queue.recover(1, () => "never", 0)).toEqual({ requeued: 2, ended: 0 });
    expect(queue.waiting().map(({ job_id }) => job_id)).toEqual([id(2), id(3), id(1)]);
    queue.close();
    queue = here.open();
    queue.claim(id(2), 0);
    expect(queue.recover(1, ({ job_id, restarts }) => `${job_id} ${restarts}`, 0)).toEqual({ requeued: 0, ended: 1 });
    expect(queue.find(id(2))).toMatchObject({ state: "done", restarts: 2, result: `${id(2)} 2` });
    queue.close();
  });

  test("an orderly stop is no restart", () => {
    using here = place();
    const queue = here.open();
    for (const n of [1, 2]) queue.submit(submission(n), -1, 0);
    queue.claim(id(2), 0);
    expect(queue.release(id(2), 0)).toBe(true);
    expect(queue.find(id(2))).toMatchObject({ state: "accepted", restarts: 0 });
    expect(queue.waiting()[0]?.job_id).toBe(id(2));
    queue.close();
  });

  test("counts ages by the time served, and forgets what ended long ago, its contract first", () => {
    using here = place();
    const queue = here.open();
    for (const n of [1, 2]) queue.submit(submission(n), -1, 100);
    const ages = (n: number, now: number) => {
      const job = queue.find(id(n));
      return job === null ? null : agesOf(job, now);
    };
    queue.claim(id(1), 1100);
    queue.finish(id(1), '{"ok":1}', 1600);
    expect(ages(1, 1700)).toEqual({ age_ms: 1600, queued_ms: 1000, running_ms: 500 });
    expect(ages(2, 1700)).toEqual({ age_ms: 1600, queued_ms: 1600, running_ms: 0 });
    expect(queue.expire({ job_ms: 200, contract_ms: 100 }, 1699)).toBe(0);
    expect(queue.contract(id(1))).toBe('{"goal":"1"}');
    expect(queue.expire({ job_ms: 200, contract_ms: 100 }, 1700)).toBe(0);
    expect([queue.contract(id(1)), queue.find(id(1))?.result]).toEqual([null, '{"ok":1}']);
    expect(queue.expire({ job_ms: 200, contract_ms: 100 }, 1800)).toBe(1);
    expect(queue.find(id(1))).toBeNull();
    expect(queue.contract(id(2))).toBe('{"goal":"2"}');
    queue.close();
  });

  test("the time served goes on where it stood, and never back", () => {
    using here = place();
    const first = here.open();
    expect(first.servedMs()).toBe(0);
    first.tick(5000);
    first.submit(submission(1), -1, 6000.4);
    first.tick(10);
    first.close();
    const queue = here.open();
    expect(queue.servedMs()).toBe(6000);
    queue.claim(id(1), 7000);
    queue.recover(1, () => "", 9000);
    queue.claim(id(1), 9500);
    expect(queue.find(id(1))).toMatchObject({ queued_ms: 1500, running_ms: 2000, since_ms: 9500, restarts: 1 });
    queue.close();
  });

  test("is open in one process at a time, and the second one is told so at once", async () => {
    using here = place();
    const queue = here.open();
    queue.submit(submission(1), -1, 0);
    const script = `import { openJobQueue } from ${JSON.stringify(join(import.meta.dir, "../../src/store/job-queue.ts"))};
      try { openJobQueue(${JSON.stringify(here.path)}); console.log("opened"); } catch (error) { console.log(error.code); }`;
    const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" });
    expect(await new Response(child.stdout).text()).toBe("node_running\n");
    expect(queue.submit(submission(2), -1, 0)).toBe("stored");
    queue.close();
  });

  test("lists the last jobs without their texts", () => {
    using here = place();
    const queue = here.open();
    for (const n of [1, 2, 3]) queue.submit(submission(n), -1, 0);
    queue.claim(id(2), 0);
    queue.finish(id(2), "{}", 0);
    expect(queue.recent(2).map(({ job_id, state, result }) => [job_id, state, result])).toEqual([
      [id(3), "accepted", null],
      [id(2), "done", null],
    ]);
    queue.close();
  });

  test("moves a damaged store aside and begins anew, and says so", () => {
    using here = place();
    here.open().close();
    const damaged = "no database at all, and longer than a header of one hundred bytes would be: ".repeat(3);
    for (const n of [1, 2]) {
      writeFileSync(here.path, damaged);
      const opened = openJobQueue(here.path);
      expect(opened.movedTo).toBe(`${here.path}.corrupt-${n}`);
      expect(opened.queue.counts()).toEqual({ accepted: 0, running: 0 });
      opened.queue.close();
    }
    expect(
      readdirSync(join(here.folder, "run"))
        .filter((name) => name.includes("corrupt"))
        .sort(),
    ).toEqual(["node.db.corrupt-1", "node.db.corrupt-2"]);
  });

  test("is for its owner alone", () => {
    using here = place();
    here.open().close();
    expect([statSync(here.path).mode & 0o777, statSync(join(here.folder, "run")).mode & 0o777]).toEqual([0o600, 0o700]);
    expect(existsSync(`${here.path}-wal`)).toBe(false);
  });

  test("law: whatever is asked in whatever order, a job only moves as jobs may, and its revision only grows", () => {
    using here = place();
    const step = fc.tuple(
      fc.constantFrom("submit", "claim", "finish", "fail", "cancel", "release", "recover"),
      fc.integer({ min: 1, max: 3 }),
    );
    let round = 0;
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        round += 1;
        const { queue } = openJobQueue(`${here.path}-${round}`);
        const before = new Map<
          string,
          { state: "accepted" | "running" | "done" | "error" | "canceled"; rev: number }
        >();
        for (const [what, n] of steps) {
          if (what === "submit") queue.submit(submission(n), 2, 0);
          else if (what === "finish") queue.finish(id(n), "{}", 0);
          else if (what === "fail") queue.fail(id(n), "no", 0);
          else if (what === "cancel") queue.cancel(id(n), false, 0);
          else if (what === "recover") queue.recover(1, () => "{}", 0);
          else queue[what as "claim" | "release"](id(n), 0);
          for (const m of [1, 2, 3]) {
            const job = queue.find(id(m));
            const old = before.get(id(m));
            if (job === null) continue;
            if (old !== undefined && old.state !== job.state) {
              expect(mayFollow(old.state, job.state)).toBe(true);
              expect(job.rev).toBeGreaterThan(old.rev);
            }
            expect([job.state === "done", job.state === "error"]).toEqual([job.result !== null, job.error !== null]);
            before.set(id(m), { state: job.state, rev: job.rev });
          }
        }
        queue.close();
      }),
      { numRuns: 25 },
    );
  });
});
