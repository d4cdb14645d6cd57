import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  type ApprovalRequest,
  commandFault,
  commandsOf,
  readPayload,
  renderRequest,
} from "../../../src/core/approval/request.ts";

const sha256 = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex");

const ASKED: ApprovalRequest = {
  commands: ["npm publish", "git push"],
  operation: "release",
  rationale: null,
  scope: null,
  risk_level: "high",
  rollback: null,
};

test.each([
  ["npm publish", null],
  ["grep -q 'a & b' file", null],
  ["curl 'http://x/?a=1&b=2'", null],
  ["make 2>&1", null],
  ["make &> log", 'holds "&"'],
  ["echo fine &>/dev/null touch x", 'holds "&"'],
  ["echo a \\>& touch x", 'holds "&"'],
  ["echo a \\<& touch x", 'holds "&"'],
  ["echo a &>&2 touch x", 'holds "&"'],
  ["exec 3>&-", null],
  ["eval $'touch p1 \\x3b touch p2'", `holds "$'", which may spell any character`],
  ["printf 'a\tb'", null],
  ["", "is blank"],
  [" ", "is blank"],
  [" ls", "has blanks at an end"],
  ["ls\n", "has blanks at an end"],
  ["a && b", 'holds "&&"'],
  ["a || b", 'holds "||"'],
  ["a; b", 'holds ";"'],
  ["a | b", 'holds "|"'],
  ["a |& b", 'holds "|"'],
  ["a\nb", "holds a line break"],
  ["echo `id`", 'holds "`"'],
  ["echo $(id)", 'holds "$("'],
  ["diff <(id) x", 'holds "<("'],
  ["tee >(id)", 'holds ">("'],
  ["sleep 1 & rm -rf x", 'holds "&"'],
  ["server &", 'holds "&"'],
  ["echo 'a;b'", 'holds ";"'],
  ["rm \u202egpj.x", "holds an invisible character"],
  ["rm \u001b[8m-rf x", "holds an invisible character"],
  ["ls\rrm", "holds an invisible character"],
])("commandFault(%j) is %j", (command, fault) => {
  expect(commandFault(command)).toBe(fault);
});

test("a command without a fault joins nothing", () => {
  const words = fc.constantFrom("a", " ", "&", "|", ";", "'", '"', "\\", "\n", "$(", ")", "`", ">", "<", "(", "#");
  fc.assert(
    fc.property(fc.array(words, { maxLength: 12 }), (parts) => {
      const command = parts.join("");
      fc.pre(commandFault(command) === null);
      expect(command).not.toMatch(/&&|\|\||;|\||\n|`|\$\(/);
    }),
  );
});

test.each([
  ["'", null],
  ['"', null],
  ["\\", null],
  ["${", null],
  ["#", null],
  ["x& ", "has blanks at an end"],
  ["& x", 'holds "&"'],
  ["x\u001b]", "holds an invisible character"],
])("64 KiB of %j are judged", (part, fault) => {
  const command = part.repeat(Math.ceil((64 * 1024) / part.length));
  expect(commandFault(command)).toBe(fault);
});

test("the digests are of the command, of the list of commands and of the canonical payload", () => {
  const { command_set, request_fingerprint, exact_content, payload, fingerprint } = renderRequest(ASKED, sha256);
  expect(command_set).toEqual([
    { command: "npm publish", fingerprint: sha256("npm publish") },
    { command: "git push", fingerprint: sha256("git push") },
  ]);
  expect(request_fingerprint).toBe(sha256('["npm publish","git push"]'));
  expect(exact_content).toBe("npm publish\ngit push");
  expect(fingerprint).toBe(sha256(payload));
  expect(readPayload(payload)).toEqual({
    command_set,
    request_fingerprint,
    exact_content,
    operation: "release",
    rationale: null,
    scope: null,
    risk_level: "high",
    rollback: null,
  });
});

test.each([
  ["the order of the commands", { commands: ["git push", "npm publish"] }],
  ["the operation", { operation: null }],
  ["the rationale", { rationale: "why" }],
  ["the scope", { scope: "all" }],
  ["the risk", { risk_level: "low" }],
  ["the way back", { rollback: "none" }],
])("%s makes another request", (_, change) => {
  expect(renderRequest({ ...ASKED, ...change }, sha256).fingerprint).not.toBe(renderRequest(ASKED, sha256).fingerprint);
});

test.each([["{"], ["[]"], ["1"], ['{"command_set":1}'], ['{"command_set":[1,{"command":2}]}']])(
  "a payload edited into %s has no commands",
  (payload) => {
    expect(commandsOf(readPayload(payload))).toEqual([]);
  },
);
