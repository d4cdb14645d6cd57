/** One whole turn as it is typed: the specification's worked example, with scripts of sh in the place of a test suite. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type LivingWorld, livingWorld, type Ran, shown } from "../support/writ.ts";

let world: LivingWorld;
beforeAll(() => {
  world = livingWorld();
});
afterAll(() => world[Symbol.dispose]());

test("a turn is dispatched, its commands are run, a false claim is refused, the true one is kept", async () => {
  const checkout = (passed: number, failed: number) =>
    writeFileSync(
      join(world.folder, "checkout"),
      `#!/bin/sh\necho "checkout.test:"\necho " ${passed} pass"\necho " ${failed} fail"\nexit ${failed}\n`,
      { mode: 0o755 },
    );
  const born = await world.shell(
    "writ dispatch --agent backend-dev --goal 'Find why the checkout test fails and fix it'",
  );
  const id = /WRIT_CONTRACT_ID=(.*)\n$/.exec(born.stdout)?.[1] ?? "";
  expect(born.stdout).toContain("goal: Find why the checkout test fails and fix it\n");

  const session: string[] = [];
  const even = (ran: Ran) =>
    shown(ran)
      .replaceAll(id, "ID")
      .replaceAll(/"change_id":\d+/g, '"change_id":N')
      .replace(/change \d+ of/, "change N of")
      .replace(/head [0-9a-f]{64}/, "head HEAD")
      .replace(/"record_head":"[0-9a-f]{64}"/, '"record_head":"HEAD"')
      .replace(/"checked_at":"[^"]*"/, '"checked_at":"NOW"')
      .replace(/"repair_message":"(?:[^"\\]|\\.)*"/, '"repair_message":"..."');
  const type = async (line: string) => {
    session.push(`$ ${line}\n${even(await world.shell(line, { env: { WRIT_CONTRACT_ID: id } }))}`);
  };

  checkout(3, 1);
  await type("writ run -- ./checkout now");
  await type(
    `writ contract fill --json '{"evidence_report":{"patterns_checked":["grep -rn roundTotal src: 2 call sites"],"key_outputs":["roundTotal truncates instead of rounding"]}}'`,
  );
  await type(`writ contract fill --json '{"evidence_report":{"key_outputs":["fixed in src/total.ts"]}}'`);
  await type("writ contract add evidence_report.key_outputs 'fixed in src/total.ts'");
  await type(`writ contract set key_outputs '["x"]' --json`);
  checkout(4, 0);
  await type("writ run -- ./checkout now");
  await type(
    `writ contract fill --json '{"evidence_report":{"verification":{"type":"command","command":"./checkout now","method":"re-ran the failing suite after the fix","result":"pass"},"verbatim_outputs":[{"command":"./checkout now","excerpt":"4 pass ... 0 fail"}]}}'`,
  );
  await type(`writ contract fill --json '{"agent_status":{"agent_state":"COMPLETE","next_action":"done"}}'`);
  await type("writ contract finalize");
  await type("writ contract set conclusion 'roundTotal truncated; rounds now. 4/4 checkout tests pass. Nothing open.'");
  await type("writ contract set evidence_report.verification.command 'all tests pass'");
  await type("writ contract finalize");
  await type("writ contract undo");
  await type("writ contract finalize --json");
  await type("writ contract view --field evidence_report.commands_run");
  await type("writ record verify");
  expect(session.join("\n")).toMatchInlineSnapshot(`
    "$ writ run -- ./checkout now
    checkout.test:
     3 pass
     1 fail
    --- exit 1

    $ writ contract fill --json '{"evidence_report":{"patterns_checked":["grep -rn roundTotal src: 2 call sites"],"key_outputs":["roundTotal truncates instead of rounding"]}}'
    {"ok":true,"status":"ok","draft_id":"ID","mirrored":true,"change_id":N}
    --- exit 0

    $ writ contract fill --json '{"evidence_report":{"key_outputs":["fixed in src/total.ts"]}}'
    {"ok":false,"status":"refused","code":"list_overwrite","path":null,"message":"fill would overwrite 1 populated list; nothing was written.","hint":"Use \`writ contract add\` to extend a list, or \`writ contract set\` to replace it.","draft_id":"ID","collisions":[{"field":"evidence_report.key_outputs","existing":1,"incoming":1}]}
    --- stderr
    Refused: fill would overwrite 1 populated list -- nothing was written.
      evidence_report.key_outputs: existing 1, incoming 1
    Use \`writ contract add\` to extend a list, or \`writ contract set\` to replace it.
    --- exit 3

    $ writ contract add evidence_report.key_outputs 'fixed in src/total.ts'
    OK: draft ID updated and validated.
    --- exit 0

    $ writ contract set key_outputs '["x"]' --json
    {"ok":false,"status":"rejected","code":"validation","path":null,"message":"write failed validation -- no changes were persisted.","hint":null,"codes":["MISPLACED_KEY"],"errors":[{"code":"MISPLACED_KEY","path":"key_outputs","message":"key_outputs is a declared field at the wrong level","hint":"It belongs at evidence_report.key_outputs. It was not moved."}],"repair_message":"..."}
    --- exit 1

    $ writ run -- ./checkout now
    checkout.test:
     4 pass
     0 fail
    --- exit 0

    $ writ contract fill --json '{"evidence_report":{"verification":{"type":"command","command":"./checkout now","method":"re-ran the failing suite after the fix","result":"pass"},"verbatim_outputs":[{"command":"./checkout now","excerpt":"4 pass ... 0 fail"}]}}'
    {"ok":true,"status":"ok","draft_id":"ID","mirrored":true,"change_id":N}
    --- exit 0

    $ writ contract fill --json '{"agent_status":{"agent_state":"COMPLETE","next_action":"done"}}'
    {"ok":true,"status":"ok","draft_id":"ID","mirrored":true,"change_id":N}
    --- exit 0

    $ writ contract finalize
    --- stderr
    Rejected: conclusion is missing. Write it: writ contract set --draft-id ID conclusion '...'
    --- exit 1

    $ writ contract set conclusion 'roundTotal truncated; rounds now. 4/4 checkout tests pass. Nothing open.'
    OK: draft ID updated and validated.
    --- exit 0

    $ writ contract set evidence_report.verification.command 'all tests pass'
    OK: draft ID updated and validated.
    --- exit 0

    $ writ contract finalize
    --- stderr
    Rejected: content_unverified -- the contract cites what the record refutes.
      command_is_verdict [evidence_report.verification.command]: Command "all tests pass" is a verdict, not a command
        Name the command that was run, exactly as run; the verdict belongs in verification.result
    --- exit 1

    $ writ contract undo
    OK: change N of draft ID taken back.
    --- exit 0

    $ writ contract finalize --json
    {"ok":true,"status":"finalized","draft_id":"ID","handoff_id":1,"created":true,"agent_state":"COMPLETE","content_checks":{"version":1,"bound":true,"runs":2,"record_head":"HEAD","skipped":[],"advice":[],"checked_at":"NOW"},"conclusion_alias":null,"proposals":{"stored":0,"refused":[],"applied":[]},"notices":[],"evidence_ids":[],"unheld":null}
    --- exit 0

    $ writ contract view --field evidence_report.commands_run
    [
      "./checkout now"
    ]
    --- exit 0

    $ writ record verify
    OK: the record of ID is whole (2 entries, head HEAD).
    --- exit 0
    "
  `);
});
