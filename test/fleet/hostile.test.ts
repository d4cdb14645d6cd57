/**
 * What becomes of a leg at a node that lies, babbles, hides or is of another age; each time a good node stands beside it,
 * or none does.
 *
 * Source: delegation run, sections 4.4, 4.7, 4.11, 7.7, 7.9, 11, 12
 */
import { describe, expect, test } from "bun:test";
import type { WireResult } from "../../src/core/delegation/wire-result.ts";
import { type Leg, onlyLeg, type Printed, tagged } from "../support/fleet.ts";
import { openStage } from "../support/fleet-stage.ts";
import { ended, fault, type HandedJob, json, type NodeScript } from "../support/scripted-node.ts";
import { doneResult } from "../support/wire-result.ts";

const LONG_MS = 30_000;
const ANSWER = { output: "leg-1.", structured: '{"a":"x"}' };
const DIFF = ["--- a/../x.md", "+++ b/../x.md", "@@ -0,0 +1 @@", "+owned", ""].join("\n");

const good: NodeScript = {
  node_id: "b",
  view: (_, job) => (job === null ? fault(404, "not_found") : ended(job, ANSWER)),
};
/** What ends in a result with these fields. */
const saying = (more: Partial<WireResult>): NodeScript => ({
  view: (_, job) => (job === null ? fault(404, "not_found") : ended(job, { ...ANSWER, ...more })),
});
const viewing = (
  view: (job: Pick<HandedJob, "job_id" | "contract_sha256">, asked: number) => Response,
): NodeScript => ({
  view: (_, job, asked) => (job === null ? fault(404, "not_found") : view(job, asked)),
});

type Case = {
  readonly what: string;
  readonly node: NodeScript;
  readonly leg: object;
  readonly exit: number;
  /** Whether a good node is there as well. */
  readonly pair?: boolean;
  readonly summary?: object;
};

const failed = (reason: RegExp): object => ({ status: "failed", reason: expect.stringMatching(reason) });
const first = { kind: "first", node: "node-a" };

const CASES: readonly Case[] = [
  {
    what: "answers with the result of another job",
    node: saying({ job_id: `wrt-${"0".repeat(24)}` }),
    leg: failed(/^result is for another contract: its job id/),
    exit: 1,
  },
  {
    what: "answers with the result of another contract",
    node: saying({ contract_sha256: "0".repeat(64) }),
    leg: failed(/^result is for another contract: its digest/),
    exit: 1,
  },
  {
    what: "answers with a result of 5 MiB",
    node: saying({ output: "x".repeat(5 * 1024 * 1024) }),
    leg: failed(/^remote job error: its answer has more than 4194304 bytes$/),
    exit: 1,
  },
  {
    what: "returns a diff that leaves the folder",
    node: saying({ diff: DIFF, diff_files: ["../x.md"] }),
    leg: failed(/^unsafe diff: /),
    exit: 1,
  },
  {
    what: "returns a diff that nobody asked for",
    node: saying({ diff: DIFF.replaceAll("../", ""), diff_files: ["x.md"] }),
    leg: failed(/^unsafe diff: /),
    exit: 1,
  },
  {
    what: "says done, and hands out what is no result",
    node: viewing(({ job_id }) => json(200, { job_id, state: "done", rev: 3, result: { schema_version: 1 } })),
    leg: failed(/^remote job error: its result cannot be used: /),
    exit: 1,
  },
  {
    what: "says that it validates what does not",
    node: saying({ structured: '{"a":7}' }),
    leg: { status: "deferred", defer_class: "abstention", reason: expect.stringMatching(/\(delegator check\)/) },
    exit: 0,
  },
  {
    what: "says that all checks pass",
    node: viewing((job) => {
      const result = { ...doneResult(job, { ...ANSWER, output: "nothing" }), acceptance: [], status: "succeeded" };
      return json(200, { job_id: job.job_id, state: "done", rev: 3, result });
    }),
    leg: { status: "failed_verification", acceptance_failures: [expect.stringContaining("leg-1.")] },
    exit: 0,
  },
  {
    what: "mumbles, and then answers",
    node: viewing((job, asked) => (asked < 2 ? new Response('{"job_id":') : ended(job, ANSWER))),
    leg: { status: "succeeded", attempts: [first] },
    exit: 0,
  },
  {
    what: "has an error of its own",
    node: viewing(({ job_id }) => json(200, { job_id, state: "error", rev: 3, error: { message: "boom" } })),
    leg: failed(/^remote job error: boom$/),
    exit: 1,
  },
  {
    what: "has an error of its own, beside another node",
    node: viewing(({ job_id }) => json(200, { job_id, state: "error", rev: 3, error: { message: "boom" } })),
    pair: true,
    leg: { status: "succeeded", node: "b", attempts: [{ ...first, status: "failed" }, { kind: "replacement" }] },
    exit: 0,
  },
  {
    what: "loses every job again",
    node: { view: () => fault(404, "not_found") },
    leg: failed(/^remote job error: the node lost the job 3 times$/),
    exit: 1,
  },
  {
    what: "gives a job up that nobody took back",
    node: viewing(({ job_id }) => json(200, { job_id, state: "canceled", rev: 2, reaped: true })),
    pair: true,
    leg: { status: "succeeded", node: "b", attempts: [{ ...first, status: "withdrawn" }, { kind: "replacement" }] },
    exit: 0,
  },
  {
    what: "leads elsewhere when it is asked how it is",
    node: { health: () => Response.redirect("http://169.254.169.254/writ/v1/health", 302) },
    leg: { status: "deferred", defer_class: "infrastructure", attempts: [] },
    exit: 4,
  },
  {
    what: "leads elsewhere when it is handed a job",
    node: { submit: () => Response.redirect("http://169.254.169.254/writ/v1/jobs", 307) },
    leg: failed(/^placement refused: node-a: 307$/),
    exit: 1,
  },
  {
    what: "leads elsewhere when it is asked for a job, and then answers",
    node: viewing((job, asked) => (asked < 2 ? Response.redirect("http://169.254.169.254/", 302) : ended(job, ANSWER))),
    leg: { status: "succeeded" },
    exit: 0,
  },
  {
    what: "speaks another protocol",
    node: { health: () => json(200, { ok: true, node_id: "node-a", protocol: 2, schema_versions: [1], seats: [] }) },
    pair: true,
    leg: { status: "succeeded", node: "b", placement: expect.stringContaining("node-a: skew") },
    exit: 0,
  },
  {
    what: "finds out at a job that it speaks another protocol",
    node: { submit: () => fault(426, "protocol") },
    pair: true,
    leg: {
      status: "succeeded",
      node: "b",
      attempts: [
        { ...first, status: "refused", http: 426, code: "protocol" },
        { kind: "replacement", status: "succeeded" },
      ],
    },
    exit: 0,
    summary: { replaced: 1, replacement_recovered: 1 },
  },
  {
    what: "does not know the contract's version",
    node: { submit: () => fault(400, "schema_version") },
    pair: true,
    leg: failed(/^placement refused: node-a: 400 schema_version/),
    exit: 1,
  },
  {
    what: "has a full disk",
    node: { submit: () => fault(507, "storage", { "Retry-After": "5" }) },
    pair: true,
    leg: { status: "succeeded", node: "b", attempts: [{ ...first, http: 507, code: "storage" }, { node: "b" }] },
    exit: 0,
  },
  {
    what: "does not take the token any more, beside another node with the same one",
    node: { submit: () => fault(401, "unauthorized") },
    pair: true,
    leg: failed(/^auth rejected: /),
    exit: 1,
  },
  {
    what: "had another contract under the id",
    node: { submit: () => fault(409, "id_conflict") },
    pair: true,
    leg: failed(/^internal: node-a: 409 id_conflict/),
    exit: 1,
  },
  {
    what: "says that it is full, and has room a moment later",
    node: {
      submit: ({ job_id }, asked) =>
        asked === 1
          ? fault(503, "queue_full", { "Retry-After": "1" })
          : json(202, { job_id, state: "accepted", rev: 1, new_job_wait_sec: 0 }),
      view: (_, job) => (job === null ? fault(404, "not_found") : ended(job, ANSWER)),
    },
    leg: {
      status: "succeeded",
      node: "node-a",
      attempts: [{ http: 503, code: "queue_full" }, { status: "succeeded" }],
    },
    exit: 0,
    summary: { replaced: 1, replacement_recovered: 1 },
  },
  {
    what: "takes a job and never says a word again, beside another node",
    node: { view: () => new Promise<Response>(() => {}) },
    pair: true,
    leg: {
      status: "succeeded",
      node: "b",
      attempts: [
        { ...first, status: "abandoned" },
        { kind: "orphan", node: "b", status: "succeeded" },
      ],
    },
    exit: 0,
    summary: { orphaned: 1 },
  },
];

describe("a node that", () => {
  test.concurrent.each(CASES)(
    "$what",
    async ({ node, leg, exit, pair, summary }) => {
      await using stage = openStage();
      const urls = [node, ...(pair === true ? [good] : [])].map((script) => stage.scripted(script).url);
      const { call } = stage.delegator(urls, { limits: { orphan_grace_sec: 1, capacity_wait_sec: 6 } });
      const going = call([tagged("leg-1")], "--route", "remote");
      expect((await onlyLeg(going)) as Leg & object).toMatchObject(leg);
      const document: Printed = await going.document;
      expect((await going.ended).exit).toBe(exit);
      expect(document.summary).toMatchObject(summary ?? {});
    },
    2 * LONG_MS,
  );
});
