import { expect, test } from "bun:test";
import { badContracts } from "../../../src/core/delegation/bad-contract.ts";
import type { DelegationIssue } from "../../../src/core/delegation/issue.ts";

const unreadable = (file: string): DelegationIssue => {
  return { code: "file_unreadable", path: "", message: "Cannot read it", hint: null, file };
};
const wrong = (file: string, code: DelegationIssue["code"] = "not_json"): DelegationIssue => {
  return { code, path: "", message: "It is wrong", hint: null, file };
};

test.each<[string, readonly string[], readonly DelegationIssue[], string, string | null]>([
  ["a file that is not there", ["a"], [unreadable("a")], 'The contract file "a" cannot be opened', null],
  [
    "files that are not there",
    ["a", "b"],
    [unreadable("a"), unreadable("b")],
    "2 contract files cannot be opened",
    null,
  ],
  [
    "one that is wrong",
    ["a b.json"],
    [wrong("a b.json"), wrong("a b.json", "path_missing")],
    'The contract file "a b.json" is not valid: 2 issues',
    "All that can be said of it: writ lint 'a b.json' --read-root DIR",
  ],
  [
    "standard input",
    ["-"],
    [wrong("-")],
    "The contract on standard input is not valid: 1 issue",
    "Save what came on standard input to a FILE. All that can be said of it: writ lint FILE",
  ],
  [
    "one that is not there and one that is wrong",
    ["a", "b", "c"],
    [unreadable("a"), wrong("b")],
    "2 contract files are not valid: 2 issues",
    "All that can be said of them: writ lint b",
  ],
])("of %s says what to do about it, and lint is named only of what opens", (_, files, issues, message, hint) => {
  const error = badContracts(files, issues);
  expect([error.code, error.message, error.hint]).toEqual(["bad_contract", message, hint]);
});
