import { expect, test } from "bun:test";
import { resolveWorkspace } from "../../../src/core/workspace/resolve.ts";

test.each([
  ["a", "b", "c", "a"],
  [null, "b", "c", "b"],
  [" ", "b", "c", "b"],
  [null, null, "c", "c"],
  [null, "", null, "me"],
  [" a ", null, null, "a"],
])("option %j, environment %j and row %j make %j", (option, environment, row, workspace) => {
  expect(resolveWorkspace({ option, environment, row })).toBe(workspace);
});
