/** `writ context get | set | list | accept | reject`, as a shell sees them. */
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject, JsonValue } from "../../src/core/json/value.ts";
import { openScreen } from "../support/screen.ts";
import {
  documentOf,
  type LivingWorld,
  livingWorld,
  type Ran,
  type Setting,
  shown,
  writCommand,
} from "../support/writ.ts";

let world: LivingWorld;
beforeEach(() => {
  world = livingWorld();
});
afterEach(() => world[Symbol.dispose]());

const context = (words: readonly string[], setting?: Setting): Promise<Ran> =>
  world.writ(["context", ...words], setting);

async function set(section: string, payload: JsonObject, workspace = "me"): Promise<void> {
  const ran = await context(["set", section, "--json", JSON.stringify(payload), "--workspace", workspace]);
  if (ran.exit !== 0) throw new Error(shown(ran));
}

async function get(section: string, workspace = "me"): Promise<JsonValue> {
  const ran = await context(["get", section, "--workspace", workspace]);
  return ran.exit === 0 ? (JSON.parse(ran.stdout) as JsonValue) : null;
}

/** A closed turn with these proposals; its contract id. */
async function proposed(updates: JsonValue, ...args: string[]): Promise<string> {
  const turn = await world.turn(...args);
  const patch = {
    agent_status: { agent_state: "BLOCKED", next_action: "wait" },
    conclusion: "It holds.",
    update_contracts: updates,
  };
  const filled = await turn.writ(["contract", "fill", "-"], { stdin: JSON.stringify(patch) });
  const closed = await turn.writ(["contract", "finalize"]);
  if (filled.exit !== 0 || closed.exit !== 0) throw new Error(`${shown(filled)}${shown(closed)}`);
  return turn.id;
}

/** Every row of every table. */
function tables(): JsonObject {
  using db = new Database(join(world.data, "writ.db"), { readonly: true });
  const names = db.query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  return Object.fromEntries(names.map(({ name }) => [name, db.query<JsonObject, []>(`SELECT * FROM "${name}"`).all()]));
}

const STACK = { contract: "stack", payload: { api: { port: 8080 } } };
const APPS = { contract: "apps", payload: { shop: "web" } };
const INSIDE = { env: { WRIT_CONTRACT_ID: "a0123456789abcdef.1" } };

describe("writ context set", () => {
  test("answers with one document: created, then merged", async () => {
    const first = await context(["set", "stack", "--json", '{"api":{"language":"go"}}']);
    expect(shown(first)).toBe('{"ok":true,"status":"created","workspace":"me","section":"stack"}\n--- exit 0\n');
    const second = await context(["set", "stack", "--json", '{"api":{"port":80}}', "--by", "ada"]);
    expect(documentOf(second)).toEqual({ ok: true, status: "merged", workspace: "me", section: "stack" });
    expect(await get("stack")).toEqual({ api: { language: "go", port: 80 } });
    expect((tables().context_history as JsonObject[]).map((one) => [one.before, one.changed_by])).toEqual([
      [null, "orchestrator"],
      ['{"api":{"language":"go"}}', "ada"],
    ]);
  });

  test("takes the object from a file, and from standard input by three names", async () => {
    writeFileSync(join(world.folder, "stack.json"), '{"file":1}');
    const sources: readonly (readonly [string[], string])[] = [
      [["--json-file", "stack.json"], ""],
      [["--json-file", "-"], '{"dash":1}'],
      [["-"], '{"operand":1}'],
    ];
    for (const [words, stdin] of sources) {
      expect((await context(["set", "stack", ...words], { stdin })).exit).toBe(0);
    }
    expect(await get("stack")).toEqual({ file: 1, dash: 1, operand: 1 });
  });

  test.each([
    { words: ["stack"], code: "usage" },
    { words: [], code: "usage" },
    { words: ["stack", "x"], code: "usage" },
    { words: ["stack", "-", "--json", "{}"], code: "usage" },
    { words: ["stack", "--json", "{}", "--json-file", "x"], code: "usage" },
    { words: ["stack", "--json", "{}", "--nope"], code: "usage" },
    { words: [" ", "--json", "{}"], code: "usage" },
    { words: ["stack", "--json", "{"], code: "bad_json" },
    { words: ["stack", "--json", "a: 1"], code: "bad_json" },
    { words: ["stack", "--json", '{"a":1,"a":2}'], code: "bad_json" },
    { words: ["stack", "--json", '{"a":9007199254740993}'], code: "inexact_number" },
    { words: ["stack", "--json", "[1]"], code: "not_an_object" },
    { words: ["stack", "--json", "null"], code: "not_an_object" },
    { words: ["stack", "--json-file", "nowhere.json"], code: "file_unreadable" },
  ])("$words is refused as $code with status 2, inside a turn too", async ({ words, code }) => {
    for (const setting of [{}, INSIDE]) {
      const ran = await context(["set", ...words], setting);
      expect([ran.exit, documentOf(ran).ok, documentOf(ran).code]).toEqual([2, false, code]);
    }
    expect(await get("stack")).toBeNull();
  });

  test("speaks of itself, not of fill, where an operand makes no sense", async () => {
    const { message } = documentOf(await context(["set", "stack", '{"a":1}']));
    expect(message).toBe('context set takes no second operand but -, not "{"a":1}"');
  });

  test("keeps keys that mean something to a prototype, and whole numbers", async () => {
    const text = '{"__proto__":{"a":1},"constructor":2,"n":9007199254740991}';
    expect((await context(["set", "stack", "--json", text])).exit).toBe(0);
    expect((await context(["get", "stack"])).stdout.replaceAll(/\s/g, "")).toBe(text);
  });
});

describe("writ context get", () => {
  test("prints the stored JSON and nothing else, with --json and without, inside a turn too", async () => {
    await set("stack", { api: { port: 80 } });
    for (const words of [["stack"], ["stack", "--json"]]) {
      const ran = await context(["get", ...words], INSIDE);
      expect([ran.exit, ran.stderr, JSON.parse(ran.stdout)]).toEqual([0, "", { api: { port: 80 } }]);
    }
  });

  test("says in both modes that there is none", async () => {
    await set("stack", {});
    const plain = await context(["get", "apps"]);
    expect(plain).toMatchObject({ exit: 3, stdout: "" });
    expect(plain.stderr).toContain('Workspace "me" has no section "apps"');
    const ran = await context(["get", "apps", "--json"]);
    expect([ran.exit, ran.stderr]).toEqual([3, ""]);
    expect(documentOf(ran)).toMatchObject({ ok: false, code: "no_section", path: null });
  });

  test("makes no store to find nothing in", async () => {
    expect((await context(["get", "stack"])).exit).toBe(3);
    expect((await context(["list"])).exit).toBe(0);
    expect(existsSync(world.data)).toBe(false);
  });
});

describe("writ context list", () => {
  test("names the sections of one workspace, who wrote them last, and when", async () => {
    for (const section of ["stack", "apps"]) await set(section, {});
    await set("other", {}, "w");
    const { stdout } = await context(["list"]);
    expect(stdout.replaceAll(/\d{4}-\S+Z/g, "TIME")).toBe(
      [
        "section  updated_at            updated_by",
        "apps     TIME  orchestrator",
        "stack    TIME  orchestrator",
        "",
      ].join("\n"),
    );
    const document = documentOf(await context(["list", "--json", "--workspace", "w"]));
    expect(document).toEqual({
      ok: true,
      workspace: "w",
      count: 1,
      sections: [{ section: "other", updated_at: expect.any(String) as never, updated_by: "orchestrator" }],
    });
  });

  test("says that there is none", async () => {
    expect(shown(await context(["list"]))).toBe("Workspace me has no sections.\n--- exit 0\n");
    expect(documentOf(await context(["list", "--json"]))).toEqual({
      ok: true,
      workspace: "me",
      count: 0,
      sections: [],
    });
  });
});

describe("the workspace", () => {
  test("is --workspace, else WRIT_WORKSPACE, else the turn's, else me; a blank one is none", async () => {
    const of = async (words: readonly string[], name?: string, turn?: string) => {
      const env = { WRIT_WORKSPACE: name, WRIT_CONTRACT_ID: turn };
      return documentOf(await context(["list", "--json", ...words], { env })).workspace;
    };
    const turn = await world.born("--workspace", "shop");
    expect(await of([], undefined, turn)).toBe("shop");
    expect(await of([], "env", turn)).toBe("env");
    expect(await of(["--workspace", "w"], undefined, turn)).toBe("w");
    expect(await of(["--workspace", "w"], "env")).toBe("w");
    expect(await of([], "env")).toBe("env");
    expect(await of(["--workspace="], "env")).toBe("env");
    expect(await of([], " ")).toBe("me");
    expect(await of([])).toBe("me");
  });

  test("is the same for get, set and list", async () => {
    const env = { env: { WRIT_WORKSPACE: "env" } };
    await context(["set", "stack", "--json", '{"a":1}'], env);
    expect((await context(["get", "stack"], env)).exit).toBe(0);
    expect((await context(["get", "stack"])).exit).toBe(3);
    expect(await get("stack", "env")).toEqual({ a: 1 });
  });

  test("of a turn is where the line that its dispatch printed finds the section", async () => {
    await set("project_identity", { shop: {} }, "w");
    await set("stack", { text: "x".repeat(8000) }, "w");
    const turn = await world.turn("--workspace", "w", "--project", "shop", "--can-read", "stack");
    expect((await turn.shell("writ context get stack")).exit).toBe(0);
  });

  test("of an accept is the turn's, whatever WRIT_WORKSPACE says", async () => {
    const id = await proposed([STACK], "--workspace", "shop");
    expect((await context(["accept", id], { env: { WRIT_WORKSPACE: "other" } })).exit).toBe(0);
    expect([await get("stack", "shop"), await get("stack", "other"), await get("stack")]).toEqual([
      STACK.payload,
      null,
      null,
    ]);
  });
});

describe("writ context accept", () => {
  test("says what it merged where", async () => {
    await set("stack", { api: { language: "go" } });
    const id = await proposed([STACK, APPS]);
    const ran = await context(["accept", id, "--by", "ada"]);
    expect(shown(ran)).toBe(
      [
        "entry  section  key  workspace  did     why not",
        "0      stack    -    me         merge   -",
        "1      apps     -    me         insert  -",
        `2 proposals accepted (${id}).`,
        "--- exit 0",
        "",
      ].join("\n"),
    );
    expect(await get("stack")).toEqual({ api: { language: "go", port: 8080 } });
  });

  test("answers with one document, by the number of the turn, for one entry", async () => {
    const id = await proposed([STACK, APPS]);
    const ran = await context(["accept", "1", "--entry", "1", "--json"]);
    expect([ran.exit, ran.stderr]).toEqual([0, ""]);
    expect(documentOf(ran)).toEqual({
      ok: true,
      status: "accepted",
      contract_id: id,
      handoff_id: 1,
      dry_run: false,
      accepted: 1,
      outcomes: [
        {
          proposal_id: 2,
          entry: 1,
          section: "apps",
          key: null,
          workspace: "me",
          action: "insert",
          code: null,
          reason: null,
        },
      ],
    });
    expect(await get("stack")).toBeNull();
  });

  test("splits project_identity by owner, names what it refuses, and ends in 0 while something was merged", async () => {
    await set("project_identity", { shop_front: {}, both: {} }, "shops");
    await set("project_identity", { both: {} }, "bills");
    const payload = { "shop-front": { path: "/srv" }, nowhere: {}, both: {} };
    const id = await proposed([{ contract: "project_identity", payload }]);
    const ran = await context(["accept", id]);
    expect(ran.exit).toBe(0);
    expect(ran.stdout).toContain("0      project_identity  shop_front  shops      merge   -\n");
    expect(ran.stdout).toMatch(/nowhere +- +refuse +project_unowned: No workspace owns/);
    expect(ran.stdout).toMatch(/both +- +refuse +project_ambiguous: /);
    expect(await get("project_identity", "shops")).toEqual({ shop_front: { path: "/srv" }, both: {} });
    expect(await get("project_identity")).toBeNull();
    const { update_contracts_refused: stamped } = documentOf(await world.writ(["contract", "show", id, "--json"]));
    expect((stamped as JsonObject[]).map((one) => [one.key, one.code])).toEqual([
      ["nowhere", "project_unowned"],
      ["both", "project_ambiguous"],
    ]);
  });

  test("ends in 1 when nothing could be merged, in both modes; it stays pending", async () => {
    const id = await proposed([{ contract: "project_identity", payload: { nowhere: {} } }]);
    const ran = await context(["accept", id, "--json"]);
    expect(ran.exit).toBe(1);
    expect(documentOf(ran)).toMatchObject({ ok: false, status: "refused", accepted: 0 });
    const plain = await context(["accept", id]);
    expect(plain.exit).toBe(1);
    expect(plain.stdout).toEndWith(`0 proposals accepted (${id}).\n`);
    expect(documentOf(await world.writ(["contract", "proposals", "list", "--json"])).count).toBe(1);
  });

  test("--dry-run shows the same and writes nothing, not even a refusal", async () => {
    await set("project_identity", { shop: {} }, "shops");
    const split = { contract: "project_identity", payload: { shop: { a: 1 }, nowhere: {} } };
    const id = await proposed([STACK, split]);
    const before = tables();
    const plain = await context(["accept", id, "--dry-run"]);
    const ran = await context(["accept", id, "--dry-run", "--json"]);
    expect(tables()).toEqual(before);
    expect([plain.exit, ran.exit]).toEqual([0, 0]);
    expect(plain.stdout).toStartWith("entry  section           key      workspace  would   why not\n");
    expect(plain.stdout).toEndWith(`2 proposals would be accepted (${id}).\n`);
    const { dry_run, status, ...rest } = documentOf(ran);
    expect([dry_run, status]).toEqual([true, "dry_run"]);
    const { dry_run: _, status: __, ...done } = documentOf(await context(["accept", id, "--json"]));
    expect(rest).toEqual(done);
  });

  test("--dry-run makes no store", async () => {
    expect((await context(["accept", "1", "--dry-run"])).exit).toBe(3);
    expect(existsSync(world.data)).toBe(false);
  });

  test("of six processes that accept at once one does", async () => {
    const id = await proposed([STACK, APPS]);
    const all = await Promise.all(Array.from({ length: 6 }, () => context(["accept", id, "--json"])));
    expect(all.map((ran) => ran.exit).toSorted()).toEqual([0, 3, 3, 3, 3, 3]);
    const codes = all.filter((ran) => ran.exit === 3).map((ran) => documentOf(ran).code);
    expect(new Set(codes)).toEqual(new Set(["nothing_pending"]));
    expect(tables().context_history).toHaveLength(2);
  });

  test("two turns that are accepted at once both arrive", async () => {
    const ids = await Promise.all(
      [1, 2, 3, 4].map((n) => proposed([{ contract: "stack", payload: { [`k${n}`]: n } }])),
    );
    const all = await Promise.all(ids.map((id) => context(["accept", id])));
    expect(all.map((ran) => ran.exit)).toEqual([0, 0, 0, 0]);
    expect(await get("stack")).toEqual({ k1: 1, k2: 2, k3: 3, k4: 4 });
  });
});

describe("writ context reject", () => {
  test("turns down what is pending, keeps why, and merges nothing", async () => {
    const id = await proposed([STACK, APPS]);
    const one = await context(["reject", id, "--entry", "1", "--reason", "not now", "--by", "ada", "--json"]);
    expect([one.exit, documentOf(one)]).toEqual([
      0,
      { ok: true, status: "rejected", contract_id: id, handoff_id: 1, entries: [1] },
    ]);
    expect(shown(await context(["reject", id]))).toBe(`1 proposal rejected (${id}).\n--- exit 0\n`);
    const rows = tables().proposals as JsonObject[];
    expect(rows.map((row) => [row.status, row.decided_by, row.decision_note])).toEqual([
      ["rejected", "orchestrator", null],
      ["rejected", "ada", "not now"],
    ]);
    expect([await get("stack"), await get("apps")]).toEqual([null, null]);
  });
});

describe("deciding", () => {
  test.each([
    { words: ["accept"], exit: 2, code: "usage" },
    { words: ["reject"], exit: 2, code: "usage" },
    { words: ["accept", "ID", "--entry", "x"], exit: 2, code: "usage" },
    { words: ["accept", "ID", "--entry=-1"], exit: 2, code: "usage" },
    { words: ["reject", "ID", "--dry-run"], exit: 2, code: "usage" },
    { words: ["accept", "ID", "--reason", "x"], exit: 2, code: "usage" },
    { words: ["accept", "ID", "ID"], exit: 2, code: "usage" },
    { words: ["accept", "99"], exit: 3, code: "no_row" },
    { words: ["reject", "a0123456789abcdef.0a1b2c3d4e5f"], exit: 3, code: "no_row" },
    { words: ["accept", "ID", "--entry", "4"], exit: 3, code: "nothing_pending" },
    { words: ["accept", "ID", "--entry", "4", "--dry-run"], exit: 3, code: "nothing_pending" },
    { words: ["reject", "ID", "--entry", "4"], exit: 3, code: "nothing_pending" },
  ])("$words ends in $exit, $code, in both modes, and changes nothing", async ({ words, exit, code }) => {
    const id = await proposed([STACK]);
    const before = tables();
    const called = words.map((word) => (word === "ID" ? id : word));
    const json = await context([...called, "--json"]);
    expect([json.exit, documentOf(json).code]).toEqual([exit, code]);
    const plain = await context(called);
    expect([plain.exit, plain.stdout]).toEqual([exit, ""]);
    expect(plain.stderr).not.toBe("");
    expect(tables()).toEqual(before);
  });

  test.each([["accept"], ["accept", "--dry-run"], ["reject"]])(
    "%s %s is the orchestrator's: a turn is refused, with the id of another turn too",
    async (verb, ...more) => {
      const id = await proposed([STACK]);
      const before = tables();
      const words = [verb, id, ...more.filter((word) => typeof word === "string")];
      for (const inside of [id, "a0123456789abcdef.1"]) {
        const setting = { env: { WRIT_CONTRACT_ID: inside } };
        const json = await context([...words, "--json"], setting);
        expect([json.exit, documentOf(json).code]).toEqual([3, "not_inside_a_turn"]);
        expect(await context(words, setting)).toMatchObject({ exit: 3, stdout: "" });
      }
      expect(tables()).toEqual(before);
      expect((await context([...words, "--json"], { env: { WRIT_CONTRACT_ID: " " } })).exit).toBe(0);
    },
  );

  test("set is refused inside a turn in the same way", async () => {
    const ran = await context(["set", "stack", "--json", "{}"], INSIDE);
    expect([ran.exit, documentOf(ran).code]).toEqual([3, "not_inside_a_turn"]);
    expect(await get("stack")).toBeNull();
  });
});

test.each([
  { words: ["get", "stack"] },
  { words: ["list"] },
  { words: ["set", "stack", "--json", "{}"] },
  { words: ["accept", "1"] },
  { words: ["accept", "1", "--dry-run"] },
  { words: ["reject", "1"] },
])("writ context $words ends in 4 when the store is none", async ({ words }) => {
  const database = join(world.folder, "broken.db");
  writeFileSync(database, "this is no database, and it is long enough to be looked at as one\n".repeat(200));
  const isSet = words[0] === "set";
  const ran = await context(isSet ? words : [...words, "--json"], { env: { WRIT_DB: database } });
  expect([ran.exit, documentOf(ran).code]).toEqual([4, "store_failed"]);
});

describe("what a dispatch is told of project context", () => {
  const block = (kernel: string) => /# Project context\n\n([\s\S]*?)\n\n# /.exec(kernel)?.[1] ?? null;
  const dispatch = async (sections: readonly string[], ...more: string[]) => {
    const words = [
      "dispatch",
      "--agent",
      "a",
      "--project",
      "shop",
      "--can-read",
      sections.join(","),
      "--json",
      ...more,
    ];
    return block(String(documentOf(await world.writ(words)).kernel));
  };
  beforeEach(() => set("project_identity", { shop: {} }));

  test("its readable sections whole while they fit in 8,000 characters, else how each is read", async () => {
    await set("apps", { b: 2 });
    await set("stack", { text: "x".repeat(8000 - 40) });
    const whole = await dispatch(["stack", "apps"]);
    expect(whole).toStartWith('stack\n{"text":"xxx');
    expect(whole).toEndWith('\n\napps\n{"b":2}');
    await set("stack", { text: "x".repeat(8000) });
    expect(await dispatch(["stack", "apps"])).toBe("- stack: writ context get stack\n- apps: writ context get apps");
  });

  test("how many there are when even that is too much", async () => {
    const names = Array.from({ length: 3 }, (_, n) => `${n}`.repeat(400));
    for (const name of names) await set(name, { text: "x".repeat(4000) });
    expect(await dispatch(names)).toBe("3 sections stored: writ context list");
  });

  test("nothing for a project that does not resolve, and nothing of another workspace", async () => {
    await set("stack", { a: 1 });
    await set("project_identity", { shop: {} }, "w");
    expect(await dispatch(["stack"])).toBe('stack\n{"a":1}');
    expect(await dispatch(["stack"], "--workspace", "w")).toBeNull();
    expect(await dispatch(["gone"])).toBeNull();
    const goal = ["dispatch", "--agent", "a", "--goal", "shop", "--can-read", "stack", "--json"];
    expect(block(String(documentOf(await world.writ(goal)).kernel))).toBeNull();
  });
});

describe("hostile text", () => {
  const HOSTILE = "start \x1b[31mred\x1b[0m\x1b]0;title\x07\r\b\x9b1m \u202eturned\u2066\u2028\u200bend\ufeff";
  const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/;

  test("of a section, a workspace, a key or a name never reaches a person as it came", async () => {
    await set(HOSTILE, { [HOSTILE]: HOSTILE }, HOSTILE);
    await set("project_identity", { [HOSTILE]: {} }, HOSTILE);
    const entry = { contract: HOSTILE, payload: { [HOSTILE]: HOSTILE } };
    const split = { contract: "project_identity", payload: { [HOSTILE]: {}, [`${HOSTILE} nowhere`]: {} } };
    const id = await proposed([entry, split, entry], "--workspace", HOSTILE);
    const later = await proposed([{ contract: HOSTILE, payload: {} }], "--workspace", HOSTILE);
    for (const words of [
      ["list", "--workspace", HOSTILE],
      ["list", "--workspace", `${HOSTILE} empty`],
      ["get", HOSTILE],
      ["get", "none", "--workspace", HOSTILE],
      ["set", HOSTILE, HOSTILE],
      ["accept", HOSTILE],
      ["accept", id, "--entry", HOSTILE],
      ["accept", id, "--dry-run"],
      ["accept", id, "--by", HOSTILE],
      ["accept", id],
      ["reject", later, "--by", HOSTILE, "--reason", HOSTILE],
    ]) {
      const ran = await context(words);
      const isSet = words[0] === "set"; // its output is a document, where nothing is stripped
      expect(`${isSet ? "-" : ran.stdout}${ran.stderr}`).not.toMatch(UNSAFE);
      expect(`${ran.stdout}${ran.stderr}`).not.toBe("");
    }
  });

  test("stays what it is in JSON, and is escaped where JSON goes to a terminal", async () => {
    await set("stack", { [HOSTILE]: HOSTILE });
    expect(await get("stack")).toEqual({ [HOSTILE]: HOSTILE });
    const screen = openScreen([...writCommand(), "context", "get", "stack"], {
      env: world.env(),
      cwd: world.folder,
      columns: 500,
    });
    expect(await screen.ended).toBe(0);
    const text = screen.text().replaceAll("\r\n", "\n").trimEnd();
    expect(text).not.toMatch(UNSAFE);
    expect(JSON.parse(text)).toEqual({ [HOSTILE]: HOSTILE });
  });

  test("of many lines stays on its line", async () => {
    const lines = "a\nb\tc\nstack  2026  forged";
    await set(lines, {});
    expect((await context(["list"])).stdout.split("\n")).toHaveLength(3);
  });
});

test("a folder in place of the database is told as a failing store", async () => {
  mkdirSync(join(world.folder, "folder.db"));
  const ran = await context(["list", "--json"], { env: { WRIT_DB: join(world.folder, "folder.db") } });
  expect([ran.exit, documentOf(ran).code]).toEqual([4, "store_failed"]);
});
