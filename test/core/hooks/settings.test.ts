import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { HOOK_EVENTS } from "../../../src/core/hooks/harness.ts";
import { settingsOf } from "../../../src/core/hooks/print.ts";
import { findHooks, planInstall, planUninstall, type Wanted } from "../../../src/core/hooks/settings.ts";
import { parseJson } from "../../../src/core/json/parse.ts";
import type { JsonObject, JsonValue } from "../../../src/core/json/value.ts";
import { refusalOf } from "../../support/turn.ts";

const PATH = "/home/dev/.claude/settings.json";
const WANTED: Wanted = { harness: "claude-code", program: ["/opt/writ"], gate: 1 };

const install = (text: string | null, wanted: Partial<Wanted> = {}) =>
  planInstall(text, PATH, { ...WANTED, ...wanted });
const uninstall = (text: string) => planUninstall(text, PATH, WANTED);
const pretty = (value: JsonValue) => `${JSON.stringify(value, null, 2)}\n`;
const handler = (command: string, args?: readonly string[], more: JsonObject = {}): JsonObject => ({
  type: "command",
  command,
  ...(args === undefined ? {} : { args }),
  ...more,
});
const THEIRS = { matcher: "Bash", hooks: [handler("notify.sh")] };

describe("planInstall()", () => {
  test("writes a whole file where there is none, as hooks print shows it", () => {
    const { text, events } = install(null);
    expect(JSON.parse(text)).toEqual(settingsOf("claude-code", ["/opt/writ"], 1));
    expect(events).toEqual([...HOOK_EVENTS]);
    expect(text).toEndWith("}\n");
  });

  test("every hook is in exec form, and the stop alone has the gate", () => {
    const hooks = findHooks(JSON.parse(install(null).text));
    expect(hooks.map(({ event, command, args, matcher }) => [event, command, args?.join(" "), matcher])).toEqual([
      ["PostToolUse", "/opt/writ", "record --harness claude-code", null],
      ["PostToolUseFailure", "/opt/writ", "record --harness claude-code", null],
      ["SubagentStart", "/opt/writ", "record --harness claude-code", null],
      ["SubagentStop", "/opt/writ", "record --harness claude-code --gate 1", null],
    ]);
  });

  test("gate 0 is no gate", () => {
    expect(install(null, { gate: 0 }).text).not.toContain("--gate");
  });

  test("keeps every other hook, and comes after it", () => {
    const before = pretty({ model: "opus", hooks: { PostToolUse: [THEIRS], Stop: [THEIRS] }, env: { A: "1" } });
    const after = JSON.parse(install(before).text);
    expect(after.hooks.PostToolUse[0]).toEqual(THEIRS);
    expect(after.hooks.PostToolUse).toHaveLength(2);
    expect(after.hooks.Stop).toEqual([THEIRS]);
    expect(Object.keys(after)).toEqual(["model", "hooks", "env"]);
  });

  test("a second time nothing is to be done", () => {
    const once = install(pretty({ a: 1 })).text;
    expect(install(once)).toEqual({ text: once, events: [] });
  });

  test.each([
    { what: "another place", before: { program: ["/old/writ"] } },
    { what: "another gate", before: { gate: 5 } },
    { what: "its sources", before: { program: ["/usr/bin/bun", "/src/main.ts"] } },
  ])("hooks of $what are brought up to date where they stand, with what their owner added", ({ before }) => {
    const old = install(pretty({ a: 1 }), before).text.replaceAll(
      '"timeout": 60',
      '"timeout": 7,\n            "mine": [1]',
    );
    const { text, events } = install(old);
    expect(text).toBe(
      install(pretty({ a: 1 })).text.replaceAll('"timeout": 60', '"timeout": 7,\n            "mine": [1]'),
    );
    expect(events).toEqual("gate" in before ? ["SubagentStop"] : [...HOOK_EVENTS]);
  });

  test("a second hook of writ for one event goes", () => {
    const twice = JSON.parse(install(null).text);
    twice.hooks.SubagentStart.push(...JSON.parse(install(null, { program: ["/b/writ"] }).text).hooks.SubagentStart);
    const { text, events } = install(pretty(twice));
    expect(events).toEqual(["SubagentStart"]);
    expect(text).toBe(pretty(JSON.parse(install(null).text)));
  });

  test("a line for a shell is its owner's: it stays, and ours comes beside it", () => {
    const line = { hooks: [handler("writ record --harness claude-code")] };
    const after = JSON.parse(install(pretty({ hooks: { PostToolUse: [line] } })).text);
    expect(after.hooks.PostToolUse).toHaveLength(2);
  });

  test.each([
    ["a comment", '{\n  // mine\n  "a": 1\n}', "line 2, column 3: comments are not JSON"],
    ["a trailing comma", '{\n  "a": 1,\n}', "line 2, column 9: a trailing comma is not JSON"],
    ["a key twice", '{"a": 1, "a": 2}', 'line 1, column 10: key "a" is given twice in one object'],
    ["nothing", "", "line 1, column 1: the text is empty"],
    ["a byte order mark", "\ufeff{}", "line 1, column 1: a byte order mark stands before the JSON"],
  ])("refuses a file with %s, and says where", (_, text, says) => {
    for (const plan of [install, uninstall]) {
      const error = refusalOf(() => plan(text));
      expect(error).toMatchObject({ code: "bad_json", path: PATH, message: `Cannot read "${PATH}": ${says}` });
    }
  });

  test.each<[string, JsonValue]>([
    ["it is no JSON object", []],
    ['its "hooks" is no object', { hooks: [] }],
    ['its "hooks.PostToolUse" is no list', { hooks: { PostToolUse: {} } }],
  ])("refuses a file of which %s", (why, settings) => {
    const error = refusalOf(() => install(pretty(settings)));
    expect(error.code).toBe("settings_refused");
    expect(error.message).toContain(why);
  });
});

describe("planUninstall()", () => {
  test("takes out what was put in, and nothing is left of it", () => {
    expect(uninstall(install(null).text)).toEqual({ text: "{}\n", events: [...HOOK_EVENTS] });
  });

  test("where nothing was put in, nothing is to be done", () => {
    const text = '{ "hooks": { "PostToolUse": [ ] } }';
    expect(uninstall(text)).toEqual({ text, events: [] });
  });

  test("what somebody put around it stays: a hook in our group, a group behind ours, a key of the group", () => {
    const edited = JSON.parse(install(null).text);
    edited.hooks.PostToolUse[0].hooks.push(handler("mine.sh"));
    edited.hooks.PostToolUseFailure.push(THEIRS);
    edited.hooks.SubagentStart.unshift(THEIRS);
    edited.hooks.SubagentStop[0].note = "mine";
    expect(JSON.parse(uninstall(pretty(edited)).text)).toEqual({
      hooks: {
        PostToolUse: [{ hooks: [handler("mine.sh")] }],
        PostToolUseFailure: [THEIRS],
        SubagentStart: [THEIRS],
        SubagentStop: [{ hooks: [], note: "mine" }],
      },
    });
  });

  test("what somebody changed in it goes with it", () => {
    const edited = install(null, { program: ["/elsewhere/writ-0.2"] }).text;
    const settings = JSON.parse(edited.replaceAll('"timeout": 60', '"timeout": 5, "async": true'));
    settings.hooks.PostToolUse[0].matcher = "Bash";
    expect(uninstall(pretty(settings)).text).toBe("{}\n");
  });

  test.each<[string, JsonObject]>([
    ["a line for a shell", handler("/opt/writ record --harness claude-code")],
    ["another program", handler("/opt/writer", ["record", "--harness", "claude-code"])],
    ["another harness", handler("/opt/writ", ["record", "--harness", "codex"])],
    ["another command of writ", handler("/opt/writ", ["contract", "list"])],
    ["a call without a harness", handler("/opt/writ", ["record"])],
    ["a prompt", { type: "prompt", prompt: "writ record --harness claude-code" }],
  ])("%s is not ours", (_, hook) => {
    const text = pretty({ hooks: { PostToolUse: [{ hooks: [hook] }] } });
    expect(uninstall(text)).toEqual({ text, events: [] });
  });
});

/** Settings as people have them, in the forms in which they keep them; without empty places where ours go. */
const settings = fc
  .tuple(
    fc.dictionary(
      fc.string().filter((key) => key !== "hooks"),
      fc.jsonValue({ maxDepth: 2 }),
      { maxKeys: 4 },
    ),
    fc.option(
      fc.dictionary(
        fc.constantFrom("PostToolUse", "SubagentStop", "Stop", "PreToolUse"),
        fc.array(fc.constant(THEIRS), { minLength: 1, maxLength: 3 }),
        { minKeys: 1 },
      ),
    ),
    fc.constantFrom(undefined, 2, 4, "\t"),
    fc.boolean(),
  )
  .map(([other, hooks, indent, crlf]) => {
    const text = JSON.stringify(hooks === null ? other : { ...other, hooks }, null, indent);
    return crlf ? text.replaceAll("\n", "\r\n") : text;
  })
  .filter((text) => parseJson(text).ok);

test("put in and taken out again, every file is what it was, to the byte", () => {
  fc.assert(
    fc.property(settings, fc.nat({ max: 9 }), (text, gate) => {
      const installed = install(text, { gate });
      expect(install(installed.text, { gate }).events).toEqual([]);
      expect(findHooks(JSON.parse(installed.text)).filter((hook) => hook.writ !== null)).toHaveLength(4);
      expect(uninstall(installed.text).text).toBe(text);
    }),
  );
});

describe("findHooks()", () => {
  test.each<[string, JsonValue]>([
    ["no hooks", {}],
    ["hooks of another type", { hooks: "none" }],
    ["an event of another type", { hooks: { PostToolUse: 7 } }],
    ["groups of another type", { hooks: { PostToolUse: [null, 7, [], { hooks: 7 }, { hooks: [null, 7] }] } }],
    [
      "a handler of another type",
      { hooks: { PostToolUse: [{ hooks: [{ type: "http", url: "x" }, { type: "command" }] }] } },
    ],
  ])("finds none in %s", (_, value) => {
    expect(findHooks(value as JsonObject)).toEqual([]);
  });

  test.each<[string, JsonObject, JsonValue]>([
    [
      "exec form",
      handler("/opt/writ", ["record", "--gate=3"]),
      { program: ["/opt/writ"], harness: "claude-code", gate: 3 },
    ],
    [
      "exec form of sources",
      handler("bun", ["/src/main.ts", "record", "--harness", "codex"]),
      { program: ["bun", "/src/main.ts"], harness: "codex", gate: 0 },
    ],
    [
      "a plain line",
      handler("writ record --harness claude-code --gate 2"),
      { program: ["writ"], harness: "claude-code", gate: 2 },
    ],
    [
      "a line with more than words",
      handler('"$HOME/bin/writ" record || true'),
      { program: null, harness: "claude-code", gate: 0 },
    ],
    [
      "a line that begins with a variable",
      handler("A=1 writ record"),
      { program: null, harness: "claude-code", gate: 0 },
    ],
    ["an unknown harness", handler("/opt/writ", ["record", "--harness", "nope"]), null],
    ["another recorder", handler("recorder", ["record"]), null],
    ["another line", handler("echo writ"), null],
  ])("reads what %s calls of writ", (_, hook, writ) => {
    const [found] = findHooks({ hooks: { PostToolUse: [{ hooks: [hook] }] } });
    expect(found?.writ).toEqual(writ as never);
  });
});
