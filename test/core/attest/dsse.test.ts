import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { dsseOf, preAuthentication, readDsse } from "../../../src/core/attest/dsse.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

describe("preAuthentication()", () => {
  test.each([
    {
      type: "http://example.com/HelloWorld",
      payload: "hello world",
      encoded: "DSSEv1 29 http://example.com/HelloWorld 11 hello world", // the example of DSSE's own protocol page
    },
    { type: "", payload: "", encoded: "DSSEv1 0  0 " },
    { type: "é", payload: "ü €", encoded: "DSSEv1 2 é 6 ü €" }, // lengths count bytes
  ])("is $encoded", ({ type, payload, encoded }) => {
    expect(new TextDecoder().decode(preAuthentication(type, bytes(payload)))).toBe(encoded);
  });

  test("no two pairs of type and payload are encoded alike", () => {
    const pair = fc.tuple(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }));
    fc.assert(
      fc.property(pair, pair, ([type, payload], [otherType, otherPayload]) => {
        const same = type === otherType && payload === otherPayload;
        const left = preAuthentication(type, bytes(payload));
        expect(Buffer.compare(left, preAuthentication(otherType, bytes(otherPayload))) === 0).toBe(same);
      }),
    );
  });
});

describe("readDsse()", () => {
  test("gives back what dsseOf() wrapped", () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.uint8Array(), (payload, signature) => {
        expect(readDsse(dsseOf(payload, "k", signature))).toEqual({
          payload_type: "application/vnd.in-toto+json",
          payload,
          signatures: [{ keyid: "k", bytes: signature }],
        });
      }),
    );
  });

  test("reads the URL-safe alphabet, and base64 without padding", () => {
    const read = readDsse({ payloadType: "t", payload: "-_8", signatures: [{ sig: "YQ" }] });
    expect(read).toEqual({
      payload_type: "t",
      payload: new Uint8Array([251, 255]),
      signatures: [{ keyid: null, bytes: new Uint8Array([97]) }],
    });
  });

  test.each([
    { value: {}, unreadable: "payloadType" },
    { value: { payloadType: 1 }, unreadable: "payloadType" },
    { value: { payloadType: "t" }, unreadable: "payload" },
    { value: { payloadType: "t", payload: "a*b" }, unreadable: "payload" },
    { value: { payloadType: "t", payload: "+_8=" }, unreadable: "payload" }, // both alphabets at once
    { value: { payloadType: "t", payload: "" }, unreadable: "signatures" },
    { value: { payloadType: "t", payload: "", signatures: {} }, unreadable: "signatures" },
    { value: { payloadType: "t", payload: "", signatures: [1] }, unreadable: "signatures[0].sig" },
    {
      value: { payloadType: "t", payload: "", signatures: [{ sig: "YQ==" }, { sig: null }] },
      unreadable: "signatures[1].sig",
    },
  ])("names $unreadable of $value", ({ value, unreadable }) => {
    expect(readDsse(value)).toEqual({ unreadable });
  });
});
