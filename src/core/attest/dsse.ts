/**
 * The signed form of a statement: a DSSE envelope. What is signed is not the payload alone but its type with it, so
 * that no payload passes for one of another type.
 *
 * Source: DSSE (Dead Simple Signing Envelope) 1.0, protocol.md and envelope.md
 */
import { isArray, isObject, type JsonObject, type JsonValue, valueAt } from "../json/value.ts";

export const PAYLOAD_TYPE = "application/vnd.in-toto+json";

/** Signatures looked at in one envelope; further ones are not. */
const SIGNATURES_READ = 64;

export type Signature = {
  /** A hint at the key, and no proof of it; null when there is none. */
  readonly keyid: string | null;
  readonly bytes: Uint8Array;
};

/** An envelope that could be read. */
export type Dsse = {
  readonly payload_type: string;
  readonly payload: Uint8Array;
  /** May be empty: then nobody signed. */
  readonly signatures: readonly Signature[];
};

/** The bytes that are signed: `DSSEv1 LEN(type) type LEN(payload) payload`, lengths in bytes, decimal. */
export function preAuthentication(payloadType: string, payload: Uint8Array): Uint8Array {
  const encoder = new TextEncoder();
  const type = encoder.encode(payloadType);
  const parts = [encoder.encode(`DSSEv1 ${type.length} `), type, encoder.encode(` ${payload.length} `), payload];
  const all = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** The envelope around a payload with one signature. */
export function dsseOf(payload: Uint8Array, keyid: string, signature: Uint8Array): JsonObject {
  return {
    payloadType: PAYLOAD_TYPE,
    payload: payload.toBase64(),
    signatures: [{ keyid, sig: signature.toBase64() }],
  };
}

/** Whether an object is meant as a DSSE envelope, be it broken. */
export function looksLikeDsse(value: JsonObject): boolean {
  return ["payload", "payloadType", "signatures"].some((key) => Object.hasOwn(value, key));
}

/**
 * Reads an envelope. Other keys take no part, as DSSE asks.
 *
 * @returns the envelope, or the path of what cannot be read
 * Errors: none
 */
export function readDsse(value: JsonObject): Dsse | { readonly unreadable: string } {
  const payloadType = valueAt(value, "payloadType");
  if (typeof payloadType !== "string") return { unreadable: "payloadType" };
  const payload = bytesOf(valueAt(value, "payload"));
  if (payload === null) return { unreadable: "payload" };
  const listed = valueAt(value, "signatures");
  if (!isArray(listed)) return { unreadable: "signatures" };
  const signatures: Signature[] = [];
  for (const [index, one] of listed.slice(0, SIGNATURES_READ).entries()) {
    const bytes = isObject(one) ? bytesOf(valueAt(one, "sig")) : null;
    if (!isObject(one) || bytes === null) return { unreadable: `signatures[${index}].sig` };
    const keyid = valueAt(one, "keyid");
    signatures.push({ keyid: typeof keyid === "string" ? keyid : null, bytes });
  }
  return { payload_type: payloadType, payload, signatures };
}

/** Base64 in either alphabet; null when it is none. */
function bytesOf(text: JsonValue | undefined): Uint8Array | null {
  if (typeof text !== "string") return null;
  try {
    return Uint8Array.fromBase64(text, { alphabet: /[-_]/.test(text) ? "base64url" : "base64" });
  } catch {
    return null; // a SyntaxError: it holds something else
  }
}
