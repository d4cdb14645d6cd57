/** A certificate and its key, as a listener takes them: whether they are of use, and what the certificate says of itself. */
import { X509Certificate } from "node:crypto";
import { createSecureContext, type SecureContext } from "node:tls";
import { WritError } from "../core/error.ts";

/** PEM texts. */
export type Tls = { readonly cert: string; readonly key: string };

/** Errors: `tls_unusable` where certificate or key are none, or do not belong together */
export function secureContext({ cert, key }: Tls): SecureContext {
  try {
    // The runtime takes an empty text, and then no handshake succeeds.
    if (![cert, key].every((pem) => pem.includes("-----BEGIN "))) throw new Error(NO_PEM);
    return createSecureContext({ cert, key });
  } catch (error) {
    throw new WritError("tls_unusable", `The certificate and the key of the node cannot be used: ${faultText(error)}`, {
      hint: "node.tls_cert and node.tls_key name PEM files that belong together",
      cause: error,
    });
  }
}

const NO_PEM = "one of them holds no PEM text of its kind";
const OSSL = "ERR_OSSL_";

/** The library's texts name its own routines. */
function faultText(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
  if (!code.startsWith(OSSL)) return message;
  const name = code.slice(OSSL.length);
  if (name.endsWith("KEY_VALUES_MISMATCH") || name.endsWith("KEY_TYPE_MISMATCH")) {
    return "the key is that of another certificate";
  }
  if (name.endsWith("NO_START_LINE")) return NO_PEM;
  if (/DECRYPT|PASSWORD/.test(name)) return "the key is encrypted, and nobody is asked for its password";
  return `one of them is damaged (${name})`;
}

export type CertificateFacts = {
  /** Milliseconds since the epoch. */
  readonly valid_from_ms: number;
  readonly valid_to_ms: number;
  /** As OpenSSL prints them, such as "IP Address:127.0.0.1, DNS:gpu-a"; "" where it names no host. */
  readonly names: string;
};

/** What the first certificate of the chain says. Errors: `tls_unusable`, as a listener would have them */
export function certificateFacts(tls: Tls): CertificateFacts {
  secureContext(tls);
  const { validFrom, validTo, subjectAltName } = new X509Certificate(tls.cert);
  return { valid_from_ms: Date.parse(validFrom), valid_to_ms: Date.parse(validTo), names: subjectAltName ?? "" };
}
