/** A certificate for this machine, signed by itself and made anew each time: no key lies about in the repository. */
import { generateKeyPairSync, randomBytes, sign } from "node:crypto";

export type Certificate = { readonly cert: string; readonly key: string };

/** For `localhost` and 127.0.0.1, from 2020 to 2049, P-256. X.509 v3: RFC 5280. */
export function selfSigned(): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const ecdsaWithSha256 = sequence(oid([0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02]));
  const name = sequence(der(0x31, sequence(oid([0x55, 0x04, 0x03]), der(0x0c, Buffer.from("localhost")))));
  const times = sequence(der(0x17, Buffer.from("200101000000Z")), der(0x17, Buffer.from("491231235959Z")));
  const names = sequence(der(0x82, Buffer.from("localhost")), der(0x87, Buffer.from([127, 0, 0, 1])));
  const extensions = sequence(
    sequence(oid([0x55, 0x1d, 0x11]), der(0x04, names)),
    sequence(oid([0x55, 0x1d, 0x13]), der(0x04, sequence(der(0x01, Buffer.from([0xff]))))),
  );
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ecdsaWithSha256,
    name,
    times,
    name,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, extensions),
  );
  const signature = der(0x03, Buffer.concat([Buffer.from([0]), sign("sha256", body, privateKey)]));
  return {
    cert: pem("CERTIFICATE", sequence(body, ecdsaWithSha256, signature)),
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

function der(tag: number, content: Uint8Array): Buffer {
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function sequence(...parts: readonly Uint8Array[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function oid(bytes: readonly number[]): Buffer {
  return der(0x06, Buffer.from(bytes));
}

function pem(what: string, bytes: Buffer): string {
  const lines = bytes.toString("base64").replace(/.{64}/g, "$&\n").trimEnd();
  return `-----BEGIN ${what}-----\n${lines}\n-----END ${what}-----\n`;
}
