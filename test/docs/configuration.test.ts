import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CONFIG_VARIABLES } from "../../src/core/config/environment.ts";
import { mergeConfig } from "../../src/core/config/merge.ts";
import { readConfig } from "../../src/core/config/read.ts";
import { RESERVED_BODY_KEYS } from "../../src/core/config/seat.ts";
import { PROFILE_NAMES, TOOL_SPECS } from "../../src/core/seat/tool-specs.ts";
import { configKeys } from "../support/config-keys.ts";
import { livingWorld } from "../support/writ.ts";

const page = readFileSync(join(import.meta.dir, "..", "..", "docs", "configuration.md"), "utf8");

const rows = [...page.matchAll(/^\| `([a-z_.[\]]+)` \| ([^|]+) \| ([^|]+) \|([^|]*)\|([^|]*)\|$/gm)].map(
  ([, key = "", meaning = "", preset = "", range = "", variables = ""]) => ({
    key,
    meaning: meaning.trim(),
    default: preset.trim(),
    range: range.trim(),
    variables: variables.trim(),
  }),
);

describe("the tables of docs/configuration.md", () => {
  test("have a row for each key of the schema, and for no other", () => {
    expect(rows.map(({ key }) => key).toSorted()).toEqual(
      configKeys()
        .map(({ key }) => key)
        .toSorted(),
    );
  });

  test.each(configKeys())("say of $key its default, its range and its variables", (each) => {
    const row = rows.find(({ key }) => key === each.key);
    expect(row).toMatchObject({
      default: each.default === null ? "required" : `\`${each.default}\``,
      range: each.range ?? "",
      variables: each.variables.map((name) => `\`${name}\``).join(", "),
    });
    expect(row?.meaning.length).toBeGreaterThan(10);
  });

  test("name every variable, tool, profile and reserved key", () => {
    const words = [
      ...Object.keys(CONFIG_VARIABLES),
      ...TOOL_SPECS.map(({ name }) => name),
      ...PROFILE_NAMES,
      ...RESERVED_BODY_KEYS,
    ];
    expect(words.filter((word) => !page.includes(`\`${word}\``))).toEqual([]);
  });
});

test("the worked example is a config without an issue", () => {
  const example = /```json\n([\s\S]*?)```/.exec(page)?.[1] ?? "";
  expect(mergeConfig(readConfig(example), {})).toMatchObject({
    ok: true,
    config: { limits: { width: 4 }, remotes: [{ token_env: "WRIT_NODE_TOKEN" }, { ca_file: "/etc/ssl/gpu-b.pem" }] },
  });
});

test("the commands that the page opens with run, on the worked example", async () => {
  using world = livingWorld();
  mkdirSync(world.data);
  writeFileSync(join(world.data, "config.json"), /```json\n([\s\S]*?)```/.exec(page)?.[1] ?? "", { mode: 0o600 });
  for (const words of ["config check", "config show"]) {
    expect(page).toContain(`writ ${words}`);
    expect((await world.writ(words.split(" "))).exit).toBe(0);
  }
});
