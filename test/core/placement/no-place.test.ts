import { describe, expect, test } from "bun:test";
import { dealLegs } from "../../../src/core/placement/deal.ts";
import { whyNoPlace } from "../../../src/core/placement/no-place.ts";
import type { Routing } from "../../../src/core/placement/pin.ts";
import type { PlaceView } from "../../../src/core/placement/place.ts";
import { contractOf } from "../../support/legs.ts";
import { deadView, localView, placedLeg, remoteView, seatRecord, situationOf } from "../../support/places.ts";

const AUTO: Routing = { kind: "auto", hint: null };
const pinned = (to: "local" | "remote"): Routing => ({ kind: "pinned", to, reason: "operator" });
const small = [{ ctx_tokens: 1024 }];

const why = (routing: Routing, snapshot: readonly PlaceView[], leg = placedLeg()) => {
  const [decision] = dealLegs([leg], routing, situationOf(snapshot));
  if (decision?.kind !== "none") throw new Error(`it was dealt: ${decision?.kind}`);
  const { defer_class, reason } = whyNoPlace(decision);
  return `${defer_class}; ${reason}`;
};
const large = { ...placedLeg(), estimate: 50_000 };
const writing = placedLeg(0, { write_root: "." });
const schemaless = { ...placedLeg(), contract: contractOf() };

describe("a leg that no place can ever run", () => {
  test.each<[string, Routing, readonly PlaceView[], ReturnType<typeof placedLeg>, string]>([
    [
      "a remote that does not answer is the stack's fault",
      AUTO,
      [localView(small), deadView("a")],
      large,
      "infrastructure; no eligible place: local: unfit(ctx) (needs about 51024 of 1024 tokens); a: probe (connection refused)",
    ],
    [
      "the louder of two causes wins, and both are named",
      pinned("remote"),
      [remoteView("b", { seats: [] }), deadView("a")],
      placedLeg(),
      "infrastructure; no eligible place: b: unfit(seat) (it has no seat); a: probe (connection refused)",
    ],
    [
      "a node without a seat is misconfigured",
      pinned("remote"),
      [remoteView("b", { seats: [] })],
      placedLeg(),
      "config; no eligible place: b: unfit(seat) (it has no seat)",
    ],
    [
      "so is one that tells no window",
      AUTO,
      [remoteView("b", { seats: [seatRecord({ ctx_tokens: 0 })] })],
      placedLeg(),
      "config; no eligible place: b: unfit(ctx) (window not known)",
    ],
    [
      "so is one whose model is not served",
      AUTO,
      [remoteView("b", { seats: [seatRecord({ served: false })] })],
      placedLeg(),
      'config; no eligible place: b: probe (model "m" is not served)',
    ],
    [
      "and one that does not take our token",
      AUTO,
      [{ ...deadView("b"), probe: { ok: false, why: "token not accepted", blames: "config" } }],
      placedLeg(),
      "config; no eligible place: b: probe (token not accepted)",
    ],
    [
      "nothing is configured",
      AUTO,
      [],
      placedLeg(),
      "config; no eligible place: no seat is configured here, and no remote",
    ],
    [
      "a remote pin without remotes",
      pinned("remote"),
      [localView()],
      placedLeg(),
      "config; no eligible place: pinned remote, and no remote is configured",
    ],
    [
      "a local pin without seats looks at no remote",
      pinned("local"),
      [deadView("a")],
      placedLeg(),
      "config; no eligible place: pinned local, and no seat is configured here",
    ],
    [
      "a contract without schema for a remote pin",
      pinned("remote"),
      [remoteView("b")],
      schemaless,
      "contract; no eligible place: b: noschema (the contract has no output_schema)",
    ],
    [
      "a contract that is too large for every window",
      AUTO,
      [localView(small), remoteView("b")],
      large,
      "contract; no eligible place: local: unfit(ctx) (needs about 51024 of 1024 tokens); b: unfit(ctx) (needs about 53072 of 32768 tokens)",
    ],
    [
      "the door is shut here",
      AUTO,
      [localView([{}], { accepts_write: false })],
      writing,
      "write; write door closed: agent_allow_write is false here",
    ],
    [
      "the door is shut everywhere",
      AUTO,
      [localView([{}], { accepts_write: false }), remoteView("b", { accepts_write: false })],
      writing,
      "write; write door closed: local: agent_allow_write is false here; b: agent_allow_write is false there",
    ],
    [
      "a shut door beside a dead node is the node's",
      AUTO,
      [localView([{}], { accepts_write: false }), deadView("a")],
      writing,
      "infrastructure; no eligible place: local: write (agent_allow_write is false here); a: probe (connection refused)",
    ],
  ])("%s", (_, routing, snapshot, leg, expected) => {
    expect(why(routing, snapshot, leg)).toBe(expected);
  });

  test("a place in quarantine is passed over for what it did", () => {
    const situation = situationOf([remoteView("b")], { quarantined: new Set(["b"]) });
    const [decision] = dealLegs([placedLeg()], AUTO, situation);
    if (decision === undefined) throw new Error("no decision");
    expect(whyNoPlace(decision).defer_class).toBe("infrastructure");
  });
});
