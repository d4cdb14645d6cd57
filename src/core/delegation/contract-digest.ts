/** The name of a contract by its content: what ties a job, and what comes back of it, to what was asked. */
import { canonicalJson } from "../json/value.ts";
import { canonicalContract, type DelegationContract } from "./contract.ts";

/**
 * SHA-256 of the canonical JSON of the canonical contract, in lower-case hex digits.
 *
 * @param sha256 of the UTF-8 of a text, in lower-case hex digits
 * Source: RFC 8785; delegation run, section 7.4
 */
export function contractDigest(contract: DelegationContract, sha256: (text: string) => string): string {
  return sha256(canonicalJson(canonicalContract(contract)));
}
