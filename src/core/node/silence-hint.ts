/** What a person can do where a node does not answer as one: by the cause, since "start it" helps in one case of many. */
import type { NodeAnswer } from "./client.ts";

/** The code of an answer that was never asked for: the file of certificates cannot be used. */
export const CA_FILE = "CA_FILE";

/** A proxy says with these that it does not reach what is behind it. */
const GATEWAY: ReadonlySet<number> = new Set([502, 503, 504]);

const START = "Start it there with: writ node serve";

/**
 * @param url    its base URL, as it was asked
 * @param answer to a request for its health that did not bring a health record
 * @returns      one sentence
 * Errors: none
 */
export function silenceHint(url: string, answer: NodeAnswer): string {
  const { protocol, host } = new URL(url);
  if (answer.kind === "answer" && GATEWAY.has(answer.status)) {
    return `What stands before the node answers in its place: start the node with writ node serve, or mend the proxy at ${host}`;
  }
  if (answer.kind !== "none") {
    return "That is no node, or an older one: a node listens at port 18811 unless it was told otherwise, and a model server is named in seats";
  }
  const code = answer.code ?? "";
  if (/^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_)/.test(code)) {
    return "Name its certificate, or that of its authority, in ca_file of the remote";
  }
  switch (code) {
    case CA_FILE:
      return "Mend ca_file of the remote: an absolute path of a PEM file";
    case "EPROTO":
      return `If it serves without TLS: http://${host}`;
    case "ECONNRESET":
      return protocol === "http:"
        ? `If it serves with TLS: https://${host}`
        : "Something between here and there ended the connection: a proxy, or the node's own end";
    case "ERR_TLS_CERT_ALTNAME_INVALID":
      return "A certificate names its hosts in subjectAltName, an address as IP:…; writ docs operating makes one";
    case "CERT_HAS_EXPIRED":
      return "Renew it there, and restart the node";
    case "CERT_NOT_YET_VALID":
      return "Compare the clocks of both machines";
    case "ENOTFOUND":
      return "Mend the host's name in the URL";
    case "ENETUNREACH":
    case "EHOSTUNREACH":
    case "ETIMEDOUT":
      return `Reach ${host} first: network, tunnel, firewall`;
    default:
      return START;
  }
}
