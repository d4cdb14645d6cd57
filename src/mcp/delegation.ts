/** What the tools that delegate share: the config, the calls that go on, and the world, which is made when it is needed. */
import type { Config } from "../core/config/config.ts";
import type { DelegateWorld } from "../delegate/world.ts";
import { Calls } from "./calls.ts";

/** Of a tool that is there only where delegation is enabled. */
export function delegationOf({ server }: { readonly server: { readonly delegation: Delegation | null } }): Delegation {
  if (server.delegation === null) throw new Error("a tool that delegates was called where delegation is switched off");
  return server.delegation;
}

export type Delegation = {
  /** As the server was started with it. The seat of `WRIT_SEAT_URL` may have no model yet. */
  readonly config: Config;
  readonly calls: Calls;
  /**
   * The world of all calls of this server.
   *
   * Errors: `state_failed`; `seat_unavailable` and `bad_config` where the seat of `WRIT_SEAT_URL` has to be found; the next
   *         call tries again
   */
  world(): Promise<DelegateWorld>;
};

/** @param open makes the world, at the first call that needs it */
export function openDelegation(config: Config, open: () => Promise<DelegateWorld>): Delegation {
  let world: Promise<DelegateWorld> | null = null;
  return {
    config,
    calls: new Calls(),
    world() {
      world ??= open().catch((error: unknown) => {
        world = null;
        throw error;
      });
      return world;
    },
  };
}
