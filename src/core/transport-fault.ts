/** What an error of an HTTP exchange says about the transport, in words that all clients share. */

/** "unreachable": nothing listens, and nothing was sent. "broken": something was, and no whole answer came. */
export type TransportFault = {
  readonly kind: "unreachable" | "broken";
  readonly message: string;
  /** The runtime's own. */
  readonly code: string;
};

const NOT_CONNECTED: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ENETUNREACH: "the network cannot be reached",
  EHOSTUNREACH: "the host cannot be reached",
  EADDRNOTAVAIL: "the address cannot be reached",
};

/** Of TLS, with its code behind them. */
const IN_PLAIN_WORDS: Readonly<Record<string, string>> = {
  EPROTO: "it does not speak TLS",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is signed by nobody whom this machine trusts",
  SELF_SIGNED_CERT_IN_CHAIN: "its certificate is signed by nobody whom this machine trusts",
  UNABLE_TO_GET_ISSUER_CERT: "its certificate is signed by nobody whom this machine trusts",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "its certificate is signed by nobody whom this machine trusts",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its certificate is signed by nobody whom this machine trusts",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another name than that of the URL",
  CERT_HAS_EXPIRED: "its certificate has expired",
  CERT_NOT_YET_VALID: "its certificate is not valid yet",
};

/** Null for what is none of the transport's faults. */
export function transportFault(error: unknown, base: string): TransportFault | null {
  if (!(error instanceof Error)) return null;
  const code = "code" in error && typeof error.code === "string" ? error.code : null;
  if (code === null) return null;
  const refusal = NOT_CONNECTED[code];
  if (refusal !== undefined) return { kind: "unreachable", message: `${base}: ${refusal}`, code };
  const plain = IN_PLAIN_WORDS[code];
  // Codes of the resolver, of TLS, of the runtime's reader: the code says it, their texts speak to programmers.
  const words =
    code === "ECONNRESET"
      ? "the connection broke before the answer was whole"
      : code.endsWith("ENOTFOUND")
        ? "there is no host of that name"
        : plain === undefined
          ? `the exchange failed (${code})`
          : `${plain} (${code})`;
  return { kind: "broken", message: `${base}: ${words}`, code };
}
