/** Recording evidence in a scripted world: where it is kept, and what a refusal leaves. */
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ContractStore } from "../../src/core/contract/repository.ts";
import { WritError } from "../../src/core/error.ts";
import type { Payload } from "../../src/core/evidence/payload.ts";
import { addEvidence, type EvidenceRequest } from "../../src/evidence/add.ts";
import { listEvidence, showEvidence } from "../../src/evidence/look.ts";
import type { World } from "../../src/evidence/world.ts";
import { payloadOf } from "../../src/host/artifact.ts";
import { evidenceFolder } from "../../src/store/blobs.ts";
import { born, refusalOf, task } from "../support/turn.ts";
import { type ScriptedWorld, scriptedWorld } from "../support/world.ts";

const REQUEST: EvidenceRequest = {
  brief: "b",
  ac_id: "AC-1",
  type: "command_output",
  polarity: "positive",
  task_id: null,
  created_by: null,
  workspace: null,
};
const UUID = "00000000-0000-4000-8000-000000000001";

function on(world: ScriptedWorld, more: Partial<World> = {}): World {
  const evidence = evidenceFolder(world.folder, world.folder);
  return { ...world, evidence, mint: { uuid: () => UUID }, ...more };
}

const text = (length: number) => payloadOf(new TextEncoder().encode("x".repeat(length)));
const files = (world: ScriptedWorld) =>
  existsSync(join(world.folder, "evidence")) ? readdirSync(join(world.folder, "evidence"), { recursive: true }) : null;
const rows = (world: ScriptedWorld) => world.sql<{ id: number }>("SELECT id FROM evidence").length;

describe("addEvidence()", () => {
  test("keeps a short text in its row", () => {
    using world = scriptedWorld();
    const { brief_id } = task(world, "b");
    expect(addEvidence(on(world), REQUEST, text(4096))).toEqual({
      id: 1,
      brief_id,
      brief: "b",
      workspace: "me",
      ac_id: "AC-1",
      task_id: null,
      type: "command_output",
      polarity: "positive",
      text: "x".repeat(4096),
      artifact_path: null,
      size_bytes: 4096,
      created_by_agent: null,
      source_contract_id: null,
      source_entry_hash: null,
      created_at: "2026-01-01T00:00:00Z",
    });
    expect(files(world)).toBeNull();
  });

  test.each([
    ["one byte more", text(4097), ".txt"],
    ["bytes that are no text", payloadOf(new Uint8Array([0xff])), ".bin"],
  ])("keeps %s in a file of its own", (_, payload, extension) => {
    using world = scriptedWorld();
    task(world, "b");
    const row = addEvidence(on(world), REQUEST, payload);
    const path = join(world.folder, "evidence", "me", "b", "AC-1", `${UUID}${extension}`);
    expect(row).toMatchObject({ text: null, artifact_path: path, size_bytes: payload.head.length });
    expect(new Uint8Array(readFileSync(path))).toEqual(new Uint8Array(Buffer.concat([...payload.pieces()])));
    expect(on(world).evidence.resolveArtifactPath(path)).toMatchObject({ ok: true });
  });

  test("takes the task of the brief's plan, and the name of who recorded it", () => {
    using world = scriptedWorld();
    const { task_id } = task(world, "b");
    const row = addEvidence(on(world), { ...REQUEST, task_id, polarity: "negative", created_by: "qa" }, text(1));
    expect(row).toMatchObject({ task_id, polarity: "negative", created_by_agent: "qa" });
  });

  test("inside a turn it is the turn's: its workspace, its agent and its contract", () => {
    using world = scriptedWorld();
    task(world, "b");
    world.store.write((tables) => tables.workspaces.ensure("shop", ""));
    world.sql("UPDATE briefs SET workspace = 'shop'");
    const contractId = born(world, { agent: "backend-dev", workspace: "shop" });
    const row = addEvidence(on(world, { contractId }), REQUEST, text(1));
    expect(row).toMatchObject({ workspace: "shop", created_by_agent: "backend-dev", source_contract_id: contractId });
    expect(refusalOf(() => addEvidence(on(world), REQUEST, text(1))).message).toContain('in workspace "me"');
    expect(addEvidence(on(world, { workspace: "shop" }), REQUEST, text(1)).workspace).toBe("shop");
    const elsewhere = on(world, { contractId, workspace: "other" });
    expect(addEvidence(elsewhere, { ...REQUEST, workspace: "shop" }, text(1)).workspace).toBe("shop");
  });

  test.each([
    ["a brief that is not there", { brief: "none" }, "--brief", 'there is no brief "none" in workspace "me"'],
    ["a brief of another workspace", { workspace: "you" }, "--brief", 'no brief "b" in workspace "you"'],
    ["a task that is not there", { task_id: 99 }, "--task", 'the plan of brief "b" has no task 99'],
    ["a task of another brief", { task_id: 2 }, "--task", 'the plan of brief "b" has no task 2'],
    ["a criterion that leads out", { ac_id: "../../x" }, "--ac", 'the acceptance id "../../x" holds "/"'],
    ["a criterion of two points", { ac_id: ".." }, "--ac", 'holds ".."'],
    ["a blank criterion", { ac_id: " " }, "--ac", "is blank"],
  ])("refuses %s and leaves nothing", (_, more, path, says) => {
    using world = scriptedWorld();
    task(world, "b");
    task(world, "other");
    for (const payload of [text(1), text(5000)]) {
      const error = refusalOf(() => addEvidence(on(world), { ...REQUEST, ...more }, payload));
      expect(error).toMatchObject({ code: "evidence_refused", path });
      expect(error.message).toContain(says);
    }
    expect([rows(world), files(world)]).toEqual([0, null]);
  });

  test.each([
    ["brief", "UPDATE briefs SET name = 'a/b'", { brief: "a/b" }, "--brief"],
    ["workspace", "UPDATE briefs SET workspace = '..'", { workspace: ".." }, "--workspace"],
  ])("a %s that was named otherwise is no folder of a file", (_, sql, more, path) => {
    using world = scriptedWorld();
    task(world, "b");
    world.store.write((tables) => tables.workspaces.ensure("..", ""));
    world.sql(sql);
    const error = refusalOf(() => addEvidence(on(world), { ...REQUEST, ...more }, text(5000)));
    expect(error).toMatchObject({ code: "evidence_refused", path });
    expect([rows(world), files(world)]).toEqual([0, null]);
    expect(addEvidence(on(world), { ...REQUEST, ...more }, text(1)).text).toBe("x");
  });

  test.each([
    ["the store stays busy", () => new WritError("store_busy", "busy"), "store_busy"],
    ["the insert is refused", () => new WritError("store_failed", "full"), "store_failed"],
  ])("when %s the file and its folders are taken back", (_, error, code) => {
    using world = scriptedWorld();
    task(world, "b");
    let kept: readonly string[] | null = null;
    const store: ContractStore = {
      ...world.store,
      write() {
        kept = files(world) as readonly string[];
        throw error();
      },
    };
    expect(refusalOf(() => addEvidence(on(world, { store }), REQUEST, text(5000))).code).toBe(code as never);
    expect(kept as unknown).toContain(`me/b/AC-1/${UUID}.txt`);
    expect([rows(world), files(world)]).toEqual([0, null]);
  });

  test("when its brief is gone before the row is written, nothing is left", () => {
    using world = scriptedWorld();
    task(world, "b");
    const payload: Payload = {
      ...text(5000),
      *pieces() {
        world.sql("DELETE FROM briefs");
        yield new Uint8Array(5000);
      },
    };
    expect(refusalOf(() => addEvidence(on(world), REQUEST, payload)).code).toBe("evidence_refused");
    expect([rows(world), files(world)]).toEqual([0, null]);
  });
});

describe("looking", () => {
  test("lists a brief's evidence in the workspace at work, and shows one row", () => {
    using world = scriptedWorld();
    task(world, "b");
    const first = addEvidence(on(world), REQUEST, text(1));
    const second = addEvidence(on(world), { ...REQUEST, ac_id: "AC-2" }, text(2));
    const filter = { brief: "b", ac_id: null, workspace: null };
    expect(listEvidence(world, filter)).toEqual([first, second]);
    expect(listEvidence(world, { ...filter, ac_id: "AC-2" })).toEqual([second]);
    expect(listEvidence(world, { ...filter, ac_id: "AC-3" })).toEqual([]);
    expect(showEvidence(world, second.id)).toEqual(second);
  });

  test("what is not there is no row, also where no store is", () => {
    using world = scriptedWorld();
    const filter = { brief: "b", ac_id: null, workspace: null };
    for (const store of [world.store, null]) {
      const empty = { contractId: null, workspace: "w", store };
      const error = refusalOf(() => listEvidence(empty, filter));
      expect(error).toMatchObject({ code: "no_row", message: 'There is no brief "b" in workspace "w"' });
      expect(refusalOf(() => showEvidence(empty, 1))).toMatchObject({ code: "no_row" });
    }
  });
});
