/** What the doctor plays, and the fixtures, have the shape of what Claude Code sends. */
import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { rehearsedRuns, type Scene, startPayload, stopPayload } from "../../../src/core/hooks/rehearsal.ts";
import type { JsonObject } from "../../../src/core/json/value.ts";
import { readHook } from "../../../src/core/record/hook.ts";
import { fixture } from "../../support/harness.ts";

const SCENE: Scene = { session_id: "s", agent_id: "a", cwd: "/w" };
const [succeeds, fails, background] = rehearsedRuns(SCENE);

test.each<[string, JsonObject | undefined]>([
  ["subagent-start", startPayload(SCENE)],
  ["subagent-stop", stopPayload(SCENE, false)],
  ["post-tool-use-bash", succeeds?.payload],
  ["post-tool-use-failure-bash", fails?.payload],
  ["post-tool-use-bash-background", background?.payload],
])("the rehearsal's payload has no field that %s has not", (name, payload) => {
  const real = fixture(name);
  expect(Object.keys(payload ?? {}).filter((key) => !Object.hasOwn(real, key))).toEqual([]);
  for (const key of ["tool_input", "tool_response"]) {
    const fields = Object.keys((payload?.[key] ?? {}) as JsonObject);
    expect(fields.filter((field) => !Object.hasOwn((real[key] ?? {}) as JsonObject, field))).toEqual([]);
  }
});

test.each([succeeds, fails, background])("the rehearsal's run is read as it is meant", (run) => {
  expect(readHook(run?.payload ?? null, "claude-code")).toMatchObject({
    kind: "captures",
    agent_id: "a",
    captures: [{ command: run?.command, exit_code: run?.exit_code }],
  });
});

const READ: Readonly<Record<string, object>> = {
  "subagent-start": { kind: "start", agent_id: "a6c1d2e3f405162738" },
  "subagent-stop": { kind: "stop", agent_id: "a6c1d2e3f405162738", stop_hook_active: false },
  "subagent-stop-orphan": { kind: "stop", agent_id: "afeedfacecafebeef0", agent_transcript_path: null },
  "post-tool-use-bash": { kind: "captures", captures: [{ tool: "bash", exit_code: 0 }] },
  "post-tool-use-bash-background": { captures: [{ exit_code: null, failed: false }] },
  "post-tool-use-bash-moved-to-background": { captures: [{ exit_code: null }] },
  "post-tool-use-bash-interrupted": { captures: [{ exit_code: null, outputText: "cc -c a.c\n" }] },
  "post-tool-use-bash-timed-out": { captures: [{ exit_code: null }] },
  "post-tool-use-bash-interpreted": { captures: [{ exit_code: null, exit_note: "No matches found" }] },
  "post-tool-use-bash-persisted": { captures: [{ exit_code: 0, persisted: expect.stringContaining("b1.txt") }] },
  "post-tool-use-bash-main": { kind: "captures", agent_id: null },
  "post-tool-use-failure-bash": {
    captures: [{ exit_code: 1, failed: false, outputText: expect.stringMatching(/^2 pass/) }],
  },
  "post-tool-use-failure-bash-interrupt": { captures: [{ exit_code: null, failed: true }] },
  "post-tool-use-read": { captures: [{ tool: "read", path: "/work/shop/src/cart.ts" }] },
  "post-tool-use-edit": { captures: [{ tool: "edit", path: "/work/shop/src/cart.ts" }] },
  "post-tool-use-write": { captures: [{ tool: "edit", path: "/work/shop/NOTES.md" }] },
  "post-tool-use-other": { kind: "ignored" },
  "session-end": { kind: "ignored" },
};

test("every fixture has its line in the table", () => {
  const folder = join(import.meta.dir, "..", "..", "..", "fixtures", "hooks");
  const names = readdirSync(folder).map((name) => name.replace(/\.json$/, ""));
  expect(names.sort()).toEqual(Object.keys(READ).sort());
});

test.each(Object.entries(READ))("%s is read as it is meant", (name, event) => {
  expect(readHook(fixture(name), "claude-code")).toMatchObject(event);
});
