/** `writ evidence add | list | show`, as a shell sees them. */
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Ran, Setting } from "../support/writ.ts";
import { documentOf, type LivingWorld, livingWorld, shown } from "../support/writ.ts";

let world: LivingWorld;
beforeEach(async () => {
  world = livingWorld();
  await world.writ(["task", "brief", "add", "my-brief"]);
});
afterEach(() => world[Symbol.dispose]());

const UUID4 = "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}";

function add(args: readonly string[], setting?: Setting): Promise<Ran> {
  const common = ["evidence", "add", "--brief", "my-brief", "--ac", "AC-2", "--type", "command_output"];
  return world.writ([...common, ...args], setting);
}

/** A file of the world, and its name as an option. */
function file(name: string, content: string | Uint8Array): readonly string[] {
  const path = join(world.folder, name);
  writeFileSync(path, content);
  return ["--artifact-file", path];
}

const blobs = () =>
  existsSync(join(world.data, "evidence"))
    ? readdirSync(join(world.data, "evidence"), { recursive: true, encoding: "utf8" }).sort()
    : [];

async function countOf(): Promise<unknown> {
  return documentOf(await world.writ(["evidence", "list", "--brief", "my-brief", "--json"])).count;
}

describe("writ evidence add", () => {
  test("says where a text is kept, and the id that a contract cites", async () => {
    expect(shown(await add(["--text", "4 pass"]))).toBe(
      "Evidence recorded: id=1  ac=AC-2  type=command_output  storage=inline  brief=my-brief\n--- exit 0\n",
    );
    expect(shown(await add(file("test.log", "x".repeat(4097))))).toBe(
      "Evidence recorded: id=2  ac=AC-2  type=command_output  storage=blob  brief=my-brief\n--- exit 0\n",
    );
  });

  test("prints the row with --json", async () => {
    await world.writ(["task", "add", "--brief", "my-brief", "--goal", "x"]);
    const ran = await add(["--text=-1", "--task", "1", "--polarity", "negative", "--created-by", "qa", "--json"]);
    const { created_at, ...row } = documentOf(ran);
    expect(created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(row).toEqual({
      ok: true,
      id: 1,
      brief_id: 1,
      brief: "my-brief",
      workspace: "me",
      ac_id: "AC-2",
      task_id: 1,
      type: "command_output",
      polarity: "negative",
      text: "-1",
      artifact_path: null,
      size_bytes: 2,
      created_by_agent: "qa",
      source_contract_id: null,
      source_entry_hash: null,
      storage: "inline",
    });
  });

  test.each([
    ["4096 bytes of text", "a.log", "x".repeat(4096), null],
    ["4097 bytes of text", "a.log", "x".repeat(4097), ".log"],
    ["4096 bytes of text with accents", "a.log", "é".repeat(2048), null],
    ["4098 bytes in fewer characters", "a.log", "é".repeat(2049), ".log"],
    ["a byte that is no UTF-8", "a.log", new Uint8Array([0x61, 0xff]), ".log"],
    ["a large file without an extension", "Makefile", "x".repeat(5000), ".bin"],
    ["a large file of a hidden name", ".env", "x".repeat(5000), ".bin"],
    ["a file larger than one piece", "big.tar.gz", "x".repeat(300_000), ".gz"],
    ["an empty file", "a.log", "", null],
  ])("a file of %s", async (_, name, content, extension) => {
    const row = documentOf(await add([...file(name, content), "--json"]));
    const bytes = Buffer.from(content as string);
    expect(row.size_bytes).toBe(bytes.length);
    if (extension === null) {
      expect(row).toMatchObject({ storage: "inline", text: content as string, artifact_path: null });
      expect(blobs()).toEqual([]);
      return;
    }
    const place = join(realpathSync(world.data), "evidence", "me", "my-brief", "AC-2");
    expect(row).toMatchObject({ storage: "blob", text: null });
    expect(String(row.artifact_path)).toMatch(new RegExp(`^${place}/${UUID4}\\${extension}$`));
    expect(readFileSync(String(row.artifact_path)).equals(bytes)).toBe(true);
    expect(statSync(String(row.artifact_path)).mode & 0o777).toBe(0o600);
    expect(statSync(place).mode & 0o777).toBe(0o700);
  });

  test.each([
    ["5000 bytes typed", ["--text", "x".repeat(5000)], "", ".txt"],
    ["5000 bytes piped in", ["--text", "-"], "x".repeat(5000), ".txt"],
    ["bytes piped in that are no text", ["--text", "-"], new Uint8Array([0xff]), ".bin"],
  ])("%s are a file of their own", async (_, args, stdin, extension) => {
    const row = documentOf(await add([...args, "--json"], { stdin }));
    expect(String(row.artifact_path)).toEndWith(extension);
  });

  test("a short text piped in is kept as it is, its last line break too", async () => {
    expect(documentOf(await add(["--text", "-", "--json"], { stdin: "4 pass\n" })).text).toBe("4 pass\n");
  });

  test("a link to a file is followed, and a copy kept: what it is later does not matter", async () => {
    file("target.txt", "x".repeat(5000));
    const link = join(world.folder, "link.log");
    symlinkSync(join(world.folder, "target.txt"), link);
    const row = documentOf(await add(["--artifact-file", link, "--json"]));
    writeFileSync(join(world.folder, "target.txt"), "changed");
    expect(String(row.artifact_path)).toEndWith(".log");
    expect(statSync(String(row.artifact_path)).size).toBe(5000);
  });

  test("a file staged in scratch is copied: evidence never refers to scratch", async () => {
    mkdirSync(join(world.data, "scratch"));
    const staged = join(world.data, "scratch", "a0123456789abcdef.0a1b2c3d4e5f.log");
    writeFileSync(staged, "x".repeat(5000));
    const row = documentOf(await add(["--artifact-file", staged, "--json"]));
    expect(String(row.artifact_path)).toStartWith(join(realpathSync(world.data), "evidence"));
    expect(existsSync(staged)).toBe(true);
  });

  test("inside a turn it is recorded for the turn", async () => {
    const turn = await world.turn();
    const words = ["evidence", "add", "--brief", "my-brief", "--ac", "AC-1", "--type", "text", "--text", "x", "--json"];
    const row = documentOf(await turn.writ(words));
    expect(row).toMatchObject({ created_by_agent: "tester", source_contract_id: turn.id });
  });

  test.each([
    ["a file that is missing", "none", "there is no such file"],
    ["a folder", "folder", "it is a folder"],
    ["a pipe that nobody writes", "pipe", "it is no regular file"],
    ["a link to nothing", "dangling", "there is no such file"],
    ["a link to a pipe", "to-pipe", "it is no regular file"],
    ["a device", "/dev/zero", "it is no regular file"],
  ])("%s cannot be read: exit 2, and nothing is recorded", async (_, name, why) => {
    const at = (path: string) => join(world.folder, path);
    mkdirSync(at("folder"));
    Bun.spawnSync(["mkfifo", at("pipe")]);
    symlinkSync(at("nowhere"), at("dangling"));
    symlinkSync(at("pipe"), at("to-pipe"));
    const path = name.startsWith("/") ? name : at(name);
    const ran = await add(["--artifact-file", path, "--json"]);
    expect(ran.exit).toBe(2);
    expect(documentOf(ran)).toMatchObject({
      ok: false,
      code: "file_unreadable",
      path,
      message: `Cannot read "${path}": ${why}`,
    });
    expect([await countOf(), blobs()]).toEqual([0, []]);
  });

  test.skipIf(process.getuid?.() === 0)("a file that is not ours cannot be read", async () => {
    const args = file("secret", "x");
    chmodSync(join(world.folder, "secret"), 0);
    expect(await add(args)).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("it may not be read by this user"),
    });
  });

  test.each([
    [[], "Neither of --text and --artifact-file"],
    [["--text", "x", "--artifact-file", "x"], "Both of --text and --artifact-file"],
    [["--text", "x", "--task", "first"], '--task takes a whole number from 1, not "first"'],
    [["--text", "x", "--polarity", "positiv"], 'Did you mean "positive"?'],
    [["--text", "x", "--artifact", "x"], "Unknown option"],
  ])("%j is a usage error", async (args, says) => {
    const plain = await add(args);
    expect(plain).toMatchObject({ exit: 2, stdout: "" });
    expect(plain.stderr).toContain(says);
    const ran = await add([...args, "--json"]);
    expect(ran).toMatchObject({ exit: 2, stderr: "" });
    expect(documentOf(ran)).toMatchObject({ ok: false, status: "error", code: "usage" });
    expect(await countOf()).toBe(0);
  });

  test("a type that is none of the five is a usage error", async () => {
    const ran = await world.writ([
      "evidence",
      "add",
      "--brief",
      "my-brief",
      "--ac",
      "1",
      "--type",
      "video",
      "--text",
      "x",
    ]);
    expect(ran).toMatchObject({ exit: 2, stdout: "" });
  });

  test.each([
    ["--brief", "none", 'there is no brief "none" in workspace "me"'],
    ["--ac", "../../etc", 'the acceptance id "../../etc" holds "/"'],
    ["--ac", "..", 'the acceptance id ".." holds ".."'],
    ["--ac", "a\\b", 'holds "\\"'],
    ["--ac", "a\nb", "holds a control character"],
    ["--ac", " ", "is blank"],
    ["--ac", "x".repeat(201), "is longer than 200 bytes"],
    ["--task", "99", 'the plan of brief "my-brief" has no task 99'],
    ["--workspace", "you", 'there is no brief "my-brief" in workspace "you"'],
  ])("%s %j is refused: exit 3, and no folder is made", async (option, value, says) => {
    const given: Record<string, string> = { "--brief": "my-brief", "--ac": "AC-2", [option]: value };
    const words = ["evidence", "add", "--type", "text", ...Object.entries(given).flat(), "--text", "x".repeat(5000)];
    const ran = await world.writ([...words, "--json"]);
    expect(ran).toMatchObject({ exit: 3, stderr: "" });
    const document = documentOf(ran);
    expect(document).toMatchObject({
      ok: false,
      code: "evidence_refused",
      path: option === "--workspace" ? "--brief" : option,
    });
    expect(document.message).toContain(says);
    expect(document.hint).not.toBeNull();
    expect(await world.writ(words)).toMatchObject({ exit: 3, stdout: "", stderr: expect.stringMatching(/^Error: /) });
    expect([await countOf(), blobs()]).toEqual([0, []]);
  });

  test("a link among the folders is refused by name", async () => {
    const outside = join(world.folder, "outside");
    mkdirSync(outside);
    mkdirSync(join(world.data, "evidence"));
    symlinkSync(outside, join(world.data, "evidence", "me"));
    const ran = await add(["--text", "x".repeat(5000), "--json"]);
    expect(ran.exit).toBe(3);
    const path = join(realpathSync(world.data), "evidence", "me");
    expect(documentOf(ran)).toMatchObject({ code: "evidence_refused", path });
    expect([readdirSync(outside), await countOf()]).toEqual([[], 0]);
  });

  test("a row that the store refuses leaves neither file nor folder", async () => {
    using db = new Database(join(world.data, "writ.db"), { readwrite: true });
    db.run("CREATE TRIGGER no BEFORE INSERT ON evidence BEGIN SELECT RAISE(ABORT, 'no'); END");
    const ran = await add(["--text", "x".repeat(5000)]);
    expect(ran).toMatchObject({ exit: 70, stdout: "" });
    expect(existsSync(join(world.data, "evidence"))).toBe(false);
  });

  test("a usage error does not make a store", async () => {
    using fresh = livingWorld();
    const words = ["evidence", "add", "--brief", "b", "--ac", "1", "--type", "text"];
    expect((await fresh.writ([...words, "--artifact-file", "none"])).exit).toBe(2);
    expect(existsSync(fresh.data)).toBe(false);
  });
});

describe("writ evidence list and show", () => {
  test("print a table, and the row whole", async () => {
    await add(["--text", "4 pass\n0 fail", "--created-by", "qa"]);
    await add([...file("a.log", "x".repeat(5000)), "--polarity", "negative"]);
    const listed = await world.writ(["evidence", "list", "--brief", "my-brief"]);
    const at = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g;
    expect(shown(listed).replaceAll(at, "TIME")).toBe(
      [
        "id  ac    type            polarity  task  storage  bytes  created_by  created_at",
        "1   AC-2  command_output  positive  -     inline   13     qa          TIME",
        "2   AC-2  command_output  negative  -     blob     5000   -           TIME",
        "2 rows of evidence.",
        "--- exit 0\n",
      ].join("\n"),
    );
    expect(shown(await world.writ(["evidence", "show", "1"])).replaceAll(at, "TIME")).toBe(
      [
        "id                1",
        "brief_id          1",
        "brief             my-brief",
        "workspace         me",
        "ac_id             AC-2",
        "type              command_output",
        "polarity          positive",
        "size_bytes        13",
        "created_by_agent  qa",
        "created_at        TIME",
        "storage           inline",
        "",
        "text",
        "  4 pass",
        "  0 fail",
        "--- exit 0\n",
      ].join("\n"),
    );
    const shownRow = documentOf(await world.writ(["evidence", "show", "2", "--json"]));
    expect(shownRow).toMatchObject({ ok: true, id: 2, polarity: "negative", storage: "blob" });
    const { count, evidence } = documentOf(await world.writ(["evidence", "list", "--brief", "my-brief", "--json"]));
    expect(count).toBe(2);
    const { ok: _, ...row } = shownRow;
    expect((evidence as unknown[])[1]).toEqual(row);
  });

  test("an empty list is an answer", async () => {
    const words = ["evidence", "list", "--brief", "my-brief", "--ac", "AC-9"];
    expect(shown(await world.writ(words))).toBe("No evidence matched.\n--- exit 0\n");
    expect(documentOf(await world.writ([...words, "--json"]))).toEqual({ ok: true, count: 0, evidence: [] });
  });

  test.each([
    [["list", "--brief", "none"], 3, "no_row"],
    [["show", "7"], 3, "no_row"],
    [["show", "9223372036854775807"], 3, "no_row"],
    [["show", "seven"], 2, "usage"],
    [["show", "-7"], 2, "usage"],
    [["show", "0"], 2, "usage"],
    [["show"], 2, "usage"],
    [["list"], 2, "usage"],
  ])("%j ends in %d, %s", async (words, exit, code) => {
    const ran = await world.writ(["evidence", ...words, "--json"]);
    expect(ran).toMatchObject({ exit, stderr: "" });
    expect(documentOf(ran)).toMatchObject({ ok: false, code });
    expect(await world.writ(["evidence", ...words])).toMatchObject({ exit, stdout: "" });
  });

  test("looking makes no store", async () => {
    using fresh = livingWorld();
    expect((await fresh.writ(["evidence", "show", "1"])).exit).toBe(3);
    expect((await fresh.writ(["evidence", "list", "--brief", "b"])).exit).toBe(3);
    expect(existsSync(fresh.data)).toBe(false);
  });

  test("what would move a cursor is stripped for a person, and kept in JSON", async () => {
    const hostile = "a\u001b[2J\u202eb\u0007";
    await add(["--text", hostile, "--created-by", `q${hostile}`]);
    for (const words of [
      ["show", "1"],
      ["list", "--brief", "my-brief"],
    ]) {
      const { stdout } = await world.writ(["evidence", ...words]);
      expect(stdout).not.toMatch(/[\u001b\u0007\u202e]/);
      expect(stdout).toContain("ab");
    }
    expect(documentOf(await world.writ(["evidence", "show", "1", "--json"])).text).toBe(hostile);
    const refused = await world.writ(["evidence", "list", "--brief", hostile]);
    expect(refused.stderr).not.toMatch(/[\u001b\u0007\u202e]/);
  });
});

test("what evidence add records proves a claim in its scope", async () => {
  const task = documentOf(await world.writ(["task", "add", "--brief", "my-brief", "--goal", "x", "--json"]));
  const turn = await world.turn("--brief-id", "1");
  await add(["--text", "4 pass"]);
  await add(["--text", "4 pass", "--task", String(task.id)]);
  const close = (id: number) =>
    turn.writ([
      "contract",
      "fill",
      "--json",
      JSON.stringify({
        agent_status: { agent_state: "COMPLETE", next_action: "done" },
        evidence_report: {
          verification: { type: "command", command: "ls checkout", result: "pass", evidence_ids: [id] },
        },
        conclusion: "It holds.",
      }),
    ]);
  await close(2);
  const refused = await turn.writ(["contract", "finalize"]);
  expect(refused).toMatchObject({ exit: 1 });
  expect(refused.stderr).toContain("evidence_out_of_scope");
  await close(1);
  await turn.writ(["contract", "set", "evidence_report.verification.evidence_ids", "[1]"]);
  expect(await turn.writ(["contract", "finalize"])).toMatchObject({ exit: 0 });
});
