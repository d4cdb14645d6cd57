import { describe, expect, test } from "bun:test";
import type { NodeAnswer } from "../../src/core/node/client.ts";
import { examine } from "../../src/doctor/examine.ts";
import type { PassedOver } from "../../src/doctor/world.ts";
import { answeredNode, configLook, doctorWorld, healthyNode } from "../support/doctor-world.ts";

const NODE = "http://10.0.0.2:18811";

type Told = {
  /** What a look at its health and the poll of a job are answered with; left out: as a node that is well. */
  readonly health?: NodeAnswer;
  readonly job?: NodeAnswer;
  readonly isSet?: boolean;
  readonly passed?: PassedOver;
};

async function told({ health, job, isSet = true, passed }: Told = {}) {
  const asked: string[] = [];
  const world = doctorWorld({
    asked: { only: { kind: "remote" }, load: false },
    config: async () => configLook({ remotes: [{ url: NODE, token_env: "NODE_B" }] }),
    isSet: () => isSet,
    passedOver: () => passed ?? null,
    openNode: () => ({
      async health() {
        asked.push("health");
        return health ?? healthyNode("health");
      },
      async poll(id) {
        asked.push(id);
        return job ?? healthyNode("job");
      },
    }),
  });
  const findings = (await examine(world)).filter(({ check }) => check === `remote ${NODE}`);
  return { asked, lines: findings.map(({ outcome, subject, message }) => `${outcome} ${subject}: ${message}`) };
}

const health = (more: object) => healthyNode("health", more);
const answered = answeredNode;
const silent = (why: string): NodeAnswer => ({ kind: "none", why, is_sent: false });

test("a node that is well passes each check, and a job that nobody has is asked for", async () => {
  const { lines, asked } = await told();
  expect(lines).toEqual([
    "PASS health: Node node-b: pool; 1 running, 0 queued",
    "PASS protocol: It speaks protocol 1",
    "PASS token: It takes the token in NODE_B",
    "PASS write door: It is closed: contracts with a write_root go elsewhere",
  ]);
  expect(asked).toEqual(["health", `wrt-${"0".repeat(24)}`]);
});

test("a node that delegations pass over is warned of, with what ends that", async () => {
  const passed = { name: "node-b", until_at: "2026-01-05T10:00:00Z", ends: "writ node quarantine clear node-b" };
  expect((await told({ passed })).lines).toContain(
    "WARN quarantine: It answered about other documents: delegations from here pass it over until 2026-01-05T10:00:00Z",
  );
});

describe("what ends the checks of a node", () => {
  test.each<[string, Told, string]>([
    ["silence", { health: silent("connection refused") }, "FAIL health: connection refused"],
    ["another server", { health: answered(404, "not here") }, "FAIL health: It answers with HTTP 404, as no node does"],
    ["a redirect", { health: answered(302, "") }, "FAIL health: It answers with HTTP 302, as no node does"],
    [
      "no health record",
      { health: answered(200, "[]") },
      "FAIL health: What it answers is no health record: no health record",
    ],
    [
      "a token that it does not take",
      { health: answered(200, '{"ok":true,"protocol":1}') },
      "FAIL token: It does not take the token in NODE_B",
    ],
    [
      "a token that is not set",
      { health: answered(200, '{"ok":true,"protocol":1}'), isSet: false },
      "FAIL token: It wants a token, and NODE_B is not set",
    ],
    [
      "another protocol",
      { health: health({ protocol: 2 }) },
      "FAIL protocol: It speaks protocol 2, contracts of version 1; this writ 1 and 1",
    ],
    [
      "other contracts",
      { health: health({ schema_versions: [2, 3] }) },
      "FAIL protocol: It speaks protocol 1, contracts of version 2, 3; this writ 1 and 1",
    ],
  ])("%s", async (_, script, line) => {
    expect((await told(script)).lines.at(-1)).toBe(line);
  });
});

test.each<[Told, string]>([
  [{ job: answered(401, "") }, "FAIL token: It does not take the token in NODE_B"],
  [{ job: answered(200, "{}") }, "WARN token: A job that nobody has is answered with HTTP 200 in place of 404"],
  [{ job: silent("no answer within 5 s") }, "FAIL token: no answer within 5 s"],
  [{ isSet: false }, "PASS token: It asks for no token"],
  [{ health: health({ accepts_write: true }) }, "PASS write door: It is open"],
  [{ health: health({ draining: true }) }, "WARN health: Node node-b is draining: it takes nothing new"],
  [{ health: health({ seats: [] }) }, "PASS health: Node node-b: no seat; 1 running, 0 queued"],
  [
    {
      health: health({
        seats: [
          { name: "a", served: null },
          { name: "b", served: false },
        ],
      }),
    },
    "PASS health: Node node-b: a (not looked at yet), b (not served); 1 running, 0 queued",
  ],
])("of %j: %s", async (script, line) => {
  expect((await told(script)).lines).toContain(line);
});

test("without a remote there is nothing to try", async () => {
  const findings = await examine(doctorWorld({ config: async () => configLook({}) }));
  expect(findings.find(({ check }) => check === "remote")).toMatchObject({ outcome: "SKIP" });
});
