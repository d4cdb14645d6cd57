import { expect, test } from "bun:test";
import {
  changedNotice,
  proposalNotice,
  refusalNotice,
  updateNotices,
} from "../../../src/core/contract/proposal-notices.ts";
import { readUpdates, type UpdateRefusal } from "../../../src/core/contract/updates.ts";

const ID = "a0123456789abcdef.t1";

test.each([
  { pending: 0, project: "shop", line: null },
  { pending: 1, project: "shop", line: `1 project-context update proposed for shop — contract ${ID}` },
  { pending: 2, project: "shop", line: `2 project-context updates proposed for shop — contract ${ID}` },
  { pending: 2, project: null, line: `2 project-context updates proposed for an unresolved project — contract ${ID}` },
  { pending: 2, project: " ", line: `2 project-context updates proposed for an unresolved project — contract ${ID}` },
  { pending: 1, project: "sh\nop", line: `1 project-context update proposed for sh op — contract ${ID}` },
])("proposalNotice() of $pending for $project", ({ pending, project, line }) => {
  expect(proposalNotice({ contract_id: ID, project, pending })).toBe(line);
});

const REFUSAL: UpdateRefusal = {
  index: 2,
  contract: "stack",
  key: null,
  code: "payload_missing",
  reason: "The entry has no payload",
  hint: "",
};

test.each<{ change: Partial<UpdateRefusal>; line: string }>([
  { change: {}, line: 'refused: update_contracts[2] "stack": payload_missing -- The entry has no payload' },
  { change: { contract: null }, line: "refused: update_contracts[2]: payload_missing -- The entry has no payload" },
  {
    change: { contract: "project_identity", key: "ghost", code: "project_unowned" },
    line: 'refused: update_contracts[2] "project_identity" key "ghost": project_unowned -- The entry has no payload',
  },
  {
    change: { contract: "a\nb", reason: "one\n two " },
    line: 'refused: update_contracts[2] "a b": payload_missing -- one two',
  },
])("refusalNotice() of $change is one line", ({ change, line }) => {
  expect(refusalNotice({ ...REFUSAL, ...change })).toBe(line);
});

test("changedNotice() names the project, the section and the path, on one line", () => {
  const change = { project: "shop", section: "apps", key_path: "api.strategy" };
  expect(changedNotice(change)).toBe("changed: project context shop/apps.api.strategy");
  expect(changedNotice({ ...change, key_path: "a\nb" })).toBe("changed: project context shop/apps.a b");
});

test("updateNotices() says what is proposed, refused and changed, in this order", () => {
  const { refused } = readUpdates([5, { contract: "stack" }]);
  const changed = [{ project: "shop", section: "apps", key_path: "api" }];
  expect(updateNotices({ contract_id: ID, project: "shop", pending: 1 }, refused, changed)).toEqual([
    `1 project-context update proposed for shop — contract ${ID}`,
    "refused: update_contracts[0]: entry_not_object -- An entry is an object, not a number",
    'refused: update_contracts[1] "stack": payload_missing -- The entry has no payload',
    "changed: project context shop/apps.api",
  ]);
  expect(updateNotices({ contract_id: ID, project: "shop", pending: 0 }, [], [])).toEqual([]);
});
