import { describe, expect, test } from "bun:test";
import { createHash, createPublicKey, generateKeyPairSync, sign, verify } from "node:crypto";
import { newKeyPair, signerOf, verifierOf } from "../../src/host/key.ts";
import { refusalOf } from "../support/turn.ts";

const MESSAGE = new TextEncoder().encode("what was said");
const RSA = generateKeyPairSync("rsa", { modulusLength: 2048 });
const EC = generateKeyPairSync("ec", { namedCurve: "P-256" });
const ED = generateKeyPairSync("ed25519");
const pkcs8 = (key: typeof ED.privateKey) => key.export({ type: "pkcs8", format: "pem" }).toString();
const spki = (key: typeof ED.publicKey) => key.export({ type: "spki", format: "pem" }).toString();

describe("keys", () => {
  test("a new pair signs and verifies, with one key id: the SHA-256 of the public part in DER form", () => {
    const pair = newKeyPair();
    const der = createPublicKey(pair.publicPem).export({ type: "spki", format: "der" });
    expect(pair.keyid).toBe(createHash("sha256").update(der).digest("hex"));
    const signer = signerOf(pair.privatePem, "it");
    const verifier = verifierOf(pair.publicPem, "it");
    expect([signer.keyid, verifier.keyid]).toEqual([pair.keyid, pair.keyid]);
    expect(verifier.verify(MESSAGE, signer.sign(MESSAGE))).toBe(true);
    expect(newKeyPair().keyid).not.toBe(pair.keyid);
  });

  test("signatures are those of the platform's crypto, both ways", () => {
    const signature = signerOf(pkcs8(ED.privateKey), "it").sign(MESSAGE);
    expect(verify(null, MESSAGE, ED.publicKey, signature)).toBe(true);
    const verifier = verifierOf(spki(ED.publicKey), "it");
    expect(verifier.verify(MESSAGE, sign(null, MESSAGE, ED.privateKey))).toBe(true);
  });

  test("another message, another key, and a signature of another length do not verify", () => {
    const signature = signerOf(pkcs8(ED.privateKey), "it").sign(MESSAGE);
    const verifier = verifierOf(spki(ED.publicKey), "it");
    expect(verifier.verify(MESSAGE.slice(1), signature)).toBe(false);
    expect(verifier.verify(MESSAGE, signature.slice(1))).toBe(false);
    expect(verifier.verify(MESSAGE, new Uint8Array())).toBe(false);
    expect(verifierOf(newKeyPair().publicPem, "it").verify(MESSAGE, signature)).toBe(false);
  });

  test.each([
    { what: "nothing", pem: "", why: "it is no PEM file" },
    { what: "text", pem: "ssh-ed25519 AAAA", why: "it is no PEM file" },
    {
      what: "a PEM of rubbish",
      pem: "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
      why: "its content cannot be read as a key",
    },
    { what: "a PEM that is cut", pem: pkcs8(ED.privateKey).slice(0, 60), why: "its content cannot be read as a key" },
    { what: "an RSA key", pem: pkcs8(RSA.privateKey), why: "it is a key of the type rsa" },
    { what: "an EC key", pem: pkcs8(EC.privateKey), why: "it is a key of the type ec" },
    { what: "the public part", pem: spki(ED.publicKey), why: "it is the public part of a key" },
    {
      what: "another form",
      pem: EC.privateKey.export({ type: "sec1", format: "pem" }).toString(),
      why: 'it is in the form "EC PRIVATE KEY", not PKCS#8',
    },
    {
      what: "an SSH key",
      pem: "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n",
      why: 'it is in the form "OPENSSH PRIVATE KEY", not PKCS#8',
    },
    {
      what: "an encrypted key",
      pem: ED.privateKey.export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "x" }).toString(),
      why: "it is encrypted",
    },
  ])("signerOf() refuses $what: $why", ({ pem, why }) => {
    const { code, message, hint } = refusalOf(() => signerOf(pem, '"k.pem"'));
    expect([code, message]).toEqual(["key_unusable", `Cannot use "k.pem" as a key: ${why}`]);
    for (const line of pem.split("\n").slice(1)) if (line.length > 8) expect(message + hint).not.toContain(line);
  });

  test.each([
    {
      what: "the private part",
      pem: pkcs8(ED.privateKey),
      why: "it is the private part of a key, which stays where it is",
    },
    { what: "an RSA key", pem: spki(RSA.publicKey), why: "it is a key of the type rsa" },
    { what: "a certificate", pem: "-----BEGIN CERTIFICATE-----\nAAAA\n", why: 'it holds "CERTIFICATE"' },
    { what: "text", pem: "x", why: "it is no PEM file" },
  ])("verifierOf() refuses $what: $why", ({ pem, why }) => {
    expect(refusalOf(() => verifierOf(pem, '"k"')).message).toBe(`Cannot use "k" as a key: ${why}`);
  });
});
