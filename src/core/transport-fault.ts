/** What an error of an HTTP exchange says about the transport, in words that all clients share. */

/** "unreachable": nothing listens, and nothing was sent. "broken": something was, and no whole answer came. */
export type TransportFault = { readonly kind: "unreachable" | "broken"; readonly message: string };

const NOT_CONNECTED: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ENETUNREACH: "the network cannot be reached",
  EHOSTUNREACH: "the host cannot be reached",
  EADDRNOTAVAIL: "the address cannot be reached",
};

/** Null for what is none of the transport's faults. */
export function transportFault(error: unknown, base: string): TransportFault | null {
  if (!(error instanceof Error)) return null;
  const code = "code" in error && typeof error.code === "string" ? error.code : null;
  if (code === null) return null;
  const refusal = NOT_CONNECTED[code];
  if (refusal !== undefined) return { kind: "unreachable", message: `${base}: ${refusal}` };
  // Codes of the resolver, of TLS, of the runtime's reader: the code says it, their texts speak to programmers.
  const words =
    code === "ECONNRESET"
      ? "the connection broke before the answer was whole"
      : code.endsWith("ENOTFOUND")
        ? "there is no host of that name"
        : `the exchange failed (${code})`;
  return { kind: "broken", message: `${base}: ${words}` };
}
