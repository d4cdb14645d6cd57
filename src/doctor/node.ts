/** The check of what a node would listen on: who could reach it without a token, and what it shows of itself. */
import type { Config } from "../core/config/config.ts";
import { listensBeyond, readListen } from "../core/config/url.ts";
import { type Check, type Finding, findingsOf } from "./check.ts";
import type { World } from "./world.ts";

const { pass, warn, fail, skip } = findingsOf("node listener");

/** A renewal wants a restart of the node. */
const SOON_DAYS = 14;

export const nodeListener: Check = {
  name: "node listener",
  async look(world) {
    const look = await world.config();
    if (look.kind === "invalid") return [skip("node", "The config is not valid")];
    return [...tokenFindings(world, look.config.node), ...certificateFindings(world, look.config.node)];
  },
};

function tokenFindings(world: World, { listen, token_env }: Config["node"]): readonly Finding[] {
  if (token_env !== "" && world.isSet(token_env))
    return [pass(listen, `Callers have to bring the token in ${token_env}`)];
  const hint = `Type: export ${token_env === "" ? "WRIT_NODE_TOKEN" : token_env}=$(openssl rand -hex 24)`;
  const at = readListen(listen);
  if (at === null || listensBeyond(at)) {
    return [warn(listen, "There is no token, so writ node serve will not listen beyond this machine", hint)];
  }
  const others = world.otherUsers();
  if (others === null)
    return [warn(listen, "There is no token, and whether others use this machine is not known", hint)];
  if (others.length === 0) return [pass(listen, "There is no token, and nobody else has an account on this machine")];
  const named = `${others.slice(0, 3).join(", ")}${others.length > 3 ? ", …" : ""}`;
  return [warn(listen, `There is no token, and others use this machine (${named}): they could use a node here`, hint)];
}

function certificateFindings(world: World, node: Config["node"]): readonly Finding[] {
  const look = world.certificate(node);
  if (look.kind === "none") return [];
  const subject = node.tls_cert;
  if (look.kind === "unusable") {
    return [
      fail(subject, `writ node serve will not start: ${look.why}`, look.hint ?? "Mend node.tls_cert or node.tls_key"),
    ];
  }
  const renew = "Renew it, and restart the node";
  const { valid_from_at, valid_to_at, days_left, isYetToBegin, names } = look;
  if (days_left < 0) return [fail(subject, `The certificate ended at ${valid_to_at}: no delegator believes it`, renew)];
  if (isYetToBegin)
    return [fail(subject, `The certificate begins at ${valid_from_at}: no delegator believes it`, renew)];
  if (names === "") {
    const hint = "Make one with subjectAltName: writ docs operating";
    return [fail(subject, "The certificate names no host (subjectAltName): no delegator believes it", hint)];
  }
  const told = `The key is that of the certificate, which is for ${names} and ends at ${valid_to_at}`;
  return [days_left < SOON_DAYS ? warn(subject, told, renew) : pass(subject, told)];
}
