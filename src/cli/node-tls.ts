/** The certificate and the key that the config names for a node, from their files. */
import type { Config } from "../core/config/config.ts";
import { WritError } from "../core/error.ts";
import { readFault } from "../core/file-fault.ts";
import { readNamedFile } from "../host/named-file.ts";
import type { Tls } from "../wire/certificate.ts";

/** A certificate with its chain, or a key. */
const PEM_BYTES = 1024 * 1024;

/** Null where the config names none. Errors: `tls_unusable` where a file cannot be read */
export function tlsOf({ tls_cert, tls_key }: Config["node"]): Tls | null {
  if (tls_cert === "" || tls_key === "") return null;
  return { cert: pemAt(tls_cert, "node.tls_cert"), key: pemAt(tls_key, "node.tls_key") };
}

function pemAt(path: string, key: string): string {
  try {
    return new TextDecoder().decode(readNamedFile(path, PEM_BYTES));
  } catch (error) {
    throw new WritError("tls_unusable", `Cannot read "${path}", which ${key} names: ${readFault(error)}`, {
      path,
      cause: error,
    });
  }
}
