import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { NODE_ERRORS } from "../../../src/core/node/job.ts";
import { type Route, routeOf } from "../../../src/core/node/route.ts";

const ID = `wrt-${"0a".repeat(12)}`;
const JOB = `/writ/v1/jobs/${ID}`;

describe("routeOf()", () => {
  test.each<[string, string, Route]>([
    ["GET", "/writ/v1/health", { kind: "health" }],
    ["GET", "/writ/v1/health?x=1", { kind: "health" }],
    ["GET", "/writ/v1/capabilities", { kind: "capabilities" }],
    ["POST", "/writ/v1/jobs", { kind: "submit" }],
    ["GET", "/writ/v1/jobs", { kind: "recent", limit: 50 }],
    ["GET", "/writ/v1/jobs?limit=3", { kind: "recent", limit: 3 }],
    ["GET", "/writ/v1/jobs?limit=99999", { kind: "recent", limit: 200 }],
    ["GET", JOB, { kind: "view", job_id: ID, wait_ms: 0, since: null }],
    ["GET", `${JOB}?wait=12`, { kind: "view", job_id: ID, wait_ms: 12_000, since: null }],
    ["GET", `${JOB}?wait=0.5&since=7`, { kind: "view", job_id: ID, wait_ms: 500, since: 7 }],
    ["GET", `${JOB}?wait=3600&since=0`, { kind: "view", job_id: ID, wait_ms: 25_000, since: 0 }],
    ["GET", `${JOB}/events`, { kind: "events", job_id: ID }],
    ["GET", `${JOB}/result`, { kind: "result", job_id: ID }],
    ["DELETE", JOB, { kind: "cancel", job_id: ID, isForced: false }],
    ["DELETE", `${JOB}?force=0`, { kind: "cancel", job_id: ID, isForced: false }],
    ["DELETE", `${JOB}?force=1`, { kind: "cancel", job_id: ID, isForced: true }],
  ])("%s %s", (method, target, route) => {
    expect(routeOf(method, target)).toEqual(route);
  });

  test.each([
    ["GET", "/", "not_found"],
    ["GET", "", "not_found"],
    ["GET", "/writ/v1", "not_found"],
    ["GET", "/writ/v1/", "not_found"],
    ["GET", "//writ/v1/health", "not_found"],
    ["GET", "http://node/writ/v1/health", "not_found"],
    ["GET", "/writ/v1/Health", "not_found"],
    ["GET", "/writ/v1/health/", "not_found"],
    ["GET", `/writ/v1/jobs/${ID.toUpperCase()}`, "not_found"],
    ["GET", `${JOB}/`, "not_found"],
    ["GET", `${JOB}/events/`, "not_found"],
    ["GET", "/writ/v1/jobs/", "not_found"],
    ["GET", "/writ/v2/health", "protocol"],
    ["GET", "/writ/v0", "protocol"],
    ["GET", "/writ/v01/health", "not_found"],
    ["POST", `${JOB}/events`, "method_not_allowed"],
    ["DELETE", `${JOB}/result`, "method_not_allowed"],
    ["GET", `${JOB}?wait=-1`, "bad_request"],
    ["GET", `${JOB}?wait=1e3`, "bad_request"],
    ["GET", `${JOB}?wait=`, "bad_request"],
    ["GET", `${JOB}?since=1.5`, "bad_request"],
    ["GET", "/writ/v1/jobs?limit=all", "bad_request"],
    ["DELETE", `${JOB}?force=true`, "bad_request"],
  ])("%s %j leads nowhere: %s", (method, target, code) => {
    expect(routeOf(method, target)).toMatchObject({ kind: "astray", code });
  });

  test("names the methods that an address takes", () => {
    expect(routeOf("PUT", "/writ/v1/jobs")).toMatchObject({ allow: "GET, POST" });
    expect(routeOf("POST", JOB)).toMatchObject({ allow: "GET, DELETE" });
  });

  test("never throws, and what it says of a stranger's address is short", () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.oneof(
          fc.string(),
          fc.webPath(),
          fc.string().map((text) => JOB + text),
        ),
        (...ask) => {
          const route = routeOf(...ask);
          if (route.kind !== "astray") return;
          expect(Object.keys(NODE_ERRORS)).toContain(route.code);
          expect(route.message.length).toBeLessThan(800);
        },
      ),
    );
  });
});
