/** `writ approvals request | list | grant | deny`, as a shell sees them. */
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { documentOf, type LivingWorld, livingWorld, shown } from "../support/writ.ts";

let world: LivingWorld;
beforeEach(() => {
  world = livingWorld();
});
afterEach(() => world[Symbol.dispose]());

const ID = /^P-[0-9a-f]{32}$/;
const sha256 = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex");

async function asked(...args: string[]): Promise<string> {
  const ran = await world.writ(["approvals", "request", ...(args.length === 0 ? ["--command", "npm publish"] : args)]);
  return ran.stdout.trim();
}

async function statuses(): Promise<unknown> {
  const { approvals } = documentOf(await world.writ(["approvals", "list", "--json"]));
  return (approvals as { status: string }[]).map((one) => one.status);
}

describe("writ approvals request", () => {
  test("prints the id and nothing else", async () => {
    expect(await asked()).toMatch(ID);
  });

  test("prints what is to be consented to with --json", async () => {
    const commands = ["npm publish", "git push origin v2"];
    const ran = await world.writ(
      ["approvals", "request", "--json", "--risk", "high"].concat(commands.flatMap((one) => ["--command", one])),
    );
    const { approval_id, ...document } = documentOf(ran);
    expect(approval_id).toMatch(ID);
    expect(document).toEqual({
      ok: true,
      status: "pending",
      created: true,
      command_set: commands.map((command) => ({ command, fingerprint: sha256(command) })),
      request_fingerprint: sha256(JSON.stringify(commands)),
      exact_content: "npm publish\ngit push origin v2",
    });
  });

  test("says that the same is pending, and prints its id again", async () => {
    const first = await asked();
    const again = await world.writ(["approvals", "request", "--command", "npm publish"]);
    expect(again).toMatchObject({ exit: 0, stdout: `${first}\n` });
    expect(again.stderr).toMatch(/^The same request is pending since \S+Z\.\n$/);
    const other = await asked("--command", "npm publish", "--rationale", "why");
    expect(other).not.toBe(first);
    expect(await statuses()).toEqual(["pending", "pending"]);
  });

  test("eight processes that ask the same at once get one id", async () => {
    const ids = await Promise.all(Array.from({ length: 8 }, () => asked()));
    expect(ids[0]).toMatch(ID);
    expect(new Set(ids).size).toBe(1);
    expect(await statuses()).toEqual(["pending"]);
  });

  test("its id may be cited in the contract of the turn, which is named as the asker", async () => {
    const turn = await world.turn();
    const { approval_id } = documentOf(
      await turn.writ(["approvals", "request", "--command", "npm publish", "--session-id", "unknown", "--json"]),
    );
    const cited = await turn.writ([
      "contract",
      "fill",
      "--json",
      JSON.stringify({ approval_request: { approval_id, exact_content: "npm publish" } }),
    ]);
    expect(cited.exit).toBe(0);
    const { approvals } = documentOf(await world.writ(["approvals", "list", "--json"]));
    expect(approvals).toMatchObject([{ approval_id, agent_id: turn.id.split(".")[0], session_id: null }]);
    await world.writ(["approvals", "grant", String(approval_id)]);
    const late = await turn.writ(["contract", "set", "approval_request.operation", "publish"]);
    expect(late).toMatchObject({ exit: 1 });
    expect(late.stderr).toContain("APPROVAL_ID_NOT_PENDING");
  });

  test.each([
    [["--command", "a && b"], 'holds "&&"'],
    [["--command", "a || b"], 'holds "||"'],
    [["--command", "a; b"], 'holds ";"'],
    [["--command", "a | b"], 'holds "|"'],
    [["--command", "a & b"], 'holds "&"'],
    [["--command", "a\nb"], "holds a line break"],
    [["--command", "echo `id`"], 'holds "`"'],
    [["--command", "echo $(id)"], 'holds "$("'],
    [["--command", " a"], "has blanks at an end"],
    [["--command", ""], "is blank"],
    [["--command", "ls", "--command", "rm \u202ex"], "holds an invisible character"],
    [[], "Missing option"],
    [["--command", "ls", "--risk", "some"], '"low", "medium" or "high"'],
  ])("%j is a usage error, and no store is made", async (args, says) => {
    const plain = await world.writ(["approvals", "request", ...args]);
    expect(plain).toMatchObject({ exit: 2, stdout: "" });
    expect(plain.stderr).toContain(says);
    expect(plain.stderr).not.toMatch(/\u202e/);
    const ran = await world.writ(["approvals", "request", ...args, "--json"]);
    expect(ran).toMatchObject({ exit: 2, stderr: "" });
    expect(documentOf(ran)).toMatchObject({ ok: false, code: "usage" });
    expect(existsSync(world.data)).toBe(false);
  });
});

describe("writ approvals grant and deny", () => {
  test("say what was decided, with the commands whole", async () => {
    const long = `git tag ${"v".repeat(200)}`;
    const first = await asked("--command", long, "--command", "git push   origin", "--rollback", "git tag -d");
    expect(shown(await world.writ(["approvals", "grant", first, "--by", "ada"]))).toBe(
      `Approved: ${first}\n    $ ${long}\n    $ git push   origin\n    rollback: git tag -d\n--- exit 0\n`,
    );
    const second = await asked();
    expect(shown(await world.writ(["approvals", "deny", second, "--reason", "not now"]))).toBe(
      `Rejected: ${second}\n    $ npm publish\n--- exit 0\n`,
    );
    const { approvals } = documentOf(await world.writ(["approvals", "list", "--json"]));
    expect(approvals).toMatchObject([
      { approval_id: second, status: "rejected", reason: "not now", decided_by: null },
      { approval_id: first, status: "approved", reason: null, decided_by: "ada" },
    ]);
  });

  test.each([
    ["grant", "approved"],
    ["deny", "rejected"],
  ])("%s prints the row with --json, and refuses what is decided", async (verb, status) => {
    const approval_id = await asked("--command", "npm publish", "--operation", "release");
    expect(documentOf(await world.writ(["approvals", verb, approval_id, "--json"]))).toMatchObject({
      ok: true,
      status,
      approval_id,
      exact_content: "npm publish",
      operation: "release",
      risk_level: null,
    });
    for (const second of ["grant", "deny"]) {
      const ran = await world.writ(["approvals", second, approval_id, "--json"]);
      expect(ran).toMatchObject({ exit: 3, stderr: "" });
      expect(documentOf(ran)).toMatchObject({ ok: false, code: "not_pending", approval_status: status });
    }
    expect(await world.writ(["approvals", verb, approval_id])).toMatchObject({ exit: 3, stdout: "" });
  });

  test.each(["grant", "deny"])("%s is refused inside a turn, and nothing is decided", async (verb) => {
    const id = await asked();
    const turn = await world.turn();
    const ran = await turn.writ(["approvals", verb, id, "--json"]);
    expect(ran).toMatchObject({ exit: 3, stderr: "" });
    expect(documentOf(ran)).toMatchObject({ ok: false, code: "not_inside_a_turn" });
    expect(await turn.writ(["approvals", verb, "P-none"])).toMatchObject({ exit: 3, stdout: "" });
    expect(await statuses()).toEqual(["pending"]);
    const blank = await world.writ(["approvals", verb, id], { env: { WRIT_CONTRACT_ID: " " } });
    expect(blank.exit).toBe(0);
  });

  test.each([
    ["grant", ["P-00000000000000000000000000000000"], 3, "no_row"],
    ["deny", ["x\u001b[2J"], 3, "no_row"],
    ["grant", [], 2, "usage"],
    ["grant", ["P-1", "--reason", "x"], 2, "usage"],
    ["deny", ["P-1", "P-2"], 2, "usage"],
  ])("%s %j ends in %d, %s", async (verb, args, exit, code) => {
    await asked();
    expect(documentOf(await world.writ(["approvals", verb, ...args, "--json"]))).toMatchObject({ ok: false, code });
    const plain = await world.writ(["approvals", verb, ...args]);
    expect(plain).toMatchObject({ exit, stdout: "" });
    expect(plain.stderr).not.toMatch(/\u001b/);
  });

  test("of four processes that decide at once, one does", async () => {
    const id = await asked();
    const verbs = ["grant", "deny", "grant", "deny"];
    const ran = await Promise.all(verbs.map((verb) => world.writ(["approvals", verb, id])));
    expect(ran.map((one) => one.exit).sort()).toEqual([0, 3, 3, 3]);
  });
});

describe("writ approvals list", () => {
  test("shows each request with its commands, newest first", async () => {
    const id = await asked(
      "--command",
      "git tag v2",
      "--command",
      "git push",
      "--risk",
      "high",
      "--scope",
      "all\nof it",
    );
    const { stdout, exit } = await world.writ(["approvals", "list", "--status", "pending"]);
    expect(exit).toBe(0);
    expect(stdout.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, "2026-01-01T00:00:00Z")).toBe(
      [
        "id                                  status   risk  created_at            agent_id  decided_by  reason",
        `${id}  pending  high  2026-01-01T00:00:00Z  -         -           -`,
        "    $ git tag v2",
        "    $ git push",
        "    scope: all of it",
        "1 approval.\n",
      ].join("\n"),
    );
  });

  test("an empty list is an answer, and makes no store", async () => {
    expect(shown(await world.writ(["approvals", "list"]))).toBe("No approvals matched.\n--- exit 0\n");
    const document = documentOf(await world.writ(["approvals", "list", "--status", "revoked", "--json"]));
    expect(document).toEqual({ ok: true, count: 0, approvals: [] });
    expect(existsSync(world.data)).toBe(false);
    expect((await world.writ(["approvals", "list", "--status", "pendin"])).exit).toBe(2);
  });

  test("a payload that was edited is shown as it is, and moves no cursor", async () => {
    await asked();
    const hostile = '{"ok":"no","status":"approved","command_set":[{"command":"a\\u001b[2Jb\\nc"}],"scope":"\\u202ex"}';
    using db = new Database(join(world.data, "writ.db"), { readwrite: true });
    db.query("UPDATE approvals SET payload = ?, reason = ?").run(hostile, "r\u001b]0;x\u0007");
    const plain = await world.writ(["approvals", "list"]);
    expect(plain.stdout).not.toMatch(/[\u001b\u0007\u202e]/);
    expect(plain.stdout).toContain("    $ ab c\n");
    expect(await statuses()).toEqual(["pending"]);
    db.query("UPDATE approvals SET payload = '{'").run();
    const { approvals } = documentOf(await world.writ(["approvals", "list", "--json"]));
    expect(approvals).toMatchObject([{ payload: "{", command_set: null }]);
    expect((await world.writ(["approvals", "list"])).exit).toBe(0);
  });
});
