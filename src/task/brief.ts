/** Briefs: a piece of work each, with acceptance criteria. */
import type { Tables } from "../core/contract/repository.ts";
import { WritError } from "../core/error.ts";
import { pathPartFault } from "../core/evidence/path-part.ts";
import { type AtWork, type BriefName, seekBrief, workspaceAtWork } from "../core/task/brief.ts";
import type { BriefRow } from "../core/task/repository.ts";
import type { ReadingWorld, World } from "./world.ts";

/**
 * Makes a brief, and its workspace where it is missing.
 *
 * Errors: `usage` for a name that cannot be a folder of evidence; `brief_exists`; `store_busy`, `store_failed`.
 */
export function addBrief(world: World, { name, workspace: option }: BriefName): BriefRow {
  checkBriefName(name);
  return world.store.write((tables) => {
    const workspace = workspaceAtWork(tables, world, option);
    tables.workspaces.ensure(workspace, world.clock.now());
    const brief = tables.tasks.insertBrief({ workspace, name, created_at: world.clock.now() });
    if (brief !== null) return brief;
    const there = tables.tasks.findBrief(workspace, name);
    throw new WritError("brief_exists", `Workspace "${workspace}" has a brief "${name}" already (id=${there?.id})`, {
      path: "NAME",
      hint: `Add to it with: writ task add --brief ${name} --goal TEXT`,
      details: { brief_id: there?.id ?? null },
    });
  });
}

/** What can be said before the store is opened. Errors: `usage`. */
export function checkBriefName(name: string): void {
  const fault = pathPartFault(name);
  if (fault === null) return;
  throw new WritError("usage", `The brief "${name}" ${fault}`, {
    path: "NAME",
    hint: "Its name is also a folder of evidence: use letters, digits, - and _",
  });
}

/** Oldest first; null: of every workspace. Empty also when there is no store yet. */
export function listBriefs(world: Pick<ReadingWorld, "store">, workspace: string | null): readonly BriefRow[] {
  return world.store?.read((tables) => tables.tasks.listBriefs(workspace)) ?? [];
}

/** The brief of that name; `tables` null where there is no store. Errors: `no_row`. */
export function getBrief(tables: Tables | null, atWork: AtWork, name: BriefName): BriefRow {
  const { workspace, brief } = seekBrief(tables, atWork, name);
  if (brief !== null) return brief;
  throw new WritError("no_row", `There is no brief "${name.name}" in workspace "${workspace}"`, {
    path: "--brief",
    hint: "See what there is with: writ task brief list",
  });
}
