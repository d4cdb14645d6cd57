/** A node that says what it is told to, on a real socket: what a hostile, a broken or a forgetful one would say. */
import type { WireResult } from "../../src/core/delegation/wire-result.ts";
import { placeRecord, seatRecord } from "./places.ts";
import { doneResult } from "./wire-result.ts";

/** A job as it was handed over. */
export type HandedJob = { readonly job_id: string; readonly contract_sha256: string; readonly contract: object };

export type NodeScript = {
  /** What is answered to one that polls or follows a job; `job` null: it was not handed over to this process. */
  readonly view?: (job_id: string, job: HandedJob | null, asked: number) => Response | Promise<Response>;
  readonly submit?: (job: HandedJob, asked: number) => Response | Promise<Response>;
  readonly cancel?: (job_id: string, isForced: boolean) => Response;
  readonly health?: () => Response;
  readonly node_id?: string;
  readonly slots?: number;
  /** The address that it listens on; 0: any. */
  readonly port?: number;
};

export const json = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  Response.json(body, { status, headers });
export const fault = (status: number, code: string, headers: Record<string, string> = {}) =>
  json(status, { error: { code, path: null, message: code, hint: null } }, headers);
/** The view of a job that has ended with a result. */
export const ended = (job: Pick<HandedJob, "job_id" | "contract_sha256">, more: Partial<WireResult> = {}) =>
  json(200, { job_id: job.job_id, state: "done", rev: 3, result: doneResult(job, more) });

/** Starts one. What is left out of the script is what a willing node of one slot would say. */
export function scriptedNode(script: NodeScript = {}) {
  const jobs = new Map<string, HandedJob>();
  const asked: string[] = [];
  const count = (what: string) => asked.filter((each) => each === what).length;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: script.port ?? 0,
    development: false,
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      const [, job_id = "", part] = /^\/writ\/v1\/jobs\/([^/]+)(?:\/(\w+))?$/.exec(pathname) ?? [];
      if (pathname === "/writ/v1/health") {
        asked.push("health");
        return script.health?.() ?? json(200, recordOf(script));
      }
      if (request.method === "POST") {
        const job = (await request.json()) as HandedJob;
        asked.push("submit");
        jobs.set(job.job_id, job);
        const accepted = { job_id: job.job_id, state: "accepted", rev: 1, queue_position: 0, new_job_wait_sec: 0 };
        return (await script.submit?.(job, count("submit"))) ?? json(202, accepted);
      }
      if (request.method === "DELETE") {
        asked.push("cancel");
        return (
          script.cancel?.(job_id, searchParams.get("force") === "1") ??
          json(200, { state: "canceled", withdrawn: true })
        );
      }
      if (part === "events") return fault(404, "not_found");
      asked.push("view");
      const job = jobs.get(job_id) ?? null;
      if (script.view !== undefined) return await script.view(job_id, job, count("view"));
      return job === null ? fault(404, "not_found") : ended(job);
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    port: server.port ?? 0,
    jobs,
    /** What it was asked, in order. */
    asked,
    close: () => server.stop(true),
  };
}

function recordOf({ node_id = "node-a", slots = 1 }: NodeScript) {
  const record = placeRecord({ node_id, max_running: slots, seats: [seatRecord({ slots })] });
  return { ok: true, ...record };
}
