/** What handing off and resuming need of the world, beside what plan check needs. */
import type { JsonValue } from "../core/json/value.ts";
import type { FlowSettings } from "../core/tracker/settings.ts";
import type { GitAnswer, PlanWorld } from "./plan-world.ts";

export type BriefWorld = PlanWorld & {
  /** The folder of the call, canonical. */
  readonly cwd: string;
  /** Where briefs are left and found. */
  readonly mailbox: string;
  /** RFC 3339, UTC. */
  now(): string;
  settingsAt(toplevel: string): FlowSettings;
  kindOf(path: string): "file" | "folder" | "other" | null;
  /** Why `readFile` gives nothing, for a person. */
  whyUnreadable(path: string): string;
  /** Links followed; null where there is nothing. */
  realPath(path: string): string | null;
  /** A path relative to a folder, `/` between parts; null where it does not lie below it. */
  below(folder: string, path: string): string | null;
  /** The Markdown files directly in a folder and their times, newest first; none where it cannot be read. */
  markdownIn(folder: string): readonly { readonly path: string; readonly modified_at: string }[];
  /** The same of the mailbox, but for what another user left there. */
  mailed(): readonly { readonly path: string; readonly modified_at: string }[];
  /** The folders directly in a folder, by name; none where it cannot be read. */
  foldersIn(folder: string): readonly string[];
  /** Makes the mailbox, for its owner alone. */
  openMailbox(): "ours" | "another user's";
  /** Puts a brief in its place, whole or not at all, for its owner alone. Errors: `file_unwritable` */
  writeBrief(path: string, text: string): void;
  /** The program that knows pull requests. Null where there is none on PATH. */
  gh(args: readonly string[]): GitAnswer | null;
  /** Strict JSON; null where it is none. */
  parseJson(text: string): JsonValue | null;
  /** The `name` of a SKILL.md's front matter; null where it has none. */
  skillName(text: string): string | null;
};
