/** Which settings file a set-up is about, and which words start this writ. */
import { homedir } from "node:os";
import { join } from "node:path";
import { WritError } from "../../core/error.ts";
import { ADAPTERS } from "../../core/hooks/harness.ts";
import { HARNESSES, type Harness } from "../../core/record/hook.ts";
import type { World } from "../../hooks/world.ts";
import { changeSettingsFile, readSettingsFile } from "../../host/settings-file.ts";
import { findWorkTree } from "../../host/worktree.ts";

export const HARNESS = {
  type: "positional",
  required: true,
  description: `The harness: ${HARNESSES.join(", ")}`,
} as const;

export const SCOPE = {
  project: { type: "boolean", description: "The settings of this project (the default): .claude/settings.json" },
  user: { type: "boolean", description: "The settings of this user: ~/.claude/settings.json" },
} as const;

export const DRY_RUN = {
  "dry-run": { type: "boolean", description: "Show what would change, and write nothing" },
} as const;

export type Scope = "project" | "user" | "local";

/** Errors: `usage`. */
export function harnessOf(word: string): Harness {
  const found = HARNESSES.find((harness) => harness === word);
  if (found !== undefined) return found;
  throw new WritError("usage", `There is no harness "${word}"`, { hint: `One of ${HARNESSES.join(", ")}` });
}

/** A harness whose settings writ writes itself. Errors: `usage`. */
export function installedHarness(word: string): Harness {
  const harness = harnessOf(word);
  if (ADAPTERS[harness].installs) return harness;
  throw new WritError("usage", `writ does not write the settings of ${harness}`, {
    hint: `See what belongs into them: writ hooks print ${harness}`,
  });
}

/** Errors: `usage`. */
export function scopeOf(args: { readonly project: boolean; readonly user: boolean }): Scope {
  if (args.project && args.user) {
    throw new WritError("usage", "--project and --user name two files", { hint: "Give one of them" });
  }
  return args.user ? "user" : "project";
}

/** The settings file of a scope, as an absolute path: of the project around the present folder, or of the user. */
export function settingsPath(scope: Scope): string {
  if (scope === "user") return join(homeFolder(), ".claude", "settings.json");
  return join(projectFolder(), ".claude", scope === "local" ? "settings.local.json" : "settings.json");
}

/** The root of the work tree around the present folder; that folder itself where there is none. */
export function projectFolder(): string {
  return findWorkTree(process.cwd()) ?? process.cwd();
}

function homeFolder(): string {
  const home = process.env.HOME?.trim();
  return home === undefined || home === "" ? homedir() : home;
}

/** The absolute path of this executable; Bun and the entry file where writ runs from its sources. */
export function ownProgram(): readonly string[] {
  return Bun.isStandaloneExecutable ? [process.execPath] : [process.execPath, Bun.main];
}

export function openHooksWorld(): World {
  return { settings: { read: readSettingsFile, change: changeSettingsFile }, program: ownProgram() };
}
