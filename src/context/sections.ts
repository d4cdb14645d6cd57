/** Sections of project context: `get`, `list`, and the orchestrator's direct `set`. */
import { mergeContext } from "../core/context/merge.ts";
import type { StoredSection } from "../core/context/repository.ts";
import type { Tables } from "../core/contract/repository.ts";
import { WritError } from "../core/error.ts";
import { isObject, type JsonValue } from "../core/json/value.ts";
import { workspaceAtWork } from "../core/task/brief.ts";
import type { ReadingWorld, World } from "./world.ts";

/**
 * What is stored.
 *
 * @param option the workspace that was named; null: the environment's, else that of the turn at work, else "me"
 * Errors: `no_section`
 */
export function getSection(world: ReadingWorld, option: string | null, section: string): JsonValue {
  const { workspace, found } = inWorkspace(world, option, (tables, name) => tables.context.find(name, section));
  if (found !== undefined) return found;
  throw new WritError("no_section", `Workspace "${workspace}" has no section "${section}"`, {
    hint: `See what it has: writ context list --workspace ${workspace}`,
  });
}

/** By name; none when the workspace has none. The workspace is found as by `getSection`. */
export function listSections(
  world: ReadingWorld,
  option: string | null,
): { readonly workspace: string; readonly sections: readonly StoredSection[] } {
  const { workspace, found } = inWorkspace(world, option, (tables, name) => tables.context.list(name));
  return { workspace, sections: found ?? [] };
}

function inWorkspace<T>(world: ReadingWorld, option: string | null, look: (tables: Tables, workspace: string) => T) {
  return (
    world.store?.read((tables) => {
      const workspace = workspaceAtWork(tables, world, option);
      return { workspace, found: look(tables, workspace) };
    }) ?? { workspace: workspaceAtWork(null, world, option), found: undefined }
  );
}

export type SetSection = {
  readonly workspace: string;
  readonly section: string;
  readonly payload: JsonValue;
  readonly by: string | null;
};

/**
 * Merges a payload into a section, which is made where it is missing: keys that the payload does not name stay.
 *
 * Errors: `not_inside_a_turn`, `not_an_object`, `usage` for a blank name.
 */
export function setSection(
  world: World,
  { workspace, section, payload, by }: SetSection,
): { readonly created: boolean } {
  if (section.trim() === "")
    throw new WritError("usage", "The section's name is blank", { hint: "Name one, for example stack" });
  if (!isObject(payload)) {
    throw new WritError("not_an_object", "The payload of a section is no JSON object", {
      hint: `For example: writ context set ${section} --json '{"api":{"port":8080}}'`,
    });
  }
  assertOutsideTurn(world, "writes");
  return world.store.write((tables) => {
    const at = world.clock.now();
    tables.workspaces.ensure(workspace, at);
    const stored = tables.context.find(workspace, section);
    tables.context.put(workspace, section, mergeContext(stored, payload), { at, by, proposal_id: null });
    return { created: stored === undefined };
  });
}

/** Errors: `not_inside_a_turn`. */
export function assertOutsideTurn(world: Pick<World, "contractId">, verb: string): void {
  if (world.contractId === null) return;
  throw new WritError(
    "not_inside_a_turn",
    `A turn proposes project context and never ${verb} it: WRIT_CONTRACT_ID is set`,
    {
      hint: "Propose it with update_contracts, or call this from the orchestrator's shell, without WRIT_CONTRACT_ID",
    },
  );
}
