/** A certificate and its key, as a listener takes them: whether they are of use, and what the certificate says of itself. */
import { X509Certificate } from "node:crypto";
import { createSecureContext, type SecureContext } from "node:tls";
import { WritError } from "../core/error.ts";

/** PEM texts. */
export type Tls = { readonly cert: string; readonly key: string };

/** Errors: `tls_unusable` where certificate or key are none, or do not belong together */
export function secureContext({ cert, key }: Tls): SecureContext {
  try {
    return createSecureContext({ cert, key });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new WritError("tls_unusable", `The certificate and the key of the node cannot be used: ${why}`, {
      hint: "node.tls_cert and node.tls_key name PEM files that belong together",
      cause: error,
    });
  }
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
