/** `writ key new`. */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { WritError } from "../../core/error.ts";
import { writeFault } from "../../core/file-fault.ts";
import { newKeyPair } from "../../host/key.ts";
import { createFileWhole } from "../../host/write-file.ts";
import { defineCommand } from "../command.ts";
import { JSON_SWITCH } from "../contract/address.ts";
import { placesOf } from "../world.ts";

export const command = defineCommand({
  meta: { name: "key new", description: "Make an Ed25519 key pair" },
  args: {
    out: { type: "string", valueHint: "FILE", description: "Where the private part goes (default: key.pem of writ)" },
    ...JSON_SWITCH,
  },
  examples: ["writ key new", "writ key new --out release.pem"],
  notes: [
    "The private part is PKCS#8 PEM for its owner alone, the public part SPKI PEM beside it, as FILE.pub.",
    "The key id is the SHA-256 of the public part in DER form.",
  ],
  exits: { 0: "made", 3: "one of the two files is there already", 4: "a file cannot be written" },
  run({ args, json, out }) {
    const path = args.out ?? defaultPath();
    const publicPath = `${path}.pub`;
    const { keyid, privatePem, publicPem } = newKeyPair();
    // The public part first: a private part that is in its place is one whose public part is there.
    if (!createFileWhole(publicPath, publicPem, 0o644)) throw taken(publicPath);
    try {
      if (!createFileWhole(path, privatePem, 0o600)) throw taken(path);
    } catch (error) {
      rmSync(publicPath, { force: true });
      throw error;
    }
    if (json) out.document({ ok: true, status: "made", keyid, private: path, public: publicPath });
    else {
      out.line(`keyid    ${keyid}`);
      out.line(`private  ${path}`);
      out.line(`public   ${publicPath}`);
    }
    return 0;
  },
});

function defaultPath(): string {
  const { data } = placesOf();
  try {
    mkdirSync(data, { recursive: true, mode: 0o700 });
  } catch (error) {
    const why = writeFault(error);
    throw new WritError("file_unwritable", `Cannot make the folder "${data}": ${why}`, {
      hint: "Name another place with --out, or with WRIT_DATA_DIR",
      cause: error,
    });
  }
  return join(data, "key.pem");
}

function taken(path: string): WritError {
  return new WritError("key_exists", `There is a file "${path}" already, and no key is overwritten`, {
    hint: "Name another place with --out FILE",
  });
}
