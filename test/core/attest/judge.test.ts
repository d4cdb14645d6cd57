import { describe, expect, test } from "bun:test";
import { createHash, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import fc from "fast-check";
import { attestTurn } from "../../../src/attest/attest.ts";
import { dsseOf, PAYLOAD_TYPE, preAuthentication } from "../../../src/core/attest/dsse.ts";
import { judgeAttestation, type Verifier } from "../../../src/core/attest/judge.ts";
import { canonicalJson, type JsonObject } from "../../../src/core/json/value.ts";
import { recordText } from "../../../src/core/record/digest.ts";
import { verifierOf } from "../../../src/host/key.ts";
import { sha256 } from "../../../src/store/drafts.ts";
import { changeable, closedWithRuns } from "../../support/attested.ts";
import { scriptedWorld } from "../../support/world.ts";

const STATEMENT: JsonObject = (() => {
  using world = scriptedWorld();
  return attestTurn(world, closedWithRuns(world)).statement;
})();
const TEXT = canonicalJson(STATEMENT);
const PAIR = generateKeyPairSync("ed25519");
const KEY = verifierOf(PAIR.publicKey.export({ type: "spki", format: "pem" }).toString(), "the key");
const OTHER = verifierOf(
  generateKeyPairSync("ed25519").publicKey.export({ type: "spki", format: "pem" }).toString(),
  "the other key",
);

function codesOf(text: string, key: Verifier | null = null): readonly string[] {
  return judgeAttestation(text, { sha256, key }).findings.map(({ code }) => code);
}

/** Signed with `node:crypto` alone, none of writ's code in it. */
function signedByPlatform(payload: string, type = PAYLOAD_TYPE): JsonObject {
  const body = Buffer.from(payload);
  const encoded = Buffer.concat([Buffer.from(`DSSEv1 ${type.length} ${type} ${body.length} `), body]);
  const der = createPublicKey(PAIR.privateKey).export({ type: "spki", format: "der" });
  const keyid = createHash("sha256").update(der).digest("hex");
  const sig = sign(null, encoded, PAIR.privateKey).toString("base64");
  return { payloadType: type, payload: body.toString("base64"), signatures: [{ keyid, sig }] };
}

describe("judgeAttestation() of a statement", () => {
  test("finds nothing in one that writ made, whatever its blanks and the order of its keys", () => {
    const facts = {
      findings: [],
      sealed: false,
      keyid: null,
      contract_id: "a0000000000000001.000000000002",
      envelope_sha256: sha256(canonicalJson((STATEMENT.predicate as JsonObject).envelope ?? null)),
    };
    expect(judgeAttestation(TEXT, { sha256, key: null })).toMatchObject(facts);
    expect(judgeAttestation(JSON.stringify(STATEMENT, null, 2), { sha256, key: null })).toMatchObject(facts);
  });

  test("any other digit in it is found", () => {
    const digits = [...TEXT.matchAll(/(?<=")[0-9a-f]{64}(?=")/g)].map(({ index }) => index);
    for (const at of digits) {
      const changed = `${TEXT.slice(0, at)}${TEXT[at] === "0" ? "1" : "0"}${TEXT.slice(at + 1)}`;
      expect(codesOf(changed), changed.slice(at - 40, at + 4)).not.toEqual([]);
    }
    expect(digits.length).toBeGreaterThan(8);
  });

  test.each([
    // biome-ignore-start lint/suspicious/noExplicitAny: a document is broken on purpose, at any place
    {
      what: "another type",
      change: (s: any) => (s._type = "https://in-toto.io/Statement/v0.1"),
      codes: ["statement_type"],
    },
    { what: "no type", change: (s: any) => delete s._type, codes: ["not_an_attestation"] },
    { what: "another predicate type", change: (s: any) => (s.predicateType = "x"), codes: ["predicate_type"] },
    { what: "no subject", change: (s: any) => (s.subject = []), codes: ["subject_malformed"] },
    { what: "two subjects", change: (s: any) => s.subject.push(s.subject[0]), codes: ["subject_malformed"] },
    { what: "no digest", change: (s: any) => delete s.subject[0].digest.sha256, codes: ["subject_malformed"] },
    {
      what: "a digest in capitals",
      change: (s: any) => (s.subject[0].digest.sha256 = "AB"),
      codes: ["subject_digest"],
    },
    {
      what: "a changed envelope",
      change: (s: any) => (s.predicate.envelope.conclusion = "!"),
      codes: ["subject_digest"],
    },
    {
      what: "a key __proto__ in the envelope",
      change: (s: any) => Object.defineProperty(s.predicate.envelope, "__proto__", { value: 1, enumerable: true }),
      codes: ["subject_digest"],
    },
    { what: "no predicate", change: (s: any) => (s.predicate = null), codes: Array(3).fill("predicate_malformed") },
    { what: "no record", change: (s: any) => delete s.predicate.record, codes: ["predicate_malformed"] },
    {
      what: "an open row",
      change: (s: any) => (s.predicate.handoff.agent_state = "IN_PROGRESS"),
      codes: ["not_closed"],
    },
    {
      what: "another turn's row",
      change: (s: any) => (s.predicate.handoff.contract_id = "b"),
      codes: ["subject_name"],
    },
    {
      what: "another turn's runs",
      change: (s: any) => (s.subject[0].name = "b"),
      codes: ["subject_name", "subject_name"],
    },
    { what: "another exit", change: (s: any) => (s.predicate.record.runs[0].exit_code = 1), codes: ["record_broken"] },
    { what: "a run taken out", change: (s: any) => s.predicate.record.runs.splice(1, 1), codes: ["record_broken"] },
    {
      what: "the last run taken out",
      change: (s: any) => s.predicate.record.runs.pop(),
      codes: ["record_count", "record_head", "record_head", "record_head"],
    },
    { what: "two runs changed about", change: (s: any) => s.predicate.record.runs.reverse(), codes: ["record_broken"] },
    { what: "another count", change: (s: any) => (s.predicate.record.count = 2), codes: ["record_count"] },
    { what: "another head", change: (s: any) => (s.predicate.record.head = null), codes: ["record_head"] },
    { what: "runs that are no list", change: (s: any) => (s.predicate.record.runs = {}), codes: ["record_malformed"] },
    { what: "a run that is none", change: (s: any) => s.predicate.record.runs.push(1), codes: ["record_malformed"] },
    {
      what: "a key that the chain does not cover",
      change: (s: any) => (s.predicate.record.runs[0].note = "verified"),
      codes: ["record_malformed"],
    },
    {
      what: "a run without one of its keys",
      change: (s: any) => delete s.predicate.record.runs[0].harness,
      codes: ["record_malformed"],
    },
    {
      what: "a key in another's place",
      change: (s: any) => {
        delete s.predicate.record.runs[0].cwd;
        s.predicate.record.runs[0].note = "verified";
      },
      codes: ["record_malformed"],
    },
    {
      what: "another stored head",
      change: (s: any) => (s.predicate.handoff.record_head = "x"),
      codes: ["record_head"],
    },
    {
      what: "checks that saw another head",
      change: (s: any) => (s.predicate.content_checks.record_head = "x"),
      codes: ["record_head"],
    },
    // biome-ignore-end lint/suspicious/noExplicitAny: as above
  ])("of $what finds $codes", ({ change, codes }) => {
    const statement = changeable(STATEMENT);
    change(statement);
    expect(codesOf(JSON.stringify(statement))).toEqual(codes);
  });

  test("a record that was computed anew, with its own head, is held against the head that the row stored", () => {
    const statement = changeable(STATEMENT);
    const { runs } = statement.predicate.record;
    runs[2].exit_code = 1;
    runs[2].digest = sha256(recordText(runs[2]));
    statement.predicate.record.head = runs[2].digest;
    expect(codesOf(JSON.stringify(statement))).toEqual(["record_head", "record_head"]);
  });

  test.each([
    { text: "", codes: ["bad_json"] },
    { text: "not json", codes: ["bad_json"] },
    { text: '{"_type":1,"_type":2}', codes: ["bad_json"] },
    { text: "[]", codes: ["not_an_attestation"] },
    { text: "{}", codes: ["not_an_attestation"] },
    { text: '"payload"', codes: ["not_an_attestation"] },
    { text: `${"[".repeat(200)}${"]".repeat(200)}`, codes: ["too_deep"] },
  ])("of $text finds $codes", ({ text, codes }) => {
    expect(codesOf(text)).toEqual(codes);
  });

  test("with a key, a statement alone is not signed", () => {
    expect(codesOf(TEXT, KEY)).toEqual(["not_signed"]);
  });

  test("answers on any text", () => {
    const piece = fc.constantFrom(
      '{"payload":',
      '"_type":',
      '"subject":',
      '"predicate":',
      "[",
      "]",
      "{",
      "}",
      '""',
      ",",
      "1",
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.array(piece).map((all) => all.join("")),
        ),
        (text) => {
          expect(codesOf(text, KEY)).not.toEqual([]);
        },
      ),
    );
  });
});

describe("judgeAttestation() of a DSSE envelope", () => {
  test("finds nothing in one that the platform's crypto signed", () => {
    expect(judgeAttestation(JSON.stringify(signedByPlatform(TEXT)), { sha256, key: KEY })).toMatchObject({
      findings: [],
      sealed: true,
      keyid: KEY.keyid,
    });
  });

  test("one good signature among bad ones is enough, whatever their key ids say", () => {
    const { signatures, ...rest } = signedByPlatform(TEXT) as { signatures: { sig: string }[] };
    const envelope = { ...rest, signatures: [{ keyid: KEY.keyid, sig: "YQ==" }, { sig: signatures[0]?.sig ?? "" }] };
    expect(codesOf(JSON.stringify(envelope), KEY)).toEqual([]);
  });

  test("another key's signature is refused, and both keys are named", () => {
    const [finding, ...more] = judgeAttestation(JSON.stringify(signedByPlatform(TEXT)), {
      sha256,
      key: OTHER,
    }).findings;
    expect(more).toEqual([]);
    expect(finding?.code).toBe("signature_invalid");
    expect(finding?.message).toBe(`It is signed by key "${KEY.keyid}", not by "${OTHER.keyid}"`);
  });

  test.each([
    {
      what: "another payload type, signed as such",
      envelope: signedByPlatform(TEXT, "text/plain"),
      codes: ["payload_type"],
    },
    {
      what: "a payload type changed after the signature",
      envelope: { ...signedByPlatform(TEXT), payloadType: "text/plain" },
      codes: ["payload_type", "signature_invalid"],
    },
    {
      what: "a changed byte in the payload",
      envelope: { ...signedByPlatform(TEXT), payload: btoa(TEXT.replace("COMPLETE", "COMPLETF")) },
      codes: ["signature_invalid", "subject_digest"],
    },
    { what: "no signature", envelope: { ...signedByPlatform(TEXT), signatures: [] }, codes: ["not_signed"] },
    {
      what: "a signature that is cut",
      envelope: { ...signedByPlatform(TEXT), signatures: [{ sig: "YQ==" }] },
      codes: ["signature_invalid"],
    },
    { what: "a signed text that is no JSON", envelope: signedByPlatform("not json"), codes: ["bad_json"] },
    { what: "signed JSON that is no object", envelope: signedByPlatform("[]"), codes: ["not_an_attestation"] },
    {
      what: "a signed statement that says a false digest",
      envelope: signedByPlatform(TEXT.replace("It holds.", "It does.")),
      codes: ["subject_digest"],
    },
    {
      what: "an envelope in the envelope",
      envelope: signedByPlatform(JSON.stringify(signedByPlatform(TEXT))),
      codes: ["not_an_attestation"],
    },
    { what: "no payload", envelope: { payloadType: PAYLOAD_TYPE, signatures: [] }, codes: ["dsse_malformed"] },
    {
      what: "a payload that is no UTF-8",
      envelope: (() => {
        const payload = new Uint8Array([0xff, 0xfe]);
        return dsseOf(
          payload,
          "",
          new Uint8Array(sign(null, preAuthentication(PAYLOAD_TYPE, payload), PAIR.privateKey)),
        );
      })(),
      codes: ["bad_json"],
    },
  ])("of $what finds $codes", ({ envelope, codes }) => {
    expect(codesOf(JSON.stringify(envelope), KEY)).toEqual(codes);
  });

  test("the signature is not asked for without a key, and the rest is", () => {
    expect(codesOf(JSON.stringify(signedByPlatform("[]")))).toEqual(["not_an_attestation"]);
    expect(judgeAttestation(JSON.stringify(signedByPlatform(TEXT)), { sha256, key: null })).toMatchObject({
      findings: [],
      sealed: true,
      keyid: null,
    });
  });

  test("reads a signed payload of ten million bytes", () => {
    expect(codesOf(JSON.stringify(signedByPlatform(`["${"x".repeat(10_000_000)}"]`)), KEY)).toEqual([
      "not_an_attestation",
    ]);
  });
});
