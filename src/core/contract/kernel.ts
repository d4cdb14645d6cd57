/**
 * The kernel block: what a turn is told at its dispatch. Data only, no instructions.
 *
 * A fact of one line stays on one line and a goal is indented, so that no fact can pass itself off as another line of
 * the block. Control sequences are not removed here; who prints to a terminal does that.
 */
import { compactJson, type JsonValue } from "../json/value.ts";

/** What the block is made of. Null, blank and empty all mean that the line is left out. */
export type KernelFacts = {
  readonly contract_id: string;
  readonly agent_id: string;
  readonly workspace: string;
  readonly goal?: string | null;
  readonly role?: string | null;
  readonly surface?: string | null;
  readonly project?: { readonly name: string; readonly path?: string | null } | null;
  readonly workflow?: string | null;
  readonly plan_task_id?: number | null;
  readonly parent_handoff_id?: number | null;
  readonly can_read?: readonly string[] | null;
  readonly can_write?: readonly string[] | null;
  /** The gates of the bound plan task. */
  readonly acceptance?: readonly AcceptanceGate[] | null;
  readonly environment?: Environment | null;
  /** The stored `can_read` sections of the dispatch project, in order. */
  readonly context?: readonly ContextSection[] | null;
};

export type AcceptanceGate = {
  readonly verification_type: string;
  readonly evidence_shape?: string | null;
  readonly evidence_type?: string | null;
  readonly artifact_path?: string | null;
};

export type Environment = {
  readonly platform: string;
  readonly architecture: string;
  /** The path of writ, or null when it is not known. */
  readonly writ?: string | null;
  /** Names of programs on PATH, in the order in which they are worth telling. */
  readonly programs?: readonly string[];
};

export type ContextSection = { readonly section: string; readonly payload: JsonValue };

/** Budgets, in code points. */
export const CONTEXT_WHOLE = 8_000;
export const CONTEXT_POINTERS = 2_000;
export const ENVIRONMENT_LINE = 600;

/**
 * The line about the machine: the platform, the path of writ, and the programs on PATH as far as there is room.
 *
 * Units: at most 600 code points before ` (+<n>)`, which counts the names that found no room
 */
function environmentLine({ platform, architecture, writ, programs = [] }: Environment): string {
  const parts = [oneLine(`${platform} ${architecture}`), ...fact("writ ", writ)];
  if (programs.length === 0) return parts.join("; ");
  const start = `${parts.join("; ")}; on PATH:`;
  const names: string[] = [];
  let length = lengthOf(start);
  for (const program of programs) {
    const name = oneLine(program);
    // A blank before the first name, a comma and a blank before the others.
    const more = lengthOf(name) + (names.length === 0 ? 1 : 2);
    if (length + more > ENVIRONMENT_LINE) break;
    names.push(name);
    length += more;
  }
  const left = programs.length - names.length;
  const listed = names.length === 0 ? start : `${start} ${names.join(", ")}`;
  return left === 0 ? listed : `${listed} (+${left})`;
}

/**
 * Renders the block.
 *
 * @returns lines without a final newline
 * Source:  spec/contract.md 4.3
 */
export function renderKernel(facts: KernelFacts): string {
  return [contractBlock(facts), environmentBlock(facts.environment), contextBlock(facts.context ?? []), cliBlock(facts)]
    .filter((block) => block !== null)
    .join("\n\n");
}

function contractBlock(facts: KernelFacts): string {
  const groups = [
    ["# Your Contract"],
    [`contract_id: ${facts.contract_id}`, `agent_id:    ${facts.agent_id}`],
    goalLines(facts.goal ?? ""),
    [
      ...fact("role: ", facts.role),
      ...fact("surface: ", facts.surface),
      ...fact("project: ", projectName(facts.project)),
      ...fact("workflow: ", facts.workflow),
      ...fact("plan_task_id: ", facts.plan_task_id?.toString()),
      ...fact("parent_handoff_id: ", facts.parent_handoff_id?.toString()),
    ],
    [...list("can_read:  ", facts.can_read), ...list("can_write: ", facts.can_write)],
    acceptanceLines(facts.acceptance ?? []),
  ];
  return groups
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n");
}

function goalLines(goal: string): readonly string[] {
  const [first = "", ...further] = goal.trim().split(LINE_BREAK);
  return first === "" ? [] : [`goal: ${first}`, ...further.map((line) => (line === "" ? "" : `  ${line}`))];
}

function projectName(project: KernelFacts["project"]): string | null {
  if (project === undefined || project === null || isBlank(project.name)) return null;
  return isBlank(project.path) ? project.name : `${project.name} (${project.path})`;
}

function acceptanceLines(gates: readonly AcceptanceGate[]): readonly string[] {
  if (gates.length === 0) return [];
  return ["acceptance:", ...gates.map((gate) => `  - (${oneLine(gate.verification_type)}) ${wanted(gate)}`.trimEnd())];
}

function wanted(gate: AcceptanceGate): string {
  const first = [gate.evidence_shape, gate.evidence_type, gate.artifact_path].find((text) => !isBlank(text));
  return oneLine(first ?? "");
}

function environmentBlock(environment: KernelFacts["environment"]): string | null {
  if (environment === undefined || environment === null) return null;
  return `# Environment

${environmentLine(environment)}`;
}

function contextBlock(sections: readonly ContextSection[]): string | null {
  if (sections.length === 0) return null;
  const whole = sections.map(({ section, payload }) => `${oneLine(section)}\n${compactJson(payload)}`).join("\n\n");
  const pointers = sections
    .map(({ section }) => `- ${oneLine(section)}: writ context get ${oneLine(section)}`)
    .join("\n");
  const body = fits(whole, CONTEXT_WHOLE)
    ? whole
    : fits(pointers, CONTEXT_POINTERS)
      ? pointers
      : `${sections.length} sections stored: writ context list`;
  return `# Project context\n\n${body}`;
}

function cliBlock({ contract_id, workspace, parent_handoff_id }: KernelFacts): string {
  const parent = parent_handoff_id == null ? "" : `\n  writ contract show ${parent_handoff_id}`;
  return `# Your CLI

  writ contract view | validate | list
  writ contract set | add | fill | finalize --draft-id ${contract_id}
  writ run -- CMD
  writ evidence add | list | show
  writ context get SECTION --workspace ${oneLine(workspace)}${parent}`;
}

const LINE_BREAK = /\r\n|[\n\r\u0085\u2028\u2029]/;

function fact(label: string, value: string | null | undefined): readonly string[] {
  return isBlank(value) ? [] : [`${label}${oneLine(value ?? "")}`];
}

function list(label: string, names: readonly string[] | null | undefined): readonly string[] {
  return names === null || names === undefined || names.length === 0
    ? []
    : [`${label}[${names.map(oneLine).join(", ")}]`];
}

function isBlank(text: string | null | undefined): boolean {
  return text === null || text === undefined || text.trim() === "";
}

function oneLine(text: string): string {
  return text.trim().split(LINE_BREAK).join(" ");
}

function fits(text: string, room: number): boolean {
  // A code point is one code unit or two: the long texts need no exact count.
  return text.length <= room * 2 && lengthOf(text) <= room;
}

function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}
