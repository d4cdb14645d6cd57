/** `writ contract attest`: the statement about a closed turn, and the check of one. */
import { statSync } from "node:fs";
import { type Attested, attestTurn } from "../../attest/attest.ts";
import { dsseOf, PAYLOAD_TYPE, preAuthentication } from "../../core/attest/dsse.ts";
import { type Judgement, judgeAttestation } from "../../core/attest/judge.ts";
import { counted } from "../../core/counted.ts";
import { WritError } from "../../core/error.ts";
import { canonicalJson, type JsonValue } from "../../core/json/value.ts";
import type { Issue } from "../../core/result.ts";
import { readBodyFile } from "../../host/named-file.ts";
import { readStdinText } from "../../host/stdin.ts";
import { sha256 } from "../../store/drafts.ts";
import { defineCommand, type Output } from "../command.ts";
import { inWorld, openReadingWorld } from "../world.ts";
import { JSON_SWITCH } from "./address.ts";

/** The largest statement that is checked, in bytes: an envelope of 16 MiB in base64, with a record of thousands of runs. */
const STATEMENT_LIMIT = 128 * 1024 * 1024;

export const command = defineCommand({
  meta: {
    name: "contract attest",
    description: "Export a closed turn and its record as a statement, or check one",
  },
  args: {
    contract: { type: "positional", required: false, description: "The closed contract" },
    key: { type: "string", valueHint: "FILE", description: "Sign it with this Ed25519 private key (PKCS#8 PEM)" },
    out: { type: "string", valueHint: "FILE", description: "Write it to this file instead of standard output" },
    verify: { type: "string", valueHint: "FILE", description: "Check this statement or DSSE envelope; asks no store" },
    pub: { type: "string", valueHint: "KEY", description: "The Ed25519 public key that must have signed (SPKI PEM)" },
    ...JSON_SWITCH,
  },
  usage: [
    "writ contract attest CONTRACT [--key FILE] [--out FILE] [--json]",
    "writ contract attest --verify FILE [--pub KEY] [--json]",
  ],
  examples: [
    "writ contract attest a3f1c09d2be47a650.5d2e8c01b7f4 --key release.pem --out turn.dsse.json",
    "writ contract attest --verify turn.dsse.json --pub release.pem.pub",
  ],
  notes: [
    "What is printed is an in-toto Statement v1 in canonical JSON; with --key, a DSSE envelope around it.",
    "The same turn gives the same bytes. The record is the one that the close stood on.",
    "FILE may be - for standard input. Make a key pair with: writ key new",
  ],
  exits: {
    0: "exported; or everything in the file holds",
    1: "something in the file does not hold, or the record of the turn is broken",
    3: "there is no such turn, or it is not closed",
    4: "the file of --out cannot be written",
  },
  async run({ args, json, out }) {
    const { contract, key, out: path, verify, pub } = args;
    if (verify === undefined) {
      if (pub !== undefined) throw misfit("--pub", "--verify FILE");
      if (contract === undefined) {
        throw new WritError("usage", "There is no contract", { hint: "Name a closed contract, or --verify FILE" });
      }
      // A key that cannot be used is told before the store is asked.
      const signer = key === undefined ? null : await signerFrom(key);
      const attested = inWorld(openReadingWorld(), (world) => attestTurn(world, contract));
      if (path !== undefined && key !== undefined && isSameFile(path, key)) {
        throw new WritError("usage", `--out and --key are the same file "${path}"`, {
          hint: "Name another file for the statement: the private key would be lost",
        });
      }
      const text = canonicalJson(attested.statement);
      const product = signer === null ? text : sealed(text, signer);
      if (path === undefined) out.exact(product);
      else await writeTo(path, product, { attested, keyid: signer?.keyid ?? null, json, out });
      return 0;
    }
    for (const [name, given] of Object.entries({ CONTRACT: contract, "--key": key, "--out": path })) {
      if (given !== undefined) throw misfit(name, null);
    }
    return await check(verify, pub, json, out);
  },
});

function isSameFile(one: string, other: string): boolean {
  const [first, second] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false }));
  return first !== undefined && second !== undefined && first.dev === second.dev && first.ino === second.ino;
}

type Signer = Awaited<ReturnType<typeof signerFrom>>;

async function signerFrom(path: string) {
  const { KEY_FILE_LIMIT, signerOf } = await import("../../host/key.ts");
  return signerOf(await keyText(path, KEY_FILE_LIMIT), nameOf(path));
}

async function verifierFrom(path: string) {
  const { KEY_FILE_LIMIT, verifierOf } = await import("../../host/key.ts");
  return verifierOf(await keyText(path, KEY_FILE_LIMIT), nameOf(path));
}

/** What is no text, or too large for a key, is read as nothing: it is no PEM file either way. */
async function keyText(path: string, maxBytes: number): Promise<string> {
  try {
    return await textOf(path, maxBytes);
  } catch (error) {
    if (error instanceof WritError && (error.code === "bad_json" || error.code === "body_too_large")) return "";
    throw error;
  }
}

function sealed(statement: string, signer: Signer): string {
  const payload = new TextEncoder().encode(statement);
  return canonicalJson(dsseOf(payload, signer.keyid, signer.sign(preAuthentication(PAYLOAD_TYPE, payload))));
}

async function writeTo(
  path: string,
  text: string,
  told: { readonly attested: Attested; readonly keyid: string | null; readonly json: boolean; readonly out: Output },
): Promise<void> {
  const { writeFileWhole } = await import("../../host/write-file.ts");
  writeFileWhole(path, `${text}\n`);
  const { attested, keyid, json, out } = told;
  const { contract_id, handoff_id } = attested;
  if (json) out.document({ ok: true, status: "written", contract_id, handoff_id, out: path, keyid });
  else
    out.line(
      `OK: the statement about ${contract_id} is in ${path} (${keyid === null ? "not signed" : `key ${keyid}`}).`,
    );
}

async function check(path: string, pub: string | undefined, json: boolean, out: Output): Promise<number> {
  if (path === "-" && pub === "-") throw new WritError("usage", "Standard input is either the statement or the key");
  const key = pub === undefined ? null : await verifierFrom(pub);
  const judgement = await judgeFile(path, key);
  const { findings, contract_id, envelope_sha256, record, keyid } = judgement;
  const facts: Readonly<Record<string, JsonValue>> = { contract_id, keyid, envelope_sha256, record };
  if (findings.length > 0) {
    const things = counted(findings.length, "thing does not hold", "things do not hold");
    throw new WritError("attestation_refuted", `Of the statement in ${nameOf(path)} ${things}`, {
      status: "rejected",
      issues: findings,
      details: facts,
    });
  }
  if (judgement.sealed && key === null) {
    throw new WritError("usage", `The statement in ${nameOf(path)} is signed, and no key was given to check it with`, {
      hint: "Name the public part of the key that must have signed it: --pub KEY",
    });
  }
  if (json) out.document({ ok: true, status: "holds", signed: keyid !== null, ...facts });
  else {
    const signed = keyid === null ? "nobody signed it" : `signed by key ${keyid}`;
    out.line(`OK: the statement about ${contract_id} holds (${signed}).`);
    out.line(`envelope  sha256 ${envelope_sha256}`);
    out.line(`record    ${counted(record?.count ?? 0, "entry", "entries")}, head ${record?.head ?? "none"}`);
  }
  return 0;
}

/** Text that is no UTF-8 is a finding like any other: the file was looked at. */
async function judgeFile(path: string, key: Parameters<typeof judgeAttestation>[1]["key"]): Promise<Judgement> {
  try {
    return judgeAttestation(await textOf(path, STATEMENT_LIMIT), { sha256, key });
  } catch (error) {
    if (!(error instanceof WritError) || error.code !== "bad_json") throw error;
    const finding: Issue = { code: "bad_json", path: null, message: error.message, hint: null };
    return { findings: [finding], sealed: false, keyid: null, contract_id: null, envelope_sha256: null, record: null };
  }
}

async function textOf(path: string, maxBytes: number): Promise<string> {
  return path === "-" ? await readStdinText(maxBytes) : await readBodyFile(path, maxBytes);
}

function nameOf(path: string): string {
  return path === "-" ? "standard input" : `"${path}"`;
}

function misfit(name: string, needed: string | null): WritError {
  return new WritError("usage", needed === null ? `${name} does not go with --verify` : `${name} needs ${needed}`, {
    hint: "Export with: writ contract attest CONTRACT. Check with: writ contract attest --verify FILE --pub KEY",
  });
}
