/**
 * Ed25519 keys in PEM files: PKCS#8 for the private part, SPKI for the public one.
 *
 * `node:crypto` costs more than a whole command, so this file is only ever loaded by what needs a key. No message
 * repeats anything of a key.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from "node:crypto";
import type { Verifier } from "../core/attest/judge.ts";
import { WritError } from "../core/error.ts";

/** The largest key file, in bytes. */
export const KEY_FILE_LIMIT = 64 * 1024;

export type Signer = { readonly keyid: string; sign(message: Uint8Array): Uint8Array };

/**
 * The signer of a private key.
 *
 * @param what names the text, for example `"release.pem"`
 * Errors: `key_unusable`
 */
export function signerOf(pem: string, what: string): Signer {
  const key = readKey(pem, what, "PRIVATE KEY");
  return { keyid: keyIdOf(createPublicKey(key)), sign: (message) => new Uint8Array(sign(null, message, key)) };
}

/** The verifier of a public key. Errors: `key_unusable`. */
export function verifierOf(pem: string, what: string): Verifier {
  const key = readKey(pem, what, "PUBLIC KEY");
  return { keyid: keyIdOf(key), verify: (message, signature) => verify(null, message, key, signature) };
}

/** A new pair, from the platform's secure source. */
export function newKeyPair(): { readonly keyid: string; readonly privatePem: string; readonly publicPem: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  return {
    keyid: keyIdOf(publicKey),
    privatePem: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    publicPem: publicKey.export({ type: "spki", format: "pem" }).toString(),
  };
}

/** SHA-256 of the DER form of the public key, lower-case hex. */
function keyIdOf(publicKey: KeyObject): string {
  return createHash("sha256")
    .update(publicKey.export({ type: "spki", format: "der" }))
    .digest("hex");
}

function readKey(pem: string, what: string, wanted: "PRIVATE KEY" | "PUBLIC KEY"): KeyObject {
  const isPrivate = wanted === "PRIVATE KEY";
  const label = /^-----BEGIN ([A-Z0-9 ]{1,64})-----\r?$/m.exec(pem)?.[1] ?? null;
  if (label === null) throw unusable(what, "it is no PEM file", isPrivate);
  if (label !== wanted) throw unusable(what, mislabelled(label, isPrivate), isPrivate);
  let key: KeyObject;
  try {
    key = isPrivate ? createPrivateKey(pem) : createPublicKey(pem);
  } catch {
    // What the library says of it is about its own inside.
    throw unusable(what, "its content cannot be read as a key", isPrivate);
  }
  if (key.asymmetricKeyType === "ed25519") return key;
  throw unusable(what, `it is a key of the type ${key.asymmetricKeyType ?? "unknown"}`, isPrivate);
}

function mislabelled(label: string, wantedPrivate: boolean): string {
  if (label === "ENCRYPTED PRIVATE KEY") return "it is encrypted";
  if (label === "PUBLIC KEY") return "it is the public part of a key";
  if (label.endsWith("PRIVATE KEY")) {
    return wantedPrivate
      ? `it is in the form "${label}", not PKCS#8`
      : "it is the private part of a key, which stays where it is";
  }
  return `it holds "${label}"`;
}

function unusable(what: string, why: string, isPrivate: boolean): WritError {
  return new WritError("key_unusable", `Cannot use ${what} as a key: ${why}`, {
    hint: isPrivate
      ? "An Ed25519 private key in PKCS#8 PEM is needed; make one with: writ key new"
      : "An Ed25519 public key in SPKI PEM is needed; writ key new writes it beside the private one, as FILE.pub",
  });
}
