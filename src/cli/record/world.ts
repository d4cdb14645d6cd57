/** The world of the tool record. */
import { valueRedactor } from "../../core/record/redact.ts";
import type { World as EditorWorld } from "../../editor/world.ts";
import type { World } from "../../record/world.ts";
import { openWorld } from "../world.ts";

export function openRecordWorld(): World & EditorWorld {
  return { ...openWorld(), ...recordMeans() };
}

/** What keeping an output needs before the store is open. */
export function recordMeans(): Pick<World, "hasher" | "values"> {
  return {
    hasher() {
      const hasher = new Bun.CryptoHasher("sha256");
      return { update: (text) => void hasher.update(text), hex: () => hasher.digest("hex") };
    },
    values: valueRedactor(process.env),
  };
}
