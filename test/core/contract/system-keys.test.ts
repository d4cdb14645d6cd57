import { expect, test } from "bun:test";
import { SYSTEM_KEYS } from "../../../src/core/contract/envelope.ts";
import { systemKeyNotes } from "../../../src/core/contract/system-keys.ts";

test.each([
  { field: "agent_state", means: "agent_status.agent_state" },
  { field: ".agent_state.x", means: "agent_status.agent_state" },
  { field: "agent_name", means: "writ dispatch --agent" },
  { field: "conclusion_alias", means: "conclusion" },
  { field: "update_contracts_refused", means: "update_contracts" },
])("a write of $field is told of $means", ({ field, means }) => {
  const [note, ...more] = systemKeyNotes({ verb: "set", field, value: "x" });
  expect(note).toContain(means);
  expect(more).toEqual([]);
});

test.each([{ field: "agent_status.agent_state" }, { field: "conclusion" }, { field: "x.agent_state" }, { field: "" }])(
  "a write of $field is told nothing",
  ({ field }) => {
    expect(systemKeyNotes({ verb: "add", field, value: "x" })).toEqual([]);
  },
);

test("a patch is told of each key of writ's own at its root, and of none below", () => {
  const patch = { conclusion: "x", agent_state: "BLOCKED", memory_delta: { agent_name: "y" }, backstop: true };
  expect(systemKeyNotes({ verb: "fill", patch }).map((note) => note.split(" ")[0])).toEqual([
    "agent_state",
    "backstop",
  ]);
  expect(systemKeyNotes({ verb: "fill", patch: [] })).toEqual([]);
});

test("every key of writ's own has a note", () => {
  for (const field of SYSTEM_KEYS) expect(systemKeyNotes({ verb: "set", field, value: 1 })).toHaveLength(1);
});
