import { afterAll, describe, expect, test } from "bun:test";
import { createHash, createPublicKey } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runWrit, shown } from "../../support/writ.ts";

const folder = mkdtempSync(join(tmpdir(), "writ-key-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("writ key new", () => {
  test("makes a pair: the private part for its owner alone, the public part beside it, and prints the key id", async () => {
    const ran = await runWrit(["key", "new", "--out", "k.pem"], { cwd: folder });
    const pub = readFileSync(join(folder, "k.pem.pub"), "utf8");
    const keyid = createHash("sha256")
      .update(createPublicKey(pub).export({ type: "spki", format: "der" }))
      .digest("hex");
    expect(shown(ran)).toBe(`keyid    ${keyid}\nprivate  k.pem\npublic   k.pem.pub\n--- exit 0\n`);
    expect(readFileSync(join(folder, "k.pem"), "utf8")).toStartWith("-----BEGIN PRIVATE KEY-----\n");
    expect(pub).toStartWith("-----BEGIN PUBLIC KEY-----\n");
    expect(statSync(join(folder, "k.pem")).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder).toSorted()).toEqual(["k.pem", "k.pem.pub"]);
  });

  test.each([{ there: "taken.pem" }, { there: "taken.pem.pub" }])(
    "overwrites nothing where $there is",
    async ({ there }) => {
      const own = mkdtempSync(join(folder, "own-"));
      writeFileSync(join(own, there), "mine");
      const ran = await runWrit(["key", "new", "--out", "taken.pem", "--json"], { cwd: own });
      expect(ran.exit).toBe(3);
      expect(JSON.parse(ran.stdout)).toMatchObject({ ok: false, code: "key_exists" });
      expect(readdirSync(own)).toEqual([there]);
      expect(readFileSync(join(own, there), "utf8")).toBe("mine");
    },
  );

  test("goes to writ's own folder when no place is named, and says where", async () => {
    const data = join(folder, "data");
    const ran = await runWrit(["key", "new", "--json"], { env: { WRIT_DATA_DIR: data } });
    expect(JSON.parse(ran.stdout)).toMatchObject({ ok: true, status: "made", private: join(data, "key.pem") });
    expect(statSync(data).mode & 0o777).toBe(0o700);
    expect((await runWrit(["key", "new"], { env: { WRIT_DATA_DIR: data } })).exit).toBe(3);
  });

  test("a place that cannot be written is status 4", async () => {
    const ran = await runWrit(["key", "new", "--out", join(folder, "none", "k.pem")]);
    expect([ran.exit, ran.stdout]).toEqual([4, ""]);
    expect(ran.stderr).toContain("its folder is not there; nothing was written");
  });
});
