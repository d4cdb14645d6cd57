import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { preAuthentication } from "../../../src/core/attest/dsse.ts";
import { newKeyPair } from "../../../src/host/key.ts";
import { closedWithRuns, statementText } from "../../support/attested.ts";
import { born } from "../../support/turn.ts";
import { type ScriptedWorld, scriptedWorld } from "../../support/world.ts";
import { type Ran, runWrit, type Setting, shown } from "../../support/writ.ts";

let world: ScriptedWorld;
let id = "";
let text = "";
let signed = "";
const folder = mkdtempSync(join(tmpdir(), "writ-attest-"));
const pair = newKeyPair();
const noOpenssl = Bun.which("openssl") === null;

beforeAll(async () => {
  world = scriptedWorld();
  id = closedWithRuns(world);
  text = statementText(world, id);
  writeFileSync(join(folder, "k.pem"), pair.privatePem);
  writeFileSync(join(folder, "k.pem.pub"), pair.publicPem);
  writeFileSync(join(folder, "other.pub"), newKeyPair().publicPem);
  signed = (await attest([id, "--key", "k.pem"])).stdout;
  writeFileSync(join(folder, "signed.json"), signed);
  writeFileSync(join(folder, "plain.json"), `${text}\n`);
});
afterAll(() => {
  world[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});

async function attest(args: readonly string[], more: Setting = {}): Promise<Ran> {
  return await runWrit(["contract", "attest", ...args], { cwd: folder, env: { WRIT_DATA_DIR: world.folder }, ...more });
}

/** Checks without any store: the data folder of the call is fresh, and must not be made. */
async function verify(args: readonly string[], more: Setting = {}): Promise<Ran> {
  return await attest(["--verify", ...args], { env: { WRIT_DATA_DIR: join(folder, "no-store") }, ...more });
}

describe("writ contract attest", () => {
  test("prints the statement alone, as canonical JSON, the same with --json and by handoff id", async () => {
    expect(shown(await attest([id]))).toBe(`${text}\n--- exit 0\n`);
    expect(shown(await attest([id, "--json"]))).toBe(`${text}\n--- exit 0\n`);
    expect(shown(await attest(["1"]))).toBe(`${text}\n--- exit 0\n`);
  });

  test("with a key prints a DSSE envelope around the very same bytes, the same each time", async () => {
    const { payloadType, payload, signatures, ...more } = JSON.parse(signed);
    expect(more).toEqual({});
    expect(payloadType).toBe("application/vnd.in-toto+json");
    expect(Buffer.from(payload, "base64").toString()).toBe(text);
    expect(signatures).toEqual([{ keyid: pair.keyid, sig: expect.any(String) }]);
    expect((await attest([id, "--key", "k.pem"])).stdout).toBe(signed);
    expect((await attest([id, "--key", "-"], { stdin: pair.privatePem })).stdout).toBe(signed);
  });

  test.skipIf(noOpenssl)("its signature is verified by openssl pkeyutl (needs openssl)", () => {
    const { payloadType, payload, signatures } = JSON.parse(signed);
    const message = preAuthentication(payloadType, Buffer.from(payload, "base64"));
    writeFileSync(join(folder, "message"), message);
    writeFileSync(join(folder, "sig"), Buffer.from(signatures[0].sig, "base64"));
    const call = [
      "openssl",
      "pkeyutl",
      "-verify",
      "-pubin",
      "-inkey",
      "k.pem.pub",
      "-rawin",
      "-in",
      "message",
      "-sigfile",
      "sig",
    ];
    const ran = Bun.spawnSync(call, { cwd: folder });
    expect(ran.stdout.toString() + ran.stderr.toString()).toContain("Signature Verified Successfully");
    writeFileSync(
      join(folder, "message"),
      message.map((byte, index) => (index === 20 ? byte ^ 1 : byte)),
    );
    expect(Bun.spawnSync(call, { cwd: folder }).exitCode).not.toBe(0);
  });

  test.skipIf(noOpenssl)("takes a key that openssl made, and names it as openssl does (needs openssl)", async () => {
    const make = (...args: string[]) => Bun.spawnSync(["openssl", ...args], { cwd: folder });
    make("genpkey", "-algorithm", "ed25519", "-out", "o.pem");
    make("pkey", "-in", "o.pem", "-pubout", "-out", "o.pub");
    const der = make("pkey", "-in", "o.pem", "-pubout", "-outform", "DER").stdout;
    const ran = await attest([id, "--key", "o.pem", "--out", "o.json"]);
    expect(ran.exit).toBe(0);
    expect(JSON.parse(readFileSync(join(folder, "o.json"), "utf8")).signatures[0].keyid).toBe(
      new Bun.CryptoHasher("sha256").update(der).digest("hex"),
    );
    expect((await verify(["o.json", "--pub", "o.pub"])).exit).toBe(0);
  });

  test("--out writes it to a file, whole, and says so", async () => {
    writeFileSync(join(folder, "out.json"), "old");
    expect(shown(await attest([id, "--out", "out.json"]))).toBe(
      `OK: the statement about ${id} is in out.json (not signed).\n--- exit 0\n`,
    );
    expect(readFileSync(join(folder, "out.json"), "utf8")).toBe(`${text}\n`);
    const ran = await attest([id, "--out", "out.json", "--key", "k.pem", "--json"]);
    expect(JSON.parse(ran.stdout)).toEqual({
      ok: true,
      status: "written",
      contract_id: id,
      handoff_id: 1,
      out: "out.json",
      keyid: pair.keyid,
    });
    expect(readFileSync(join(folder, "out.json"), "utf8")).toBe(signed);
    expect(readdirSync(folder).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  test.each([
    { what: "a turn that is open", args: () => [born(world)], exit: 3, code: "not_closed" },
    { what: "an id that is unknown", args: () => ["nothing"], exit: 3, code: "no_row" },
    { what: "no id", args: () => [], exit: 2, code: "usage" },
    { what: "--pub without --verify", args: () => [id, "--pub", "k.pem.pub"], exit: 2, code: "usage" },
    { what: "--verify with an id", args: () => [id, "--verify", "plain.json"], exit: 2, code: "usage" },
    { what: "--verify with --key", args: () => ["--verify", "plain.json", "--key", "k.pem"], exit: 2, code: "usage" },
    { what: "a key that is missing", args: () => [id, "--key", "none.pem"], exit: 2, code: "file_unreadable" },
    { what: "a key that is a folder", args: () => [id, "--key", "."], exit: 2, code: "file_unreadable" },
    { what: "a key that is the public part", args: () => [id, "--key", "k.pem.pub"], exit: 2, code: "key_unusable" },
    { what: "a key that is no PEM", args: () => [id, "--key", "plain.json"], exit: 2, code: "key_unusable" },
    { what: "a key that is no text", args: () => [id, "--key", process.execPath], exit: 2, code: "key_unusable" },
    { what: "a place that is a folder", args: () => [id, "--out", "."], exit: 4, code: "file_unwritable" },
  ])("$what is $code", async ({ args, exit, code }) => {
    const ran = await attest([...args(), "--json"]);
    expect(ran.exit).toBe(exit);
    expect(JSON.parse(ran.stdout)).toMatchObject({ ok: false, code });
  });

  test.skipIf(process.getuid?.() === 0)(
    "a key that may not be read is file_unreadable (needs to be run by another user than root)",
    async () => {
      writeFileSync(join(folder, "shut.pem"), pair.privatePem);
      chmodSync(join(folder, "shut.pem"), 0o000);
      const ran = await attest([id, "--key", "shut.pem", "--json"]);
      expect([ran.exit, JSON.parse(ran.stdout).code]).toEqual([2, "file_unreadable"]);
    },
  );
});

describe("writ contract attest --verify", () => {
  test("a signed statement holds, without any store", async () => {
    const { record } = JSON.parse(text).predicate;
    const envelope = JSON.parse(text).subject[0].digest.sha256;
    expect(shown(await verify(["signed.json", "--pub", "k.pem.pub"]))).toBe(
      [
        `OK: the statement about ${id} holds (signed by key ${pair.keyid}).`,
        `envelope  sha256 ${envelope}`,
        `record    3 entries, head ${record.head}`,
        "--- exit 0\n",
      ].join("\n"),
    );
    expect(JSON.parse((await verify(["signed.json", "--pub", "k.pem.pub", "--json"])).stdout)).toEqual({
      ok: true,
      status: "holds",
      signed: true,
      contract_id: id,
      keyid: pair.keyid,
      envelope_sha256: envelope,
      record: { count: 3, head: record.head },
    });
    expect(existsSync(join(folder, "no-store"))).toBe(false);
  });

  test("a statement alone holds without a key, also from standard input, and says that nobody signed it", async () => {
    expect((await verify(["plain.json"])).stdout).toStartWith(
      `OK: the statement about ${id} holds (nobody signed it).`,
    );
    expect((await verify(["-", "--json"], { stdin: text })).exit).toBe(0);
    expect((await verify(["-", "--pub", "k.pem.pub"], { stdin: signed })).exit).toBe(0);
  });

  test("a changed byte is refused with all that does not hold", async () => {
    const envelope = JSON.parse(signed);
    const statement = Buffer.from(envelope.payload, "base64").toString().replace('"exit_code":0', '"exit_code":1');
    writeFileSync(join(folder, "t.json"), JSON.stringify({ ...envelope, payload: btoa(statement) }));
    const ran = await verify(["t.json", "--pub", "k.pem.pub", "--json"]);
    expect(ran.exit).toBe(1);
    const answer = JSON.parse(ran.stdout);
    expect(answer).toMatchObject({ ok: false, status: "rejected", code: "attestation_refuted", keyid: null });
    expect(answer.errors.map(({ code }: { code: string }) => code)).toEqual(["signature_invalid", "record_broken"]);
    expect((await verify(["t.json", "--pub", "k.pem.pub"])).stderr).toStartWith(
      'Rejected: Of the statement in "t.json" 2 things do not hold\n  signature_invalid [signatures]: ',
    );
  });

  test.each([
    { what: "another key", file: () => signed, pub: "other.pub", code: "signature_invalid" },
    {
      what: "another payload type",
      file: () => signed.replace("vnd.in-toto", "vnd.other"),
      pub: "k.pem.pub",
      code: "payload_type",
    },
    { what: "a statement that nobody signed", file: () => text, pub: "k.pem.pub", code: "not_signed" },
    { what: "text that is no JSON", file: () => "signed: yes\n", pub: "k.pem.pub", code: "bad_json" },
    { what: "nothing", file: () => "", pub: "k.pem.pub", code: "bad_json" },
    { what: "bytes that are no text", file: () => new Uint8Array([0x7b, 0xff]), pub: "k.pem.pub", code: "bad_json" },
    { what: "other JSON", file: () => "{}", pub: "k.pem.pub", code: "not_an_attestation" },
    {
      what: "a payload of ten million bytes",
      file: () => JSON.stringify({ ...JSON.parse(signed), payload: "A".repeat(10_000_000) }),
      pub: "k.pem.pub",
      code: "signature_invalid",
    },
  ])("$what is $code, status 1", async ({ file, pub, code }) => {
    writeFileSync(join(folder, "bad.json"), file());
    const ran = await verify(["bad.json", "--pub", pub, "--json"]);
    expect(ran.exit).toBe(1);
    expect(JSON.parse(ran.stdout).errors[0].code).toBe(code);
  });

  test.each([
    { what: "a signed statement without a key", args: ["signed.json"], code: "usage" },
    { what: "a file that is missing", args: ["none.json", "--pub", "k.pem.pub"], code: "file_unreadable" },
    { what: "a folder", args: ["sub", "--pub", "k.pem.pub"], code: "file_unreadable" },
    { what: "the private part as the key", args: ["signed.json", "--pub", "k.pem"], code: "key_unusable" },
    { what: "a key that is missing", args: ["signed.json", "--pub", "none.pub"], code: "file_unreadable" },
    { what: "both from standard input", args: ["-", "--pub", "-"], code: "usage" },
  ])("$what is $code, status 2", async ({ args, code }) => {
    mkdirSync(join(folder, "sub"), { recursive: true });
    const ran = await verify([...args, "--json"]);
    expect(ran.exit).toBe(2);
    expect(JSON.parse(ran.stdout)).toMatchObject({ ok: false, code });
  });
});

test.each(["k.pem", "./k.pem", "link.pem"])(
  "the statement is never written over its own key: --out %s",
  async (out) => {
    symlinkSync("k.pem", join(folder, "link.pem"));
    try {
      const ran = await attest([id, "--key", "k.pem", "--out", out]);
      expect({ exit: ran.exit, stdout: ran.stdout }).toEqual({ exit: 2, stdout: "" });
      expect(readFileSync(join(folder, "k.pem"), "utf8")).toBe(pair.privatePem);
    } finally {
      rmSync(join(folder, "link.pem"));
    }
  },
);
