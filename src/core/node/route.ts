/**
 * What a request to a node asks for: its method and its address, read. Who asks is judged before that is acted upon.
 *
 * Source: delegation run, sections 7.3, 7.9
 */
import { PROTOCOL } from "../placement/eligibility.ts";
import type { NodeErrorCode } from "./job.ts";
import { isJobId } from "./submit.ts";

export type Route =
  | { readonly kind: "health" }
  | { readonly kind: "capabilities" }
  | { readonly kind: "submit" }
  | { readonly kind: "recent"; readonly limit: number }
  /** `wait_ms` 0 answers at once; `since` null is the revision that the job has when it is asked for. */
  | { readonly kind: "view"; readonly job_id: string; readonly wait_ms: number; readonly since: number | null }
  | { readonly kind: "events"; readonly job_id: string }
  | { readonly kind: "result"; readonly job_id: string }
  | { readonly kind: "cancel"; readonly job_id: string; readonly isForced: boolean }
  | Astray;

export type Astray = {
  readonly kind: "astray";
  readonly code: NodeErrorCode;
  readonly message: string;
  readonly hint: string | null;
  /** The methods that the address takes. */
  readonly allow?: string;
};

const ROOT = `/writ/v${PROTOCOL}/`;
/** A poll is held no longer, whatever it asks for. */
export const LONGEST_WAIT_SEC = 25;
const LISTED = { preset: 50, most: 200 } as const;

/** @param target as it stands in the request line. Errors: none, whatever stands there */
export function routeOf(method: string, target: string): Route {
  const at = target.indexOf("?");
  const path = at < 0 ? target : target.slice(0, at);
  const query = new URLSearchParams(at < 0 ? "" : target.slice(at + 1));
  if (!path.startsWith(ROOT)) return elsewhere(path);
  const [head = "", job_id, part, ...rest] = path.slice(ROOT.length).split("/");
  if (job_id === undefined) return top(method, head, query);
  if (head !== "jobs" || rest.length > 0) return nothing(path);
  if (!isJobId(job_id)) return astray("not_found", "There is no such job here");
  switch (part) {
    case undefined:
      if (method === "GET") return view(job_id, query);
      return method === "DELETE" ? cancel(job_id, query) : wrongMethod("GET, DELETE");
    case "events":
      return method === "GET" ? { kind: "events", job_id } : wrongMethod("GET");
    case "result":
      return method === "GET" ? { kind: "result", job_id } : wrongMethod("GET");
    default:
      return nothing(path);
  }
}

function top(method: string, head: string, query: URLSearchParams): Route {
  switch (head) {
    case "health":
      return method === "GET" ? { kind: "health" } : wrongMethod("GET");
    case "capabilities":
      return method === "GET" ? { kind: "capabilities" } : wrongMethod("GET");
    case "jobs": {
      if (method === "POST") return { kind: "submit" };
      if (method !== "GET") return wrongMethod("GET, POST");
      const limit = numberIn(query, "limit", /^\d{1,6}$/, LISTED.preset);
      if (limit === null) return badQuery("limit", "a whole number");
      return { kind: "recent", limit: Math.min(limit, LISTED.most) };
    }
    default:
      return nothing(ROOT + head);
  }
}

function view(job_id: string, query: URLSearchParams): Route {
  const wait = numberIn(query, "wait", /^\d{1,6}(?:\.\d{1,6})?$/, 0);
  if (wait === null) return badQuery("wait", "seconds");
  const since = numberIn(query, "since", /^\d{1,15}$/, -1);
  if (since === null) return badQuery("since", "the rev of a view");
  return {
    kind: "view",
    job_id,
    wait_ms: Math.min(wait, LONGEST_WAIT_SEC) * 1000,
    since: since < 0 ? null : since,
  };
}

function cancel(job_id: string, query: URLSearchParams): Route {
  const force = numberIn(query, "force", /^[01]$/, 0);
  return force === null ? badQuery("force", "0 or 1") : { kind: "cancel", job_id, isForced: force === 1 };
}

/** Null where something else stands there. */
function numberIn(query: URLSearchParams, name: string, form: RegExp, preset: number): number | null {
  const text = query.get(name);
  if (text === null) return preset;
  return form.test(text) ? Number(text) : null;
}

function elsewhere(path: string): Astray {
  const version = /^\/writ\/v(\d{1,6})(?:\/|$)/.exec(path)?.[1];
  if (version === undefined || Number(version) === PROTOCOL) return nothing(path);
  return astray(
    "protocol",
    `Protocol ${version} is not spoken here: ${PROTOCOL} is`,
    `Its addresses begin with ${ROOT}`,
  );
}

function nothing(path: string): Astray {
  return astray(
    "not_found",
    `There is nothing at ${JSON.stringify(path.slice(0, 100))}`,
    `Addresses begin with ${ROOT}`,
  );
}

function wrongMethod(allow: string): Astray {
  return { ...astray("method_not_allowed", `This address takes ${allow}`), allow };
}

function badQuery(name: string, what: string): Astray {
  return astray("bad_request", `${name} must be ${what}`);
}

function astray(code: NodeErrorCode, message: string, hint: string | null = null): Astray {
  return { kind: "astray", code, message, hint };
}
