/**
 * The main job, for real: a turn is dispatched, commands run under capture, evidence is written in many small calls,
 * a false claim is refused with the reason, the true one is finalized, and the row is shown. Then a task is worked on,
 * evidence is cited by its id, a verifier settles the gate, and a turn asks for consent that somebody else gives. Last,
 * work is delegated to a model seat, and what comes back is proved on fresh copies. The seat is the one of WRIT_SEAT_URL,
 * else the one that `npm run seat` started, else a scripted one, which is called so.
 *
 * Every command below is typed as a user would type it, in a folder of its own; each has the status it must end in.
 */
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { openNode, openSeat } from "./demo/places.ts";

const ROOT = join(import.meta.dir, "..");

const writ = resolve(
  process.env.WRIT_BIN ?? join(import.meta.dir, "..", "dist", process.platform === "win32" ? "writ.exe" : "writ"),
);
if (!existsSync(writ)) throw new Error(`${writ} is missing: run npm run build`);
const folder = mkdtempSync(join(tmpdir(), "writ-demo-"));
const home = join(folder, "home");
const environment: Record<string, string | undefined> = {
  ...process.env,
  HOME: home,
  WRIT_DATA_DIR: join(folder, "data"),
};
for (const name of ["WRIT_CONTRACT_ID", "WRIT_WORKSPACE", "WRIT_DB", "WRIT_CONFIG"]) delete environment[name];

let steps = 0;
const surprises: string[] = [];

function say(text: string): void {
  console.log(`\n# ${text}`);
}

/** What a gate may end in, whatever the model that it measures can do. */
const VERDICTS: readonly number[] = [0, 1, 4];

/** Types one command: `writ` and its arguments. */
async function type(args: readonly string[], wanted: number | "any verdict", stdin?: string): Promise<string> {
  steps++;
  console.log(`$ writ ${args.map(quoted).join(" ")}${stdin === undefined ? "" : " < ..."}`);
  const child = Bun.spawn([writ, ...args], {
    cwd: folder,
    env: environment,
    stdin: stdin === undefined ? "ignore" : new Blob([stdin]),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err, status] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  for (const line of `${out}${err}`.trimEnd().split("\n")) if (line !== "") console.log(`  ${line}`);
  if (status !== 0) console.log(`  (status ${status})`);
  const isAsWanted = wanted === "any verdict" ? VERDICTS.includes(status) : status === wanted;
  if (!isAsWanted) surprises.push(`writ ${args.join(" ")}: status ${status}, wanted ${wanted}`);
  return out;
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
}

/** Dispatches a turn, whose id the calls after it have in their environment. */
async function dispatch(agent: string, goal: string, ...more: readonly string[]): Promise<void> {
  leaveTurn();
  const born = await type(["dispatch", "--agent", agent, "--goal", goal, ...more], 0);
  const contract = /^WRIT_CONTRACT_ID=(.+)$/m.exec(born)?.[1];
  if (contract === undefined) throw new Error("the dispatch named no contract");
  environment.WRIT_CONTRACT_ID = contract;
}

/** The calls after it are the orchestrator's. */
function leaveTurn(): void {
  delete environment.WRIT_CONTRACT_ID;
}

/** The patch that closes a turn in a state. */
function closing(state: string, verification: object | null): string {
  return JSON.stringify({
    agent_status: { agent_state: state, next_action: state === "COMPLETE" ? "done" : "wait for consent" },
    conclusion: state === "COMPLETE" ? "Totals round; the check passes." : "The push waits for consent.",
    ...(verification === null ? {} : { evidence_report: { verification } }),
  });
}

// A check that fails until the bug is mended. It needs nothing but a shell.
const total = (cents: string) => `total() { echo $(( (${cents}) / 10 )); }\n`;
const check = `. ./total.sh\ngot=$(total 129)\nif [ "$got" = 13 ]; then echo "1 passed, 0 failed"; else echo "0 passed, 1 failed: got $got, wanted 13"; exit 1; fi\n`;

try {
  writeFileSync(join(folder, "total.sh"), total("$1"));
  writeFileSync(join(folder, "check.sh"), check);

  say("A turn is born: a row, a draft, and the block that the agent is given");
  await dispatch("backend-dev", "Find why the total check fails and fix it");

  say("Commands run under capture: the output passes through, the status is the command's own");
  await type(["run", "--", "sh", "check.sh"], 1);

  say("Evidence is written in many small calls; a populated list is never written over");
  await type(
    ["contract", "fill", "--json", '{"evidence_report":{"key_outputs":["total truncates instead of rounding"]}}'],
    0,
  );
  await type(["contract", "fill", "--json", '{"evidence_report":{"key_outputs":["fixed in total.sh"]}}'], 3);
  await type(["contract", "add", "evidence_report.key_outputs", "fixed in total.sh"], 0);

  say("A false claim: the check is said to pass, and its last recorded run failed");
  await type(
    [
      "contract",
      "fill",
      "--json",
      '{"evidence_report":{"verification":{"type":"command","command":"sh check.sh","result":"pass"}},"conclusion":"total rounds now; the check passes."}',
    ],
    0,
  );
  await type(["contract", "fill", "--json", '{"agent_status":{"agent_state":"COMPLETE","next_action":"done"}}'], 0);
  await type(["contract", "finalize"], 1);

  say("The bug is mended, the check runs again, and the same claim is true");
  writeFileSync(join(folder, "total.sh"), total("$1 + 5"));
  await type(["run", "--", "sh", "check.sh"], 0);
  await type(
    ["contract", "add", "evidence_report.verbatim_outputs", '{"command":"sh check.sh","excerpt":"1 passed, 0 failed"}'],
    0,
  );
  await type(["contract", "finalize"], 0);

  say("The row can be listed, shown, followed and proved untouched");
  await type(["contract", "list"], 0);
  await type(["contract", "view", "--field", "evidence_report"], 0);
  await type(["contract", "log", "--limit", "3"], 0);
  await type(["record", "verify"], 0);

  say("A brief has a task, and the task a gate");
  leaveTurn();
  await type(["task", "brief", "add", "totals"], 0);
  await type(["task", "add", "--brief", "totals", "--goal", "Round totals to the nearest ten"], 0);
  await type(["task", "gate", "add", "1", "--type", "command", "--evidence-shape", "sh check.sh exits 0"], 0);

  say("The turn that works on it keeps what it saw as evidence, and cites it by its id");
  await dispatch("backend-dev", "Show that totals round", "--brief-id", "1", "--plan-task-id", "1");
  await type(["run", "--", "sh", "check.sh"], 0);
  const seen = ["--type", "command_output", "--text", "1 passed, 0 failed"];
  await type(["evidence", "add", "--brief", "totals", "--ac", "AC-1", "--task", "1", ...seen], 0);
  const verification = { type: "command", command: "sh check.sh", result: "pass" };
  await type(["contract", "fill", "--json", closing("COMPLETE", { ...verification, evidence_ids: [7] })], 0);

  say("It does not settle its own task, and evidence that is not there proves nothing");
  await type(["contract", "finalize"], 3);
  await type(["contract", "set", "agent_status.agent_state", "NEEDS_VERIFICATION"], 0);
  await type(["contract", "finalize"], 1);
  await type(["contract", "set", "evidence_report.verification.evidence_ids", "[1]"], 0);
  await type(["contract", "finalize"], 0);

  say("A verifier runs the check itself, settles the gate, and closes its own contract; the task is done");
  await dispatch("verifier", "Verify that totals round", "--parent-handoff-id", "2");
  await type(["run", "--", "sh", "check.sh"], 0);
  await type(["task", "gate", "set", "1", "pass"], 0);
  await type(["contract", "fill", "--json", closing("COMPLETE", { ...verification, evidence_ids: [1] })], 0);
  await type(["contract", "finalize"], 0);
  await type(["task", "list", "--brief", "totals"], 0);

  say("What cannot be taken back is asked for; a turn does not consent to itself");
  await dispatch("releaser", "Publish the fix");
  const command = "git push origin v2";
  const approval = (await type(["approvals", "request", "--command", command, "--risk", "high"], 0)).trim();
  const request = { approval_id: approval, exact_content: command };
  await type(["contract", "set", "approval_request", JSON.stringify(request)], 0);
  await type(["contract", "fill", "--json", closing("APPROVAL_REQUEST", null)], 0);
  await type(["approvals", "grant", approval], 3);
  await type(["contract", "finalize"], 0);
  leaveTurn();
  await type(["approvals", "grant", approval, "--by", "ada"], 0);
  await type(["approvals", "list"], 0);

  const setting = { writ, folder, environment: () => environment };
  const seat = await openSeat(setting);
  Object.assign(environment, seat.environment, { WRIT_AGENT_ALLOW_WRITE: "true" });
  const node = await openNode(setting);
  try {
    say(`Work is delegated to a node on this machine. Its model seat: ${seat.what}`);
    for (const name of Object.keys(seat.environment)) delete environment[name];
    await type(["node", "status", node.url], 0);
    cpSync(join(ROOT, "contracts", "write-door", "t1"), join(folder, "clamp"), { recursive: true });
    await type(["lint", "clamp/contract.json", "--read-root", "clamp"], 0);
    const sent = ["--contract", "clamp/contract.json", "--read-root", "clamp", "--remote", node.url];
    // What a real model makes of it is its own; the document says so, and no defer is a failure of the call.
    const document = JSON.parse(await type(["delegate", ...sent, "--out", "result", "--json"], 0));
    await type(["runs", "list"], 0);
    if (document.summary.succeeded === 1) {
      say("The diff is applied to nothing by itself; its owner does that, first to see and then for real");
      await type(["gate", "apply", "result/result.json", "--to", "clamp"], 0);
      await type(["gate", "apply", "result/result.json", "--to", "clamp", "--yes"], 0);
    }

    say("Whether the node can be trusted with a write door is proved, task by task, on fresh copies");
    await type(["gate", "write-door", "--remote", node.url], seat.isScripted ? 0 : "any verdict");
  } finally {
    await node.close();
    await seat.close();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

if (surprises.length > 0) {
  console.error(
    `\n${surprises.join("\n")}\ndemo: ${surprises.length} of ${steps} steps ended otherwise than they must`,
  );
  process.exitCode = 1;
} else console.log(`\ndemo: ${steps} steps, each ended as it must`);
