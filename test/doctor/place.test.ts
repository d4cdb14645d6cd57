import { describe, expect, test } from "bun:test";
import { examine } from "../../src/doctor/examine.ts";
import type { CertificateLook } from "../../src/doctor/world.ts";
import { configLook, DATA, type DoctorScript, doctorWorld, SEAT } from "../support/doctor-world.ts";

const told = async (check: string, script: DoctorScript = {}) =>
  (await examine(doctorWorld(script)))
    .filter((finding) => finding.check === check)
    .map(({ outcome, subject, message }) => `${outcome} ${subject}: ${message}`);

describe("config", () => {
  const of = (config: object, script: DoctorScript = {}) =>
    told("config", { config: async () => configLook(config), ...script });
  const FILE = `${DATA}/config.json`;

  test("a valid one passes, with what is in it", async () => {
    expect(await of({ seats: [SEAT], remotes: ["https://a", "https://b"] })).toEqual([
      `PASS ${FILE}: It is valid: 1 seat, 2 remotes`,
    ]);
    expect(await told("config", { config: async () => configLook({}, null) })).toEqual([
      "PASS built-in: It is valid: 0 seats, 0 remotes",
    ]);
  });

  test("each issue fails, with its place", async () => {
    expect(await of({ limits: { width: 9 }, default_seat: "x" })).toEqual([
      `FAIL ${FILE}, line 1: limits.width: It must be from 1 to 8, not 9`,
      `FAIL ${FILE}, line 1: default_seat: No seat is called "x"`,
    ]);
  });

  test.each([
    [0o600, []],
    [0o644, []],
    [0o660, ["Others may change it (mode 660)"]],
    [0o606, ["Others may change it (mode 606)"]],
  ])("one of mode %p", async (mode, messages) => {
    const look = () => ({ kind: "file" as const, mode, isMine: true, isWritable: true });
    const lines = (await of({}, { look })).filter((line) => line.startsWith("FAIL"));
    expect(lines).toEqual(messages.map((message) => `FAIL ${FILE}: ${message}`));
  });

  test("a variable that is named on purpose and not set is a warning", async () => {
    const config = {
      seats: [{ ...SEAT, api_key_env: "KEY" }],
      remotes: ["https://a", { url: "https://b", token_env: "B" }, { url: "https://c", token_env: "" }],
    };
    expect((await of(config, { isSet: () => false })).slice(0, -1)).toEqual([
      "WARN seats[0].api_key_env: It names KEY, which is not set: nothing is sent",
      "WARN remotes[1].token_env: It names B, which is not set: nothing is sent",
    ]);
    expect(await of(config)).toHaveLength(1);
  });
});

test("variables of a seat that has no URL are a warning", async () => {
  const idle = ["WRIT_SEAT_CTX", "WRIT_SEAT_MODEL"];
  const of = (set: readonly string[]) =>
    told("config", { isSet: (name) => set.includes(name), config: async () => configLook({}) });
  expect((await of(idle)).slice(0, -1)).toEqual([
    "WARN WRIT_SEAT_MODEL: It is set and stands for nothing: WRIT_SEAT_URL is not",
    "WARN WRIT_SEAT_CTX: It is set and stands for nothing: WRIT_SEAT_URL is not",
  ]);
  expect(await of([...idle, "WRIT_SEAT_URL"])).toHaveLength(1);
});

test("the state folder is tried", async () => {
  expect(await told("state folder")).toEqual([
    `PASS ${DATA}/run: A file was written, flushed, renamed and removed there`,
  ]);
  const stateFault = () => ({ folder: `${DATA}/run`, fault: "ENOSPC: no space left on device, write" });
  expect(await told("state folder", { stateFault })).toEqual([
    `FAIL ${DATA}/run: ENOSPC: no space left on device, write`,
  ]);
});

describe("the node listener", () => {
  const of = (node: object, script: DoctorScript = {}) =>
    told("node listener", { config: async () => configLook({ node }), ...script });
  const none = { isSet: () => false };

  test("with a token it passes, wherever it listens", async () => {
    expect(await of({ listen: "0.0.0.0:18811" })).toEqual([
      "PASS 0.0.0.0:18811: Callers have to bring the token in WRIT_NODE_TOKEN",
    ]);
  });

  test.each(["0.0.0.0:18811", "100.64.0.1:18811", "[::]:18811", "build-box:18811"])(
    "without one, beyond this machine, it is a warning: %s",
    async (listen) => {
      expect(await of({ listen }, none)).toEqual([
        `WARN ${listen}: There is no token, so writ node serve will not listen beyond this machine`,
      ]);
    },
  );

  test.each(["127.0.0.1:18811", "[::1]:18811", "localhost:18811"])(
    "without one, on %s, it depends on who else is here",
    async (listen) => {
      expect(await of({ listen }, none)).toEqual([
        `PASS ${listen}: There is no token, and nobody else has an account on this machine`,
      ]);
      expect(await of({ listen }, { ...none, otherUsers: () => ["ann", "bob", "cyd", "dan"] })).toEqual([
        `WARN ${listen}: There is no token, and others use this machine (ann, bob, cyd, …): they could use a node here`,
      ]);
      expect((await of({ listen }, { ...none, otherUsers: () => null }))[0]).toStartWith("WARN");
    },
  );

  describe("and its certificate", () => {
    const FIT = {
      kind: "fit" as const,
      valid_from_at: "2026-01-01T00:00:00Z",
      valid_to_at: "2027-01-01T00:00:00Z",
      days_left: 60,
      isYetToBegin: false,
      names: "DNS:gpu-a",
    };
    const lineOf = async (look: CertificateLook) =>
      (await of({ tls_cert: "/c.pem", tls_key: "/c.key" }, { certificate: () => look }))[1];

    test.each<[Partial<typeof FIT>, string]>([
      [{}, "PASS /c.pem: The key is that of the certificate, which is for DNS:gpu-a and ends at 2027-01-01T00:00:00Z"],
      [{ days_left: 13 }, "WARN /c.pem: The key is that of the certificate, which is for DNS:gpu-a and ends at "],
      [{ days_left: -1 }, "FAIL /c.pem: The certificate ended at 2027-01-01T00:00:00Z: "],
      [{ isYetToBegin: true }, "FAIL /c.pem: The certificate begins at 2026-01-01T00:00:00Z: "],
      [{ names: "" }, "FAIL /c.pem: The certificate names no host (subjectAltName): "],
    ])("%j", async (more, line) => {
      expect(await lineOf({ ...FIT, ...more })).toStartWith(line);
    });

    test("fails with what writ node serve would say", async () => {
      expect(await lineOf({ kind: "unusable", why: "no key", hint: null })).toBe(
        "FAIL /c.pem: writ node serve will not start: no key",
      );
      expect(await lineOf({ kind: "none" })).toBeUndefined();
    });
  });

  test("a token that the config takes away counts as none", async () => {
    expect((await of({ token_env: "" }, { otherUsers: () => ["ann"] }))[0]).toStartWith("WARN");
  });
});

test("of what gates run, a missing program is skipped, and an executable that is no Bun fails", async () => {
  expect(await told("gates")).toEqual([
    "PASS bun: This executable acts as Bun 1.4.5",
    "PASS go: /usr/bin/go",
    "PASS bwrap: /usr/bin/bwrap",
  ]);
  expect(await told("gates", { which: () => null, versionAsBun: async () => null })).toEqual([
    "FAIL bun: This executable does not act as Bun: no proof by bun test can be run",
    "SKIP go: It is not on PATH: proofs by go test are inconclusive without it",
    "SKIP bwrap: It is not on PATH: proofs run without a sandbox of their own",
  ]);
});

test.each([
  [null, "It is not there"],
  [{ kind: "file", mode: 0o600, isMine: true, isWritable: true }, "It is no folder"],
  [{ kind: "folder", mode: 0o500, isMine: true, isWritable: false }, "It cannot be written"],
] as const)("a temporary folder that gates cannot use is named, and Bun is not blamed: %j", async (temporary, why) => {
  const look = (path: string) =>
    path === "/tmp" ? temporary : ({ kind: "folder", mode: 0o700, isMine: true, isWritable: true } as const);
  const findings = await told("gates", { look, versionAsBun: async () => null });
  expect(findings).toEqual([
    `FAIL /tmp: ${why}: no gate can make its copies`,
    "PASS go: /usr/bin/go",
    "PASS bwrap: /usr/bin/bwrap",
  ]);
});

test("where one seat is asked for, nothing else is looked at but the config", async () => {
  const findings = await examine(doctorWorld({ asked: { only: { kind: "seat", name: "qwen" }, load: false } }));
  expect(new Set(findings.map(({ check }) => check))).toEqual(new Set(["config", "seat qwen"]));
});
