import { describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import type { DelegationContract } from "../../src/core/delegation/contract.ts";
import { mayFollow } from "../../src/core/node/job.ts";
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
    for (const n of [3, 1, 2]) expect(first.submit(submission(n), -1)).toBe("stored");
    first.close();
    const queue = here.open();
    expect(queue.waiting(10).map(({ job_id, contract }) => [job_id, contract])).toEqual(
      [3, 1, 2].map((n) => [id(n), `{"goal":"${n}"}`]),
    );
    expect([3, 1, 2].map((n) => queue.position(id(n)))).toEqual([0, 1, 2]);
    queue.close();
  });

  test("stores one id once, and no more jobs than there may be", () => {
    using here = place();
    const queue = here.open();
    expect(queue.submit(submission(1), 2)).toBe("stored");
    expect(queue.submit(submission(1), 2)).toBe("known");
    expect(queue.submit(submission(2), 2)).toBe("stored");
    queue.claim(id(1));
    expect(queue.submit(submission(3), 2)).toBe("full");
    expect(queue.find(id(3))).toBeNull();
    queue.finish(id(1), "{}");
    expect(queue.submit(submission(3), 2)).toBe("stored");
    queue.close();
  });

  test("of a claim and a cancellation, one wins", () => {
    using here = place();
    const queue = here.open();
    queue.submit(submission(1), -1);
    expect([queue.claim(id(1)), queue.cancel(id(1), false)]).toEqual([true, false]);
    queue.submit(submission(2), -1);
    expect([queue.cancel(id(2), true), queue.claim(id(2))]).toEqual([true, false]);
    expect(queue.find(id(2))).toMatchObject({ state: "canceled", reaped: true, rev: 2 });
    queue.close();
  });

  test("a start puts what ran back to the head, and ends what ran too often with a result", () => {
    using here = place();
    let queue = here.open();
    for (const n of [1, 2, 3]) queue.submit(submission(n), -1);
    queue.claim(id(2));
    queue.claim(id(3));
    expect(queue.recover(1, () => "never")).toEqual({ requeued: 2, ended: 0 });
    expect(queue.waiting(9).map(({ job_id }) => job_id)).toEqual([id(2), id(3), id(1)]);
    queue.close();
    queue = here.open();
    queue.claim(id(2));
    expect(queue.recover(1, ({ job_id, restarts }) => `${job_id} ${restarts}`)).toEqual({ requeued: 0, ended: 1 });
    expect(queue.find(id(2))).toMatchObject({ state: "done", restarts: 2, result: `${id(2)} 2` });
    queue.close();
  });

  test("an orderly stop is no restart", () => {
    using here = place();
    const queue = here.open();
    for (const n of [1, 2]) queue.submit(submission(n), -1);
    queue.claim(id(2));
    expect(queue.release(id(2))).toBe(true);
    expect(queue.find(id(2))).toMatchObject({ state: "accepted", restarts: 0 });
    expect(queue.waiting(1)[0]?.job_id).toBe(id(2));
    queue.close();
  });

  test("counts ages by what it is told, and forgets what ended long ago, its contract first", () => {
    using here = place();
    const queue = here.open();
    for (const n of [1, 2]) queue.submit(submission(n), -1);
    queue.tick(1000);
    queue.claim(id(1));
    queue.tick(500);
    queue.finish(id(1), '{"ok":1}');
    queue.tick(100);
    expect(queue.find(id(1))).toMatchObject({ age_ms: 1600, queued_ms: 1000, running_ms: 500, ended_ms: 100 });
    expect(queue.find(id(2))).toMatchObject({ age_ms: 1600, queued_ms: 1600, running_ms: 0, ended_ms: 0 });
    expect(queue.expire({ job_ms: 200, contract_ms: 100 })).toBe(0);
    expect(queue.find(id(1))).toMatchObject({ contract: null, result: '{"ok":1}' });
    queue.tick(100);
    expect(queue.expire({ job_ms: 200, contract_ms: 100 })).toBe(1);
    expect(queue.find(id(1))).toBeNull();
    expect(queue.find(id(2))?.contract).toBe('{"goal":"2"}');
    queue.close();
  });

  test("lists the last jobs without their texts", () => {
    using here = place();
    const queue = here.open();
    for (const n of [1, 2, 3]) queue.submit(submission(n), -1);
    expect(queue.recent(2).map(({ job_id, contract }) => [job_id, contract])).toEqual([
      [id(3), null],
      [id(2), null],
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
          if (what === "submit") queue.submit(submission(n), 2);
          else if (what === "finish") queue.finish(id(n), "{}");
          else if (what === "fail") queue.fail(id(n), "no");
          else if (what === "cancel") queue.cancel(id(n), false);
          else if (what === "recover") queue.recover(1, () => "{}");
          else queue[what as "claim" | "release"](id(n));
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
