/** The check of what a node would listen on: who could reach it without a token. */
import { listensBeyond, readListen } from "../core/config/url.ts";
import { type Check, findingsOf } from "./check.ts";

export const nodeListener: Check = {
  name: "node listener",
  async look(world) {
    const { pass, warn, skip } = findingsOf("node listener");
    const look = await world.config();
    if (look.kind === "invalid") return [skip("node", "The config is not valid")];
    const { listen, token_env } = look.config.node;
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
    return [
      warn(listen, `There is no token, and others use this machine (${named}): they could use a node here`, hint),
    ];
  },
};
