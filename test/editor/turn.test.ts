import { expect, test } from "bun:test";
import { dispatchTurn } from "../../src/editor/dispatch.ts";
import { mutateDraft } from "../../src/editor/edit.ts";
import { finalizeContract } from "../../src/editor/finalize.ts";
import { undoChange } from "../../src/editor/undo.ts";
import { viewDraft } from "../../src/editor/view.ts";
import { scriptedWorld } from "../support/world.ts";
import { keepRun } from "../../src/record/keep.ts";

test("a turn lives from its dispatch to its close", () => {
  using world = scriptedWorld();
  const born = dispatchTurn(world, {
    agent: "backend-dev", goal: "fix it", workspace: "me", project: null, role: null, surface: null, kind: null,
    plan_task_id: null, plan_id: null, parent_handoff_id: null, brief_id: null, session_id: null, harness_agent_id: null,
    can_read: null, can_write: null, consolidation: false,
  });
  const address = { draft_id: born.contract_id, agent_id: null };
  keepRun(world, born.contract_id, { source: "run", harness: null, tool: "bash", tool_use_id: null, command: "bun test", argv: ["bun","test"], path: null, cwd: "/", exit_code: 0, signal: null, failed: false, exit_note: null, started_at: null, ended_at: world.clock.now(), output: "4 pass\n0 fail\n", tail: null, output_bytes: 14, output_sha256: null, truncated: false, ordered: true });
  mutateDraft(world, address, { verb: "add", field: "evidence_report.key_outputs", value: "x" });
  const w = mutateDraft(world, address, { verb: "add", field: "evidence_report.key_outputs", value: "y" });
  expect(w.mirrored).toBe(true);
  undoChange(world, address, null);
  mutateDraft(world, address, { verb: "fill", patch: { conclusion: "ok", agent_status: { agent_state: "complete", next_action: "done" }, evidence_report: { verification: { type: "command", command: "bun test", result: "pass" }, verbatim_outputs: [{ command: "bun test", excerpt: "4 pass ... 0 fail" }] } } });
  const done = finalizeContract(world, { address, workspace: null, session_id: null, plan_task_id: null, strict: false });
  expect(done.status).toBe("finalized");
  expect(viewDraft(world, address).envelope.evidence_report).toMatchObject({ key_outputs: ["x"], commands_run: ["bun test"] });
  const next = mutateDraft(world, address, { verb: "set", field: "conclusion", value: "more" });
  expect(next.continuation?.created).toBe(true);
  expect(mutateDraft(world, address, { verb: "set", field: "conclusion", value: "more2" }).continuation?.created).toBe(false);
});
