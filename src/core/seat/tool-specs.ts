/**
 * The tools that a seat is offered: their schemas, and which of them a task opens.
 *
 * Source: delegation run, sections 5.2 (profiles), 5.3 (schemas, to the letter)
 */
import type { ToolSpec } from "./endpoint.ts";

export const TOOL_SPECS = [
  {
    name: "list_dir",
    description: "List files and directories at a path in the workspace.",
    parameters: {
      type: "object",
      properties: { path: { type: "string", description: 'relative directory; "." is the root' } },
      required: ["path"],
      additionalProperties: false,
    },
  },
  {
    name: "read_file",
    description: "Read a workspace file as numbered lines. Use offset and limit for a part of it.",
    parameters: {
      type: "object",
      properties: {
        path: { type: "string" },
        offset: { type: "integer", description: "first line, 1-based" },
        limit: { type: "integer", description: "number of lines, default 2000" },
      },
      required: ["path"],
      additionalProperties: false,
    },
  },
  {
    name: "search_files",
    description: "Find lines matching a regular expression (case-sensitive; prefix (?i) to ignore case).",
    parameters: {
      type: "object",
      properties: {
        pattern: { type: "string" },
        path: { type: "string" },
        glob: { type: "string", description: "file name filter such as *.md" },
        mode: { type: "string", enum: ["content", "files"] },
      },
      required: ["pattern"],
      additionalProperties: false,
    },
  },
  {
    name: "write_file",
    description: "Create a file or replace it whole.",
    parameters: {
      type: "object",
      properties: { path: { type: "string" }, content: { type: "string" } },
      required: ["path", "content"],
      additionalProperties: false,
    },
  },
  {
    name: "edit_file",
    description: "Replace one exact, unique snippet of an existing file. Prefer this to rewriting a file.",
    parameters: {
      type: "object",
      properties: { path: { type: "string" }, old_string: { type: "string" }, new_string: { type: "string" } },
      required: ["path", "old_string", "new_string"],
      additionalProperties: false,
    },
  },
  {
    name: "finish",
    description: "End the task with the final answer text.",
    parameters: {
      type: "object",
      properties: { answer: { type: "string" } },
      required: ["answer"],
      additionalProperties: false,
    },
  },
] as const satisfies readonly ToolSpec[];

export type ToolName = (typeof TOOL_SPECS)[number]["name"];

const READING: readonly ToolName[] = ["list_dir", "read_file", "search_files", "finish"];
const WRITING: readonly ToolName[] = ["write_file", "edit_file"];

/** The names of tools that a profile offers. The write door adds the write tools, or takes them away. */
const PROFILES: ReadonlyMap<string, readonly ToolName[]> = new Map([
  ["research", READING],
  ["general", READING],
  ["edit", [...READING, ...WRITING]],
]);

export const PROFILE_NAMES: readonly string[] = [...PROFILES.keys()];

export function isWriting(name: string): boolean {
  return WRITING.some((tool) => tool === name);
}

/**
 * The tools of one task, in the order of `TOOL_SPECS`.
 *
 * @param task `profile` not empty; `write_root` "" where no door is asked for; `deny_tools` of the place's config
 * @returns    null where there is no such profile
 */
export function toolsOf(task: {
  readonly profile: string;
  readonly write_root: string;
  readonly deny_tools: readonly string[];
}): readonly ToolSpec[] | null {
  const profile = PROFILES.get(task.profile);
  if (profile === undefined) return null;
  return TOOL_SPECS.filter(({ name }) => {
    if (task.deny_tools.includes(name)) return false;
    return isWriting(name) ? task.write_root !== "" : profile.includes(name);
  });
}

/** A tool by its name, offered or not. */
export function specOf(name: string): ToolSpec | null {
  return TOOL_SPECS.find((spec) => spec.name === name) ?? null;
}
