import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { documentOf, livingWorld, shown } from "../support/writ.ts";

const SEAT = { name: "qwen", base_url: "http://127.0.0.1:8080", model: "qwen3-8b", engine: "llama.cpp" };

function worldWith(config: unknown) {
  const world = livingWorld();
  mkdirSync(world.data);
  writeFileSync(join(world.data, "config.json"), typeof config === "string" ? config : JSON.stringify(config, null, 2));
  return world;
}

describe("writ config check", () => {
  test("without a file the built-in config is valid, and nothing is made", async () => {
    using world = livingWorld();
    expect(shown(await world.writ(["config", "check"]))).toBe("OK: the built-in config is valid.\n--- exit 0\n");
    expect(() => statSync(world.data)).toThrow();
  });

  test("every issue of file and environment is told, with its place", async () => {
    using world = worldWith('{\n  "seets": [],\n  "limits": {"width": 9}\n}\n');
    const env = { WRIT_NODE_TOKEN: "tooshort" };
    const path = join(world.data, "config.json");
    expect(shown(await world.writ(["config", "check"], { env }))).toBe(
      `${path}: 3 issues
  unknown_key [seets]: line 2, column 3: The config has no key "seets"
    Did you mean "seats"?
  out_of_range [limits.width]: line 3, column 23: It must be from 1 to 8, not 9
  bad_token [node.token_env]: The token in WRIT_NODE_TOKEN has 8 characters; at least 16 are needed
    For example: openssl rand -hex 24
--- exit 1
`,
    );
    const ran = await world.writ(["config", "check", "--json"], { env });
    expect(ran.exit).toBe(1);
    const document = documentOf(ran);
    expect(document).toMatchObject({ ok: false, status: "no", file: path });
    expect(document.issues).toHaveLength(3);
    expect(ran.stdout).not.toContain("tooshort");
  });

  test("a named file that is missing is an issue, and the present folder is never looked into", async () => {
    using world = livingWorld();
    writeFileSync(join(world.folder, "config.json"), "no config at all");
    expect((await world.writ(["config", "check"])).exit).toBe(0);
    const ran = await world.writ(["config", "check", "--json", "--config", "none.json"]);
    expect([ran.exit, documentOf(ran).file]).toEqual([1, join(world.folder, "none.json")]);
    expect((await world.writ(["config", "check", "--config", "config.json"])).exit).toBe(1);
    expect((await world.writ(["config", "check"], { env: { WRIT_CONFIG: "config.json" } })).exit).toBe(1);
  });
});

describe("writ config show", () => {
  const row = (text: string, key: string) =>
    text
      .split("\n")
      .find((line) => line.startsWith(`${key} `))
      ?.replaceAll(/ {2,}/g, " | ");

  test("it names each value with its source, and says of secrets only whether they are set", async () => {
    using world = worldWith({
      seats: [{ ...SEAT, api_key_env: "MY_KEY" }],
      remotes: [{ url: "https://gpu.example", token_env: "GPU" }],
    });
    const env = { MY_KEY: "sk-very-secret-value", WRIT_NODE_LISTEN: "127.0.0.1:7000", WRIT_AGENT_ALLOW_WRITE: "true" };
    const { stdout, stderr, exit } = await world.writ(["config", "show"], { env });
    expect([exit, stderr]).toEqual([0, ""]);
    expect(stdout).not.toContain("very-secret");
    const keys = [
      "seats[0].name",
      "seats[0].api_key_env",
      "remotes[0].token_env",
      "node.token_env",
      "node.listen",
      "agent_allow_write",
      "limits.width",
    ];
    expect(keys.map((key) => row(stdout, key))).toEqual([
      "seats[0].name | qwen | file, line 4",
      "seats[0].api_key_env | set (env MY_KEY) | file, line 8",
      "remotes[0].token_env | unset (env GPU) | file, line 14",
      "node.token_env | unset (env WRIT_NODE_TOKEN) | default",
      "node.listen | 127.0.0.1:7000 | env WRIT_NODE_LISTEN",
      "agent_allow_write | true | env WRIT_AGENT_ALLOW_WRITE",
      "limits.width | 8 | default",
    ]);
    const ran = await world.writ(["config", "show", "--json"], { env });
    expect(ran.stdout).not.toContain("very-secret");
    expect(documentOf(ran)).toMatchObject({
      ok: true,
      config: { default_seat: "", seats: [{ api_key_env: "MY_KEY", slots: 0 }] },
    });
    expect(documentOf(ran).values).toContainEqual({
      key: "seats[0].api_key_env",
      value: "MY_KEY",
      secret: "set (env MY_KEY)",
      source: { kind: "file", line: 8 },
    });
  });

  test("a config that is not valid is a usage error with all its issues", async () => {
    using world = worldWith({ default_seat: "none", limits: { width: 0 } });
    const ran = await world.writ(["config", "show", "--json"]);
    expect(ran.exit).toBe(2);
    expect(documentOf(ran)).toMatchObject({
      ok: false,
      status: "error",
      code: "bad_config",
      path: null,
      issues: [
        { code: "out_of_range", path: "limits.width" },
        { code: "no_such_seat", path: "default_seat" },
      ],
    });
  });

  test("a seat of the environment whose server is down is shown with what is not known", async () => {
    using world = livingWorld();
    const ran = await world.writ(["config", "show"], {
      env: { WRIT_SEAT_URL: "http://127.0.0.1:9/v1", WRIT_SEAT_ENGINE: "vllm" },
    });
    expect(ran.exit).toBe(0);
    expect(ran.stderr).toContain("Cannot find out what the server of WRIT_SEAT_URL serves");
    expect(["base_url", "model", "engine"].map((key) => row(ran.stdout, `seats[0].${key}`))).toEqual([
      "seats[0].base_url | http://127.0.0.1:9 | env WRIT_SEAT_URL",
      "seats[0].model | not known | its server",
      "seats[0].engine | vllm | env WRIT_SEAT_ENGINE",
    ]);
  });
});

describe("writ config init", () => {
  test("what it writes is valid, is its owner's alone, and is not written over", async () => {
    using world = livingWorld();
    const path = join(world.data, "config.json");
    const first = await world.writ(["config", "init", "--json"]);
    expect(documentOf(first)).toMatchObject({ ok: true, status: "ok", file: path });
    expect([statSync(path).mode & 0o777, statSync(world.data).mode & 0o777]).toEqual([0o600, 0o700]);
    expect((await world.writ(["config", "check"])).exit).toBe(0);

    writeFileSync(path, "mine");
    const second = await world.writ(["config", "init", "--json"]);
    expect([second.exit, documentOf(second).code]).toEqual([3, "file_exists"]);
    expect(readFileSync(path, "utf8")).toBe("mine");

    expect((await world.writ(["config", "init", "--force"])).exit).toBe(0);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect((await world.writ(["config", "check"])).exit).toBe(0);
  });

  test("a named place is written, if its folder is there", async () => {
    using world = livingWorld();
    expect((await world.writ(["config", "init", "--config", "ci.json"])).stdout).toStartWith(
      `OK: ${join(world.folder, "ci.json")} written.\n`,
    );
    expect((await world.writ(["config", "init", "--config", "none/ci.json"])).exit).toBe(4);
  });
});
