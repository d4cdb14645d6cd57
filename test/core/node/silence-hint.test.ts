import { expect, test } from "bun:test";
import type { NodeAnswer } from "../../../src/core/node/client.ts";
import { CA_FILE, silenceHint } from "../../../src/core/node/silence-hint.ts";

const answered = (status: number): NodeAnswer => {
  return { kind: "answer", status, code: "", message: "", text: "", retry_after_sec: null };
};
const none = (code?: string): NodeAnswer => ({ kind: "none", why: "x", is_sent: false, ...(code ? { code } : {}) });

test.each<[string, NodeAnswer, string]>([
  ["http://n:1", answered(502), "mend the proxy at n:1"],
  ["http://n:1", answered(503), "mend the proxy at n:1"],
  ["http://n:1", answered(504), "mend the proxy at n:1"],
  ["http://n:1", answered(404), "That is no node, or an older one"],
  ["http://n:1", answered(200), "That is no node, or an older one"],
  ["http://n:1", { kind: "unusable", why: "too large", status: 502 }, "That is no node, or an older one"],
  ["http://n:1", none(), "writ node serve"],
  ["http://n:1", none("ECONNRESET"), "https://n:1"],
  ["https://n:1", none("ECONNRESET"), "a proxy, or the node's own end"],
  ["https://n:1", none("EPROTO"), "http://n:1"],
  ["https://n:1", none(CA_FILE), "Mend ca_file"],
  ["https://n:1", none("DEPTH_ZERO_SELF_SIGNED_CERT"), "Name its certificate"],
  ["https://n:1", none("ERR_TLS_CERT_ALTNAME_INVALID"), "subjectAltName"],
  ["https://n:1", none("CERT_HAS_EXPIRED"), "Renew it"],
  ["https://n:1", none("CERT_NOT_YET_VALID"), "clocks"],
  ["http://n:1", none("ENOTFOUND"), "host's name"],
  ["http://n:1", none("EHOSTUNREACH"), "Reach n:1 first"],
])("what helps at %s is told by the cause (%j)", (url, answer, hint) => {
  expect(silenceHint(url, answer)).toContain(hint);
});
