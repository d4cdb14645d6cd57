/** A plan as a value: its header, its waves and tasks, its coverage table, its open questions. */
import { type Coverage, readCoverage } from "./coverage.ts";
import { type PlanHeader, readHeader } from "./header.ts";
import { type PlanTask, readTask } from "./task-block.ts";
import { type DocumentText, isBlank, readDocument } from "./text.ts";

export type Wave = { readonly number: number; readonly line: number };

export type PlanFile = {
  readonly text: DocumentText;
  readonly header: PlanHeader;
  readonly waves: readonly Wave[];
  /** In the order of the document. */
  readonly tasks: readonly PlanTask[];
  readonly coverage: Coverage | null;
  readonly openQuestions: OpenQuestions | null;
};

export type OpenQuestions = {
  readonly line: number;
  readonly rows: readonly { readonly line: number; readonly text: string }[];
};

const WAVE = /^## Wave (\d+) [—-] (.*)$/s;
const TASK = /^### Task (\d+): (.*)$/s;

/**
 * Reads a plan, whatever the text. Time is linear in it.
 *
 * Source: flow state, sections 5.3 to 5.8
 */
export function parsePlan(source: string): PlanFile {
  const text = readDocument(source);
  const waves: Wave[] = [];
  const starts: { readonly line: number; readonly number: number; readonly title: string; readonly wave: number }[] =
    [];
  /** Lines at which a body ends: the next heading of level two or three. */
  const breaks: number[] = [];
  for (const [index, line] of text.lines.entries()) {
    if (text.fenced[index] === true || !line.startsWith("##")) continue;
    if (/^#{2,3}\s/.test(line)) breaks.push(index + 1);
    const wave = WAVE.exec(line);
    if (wave !== null) waves.push({ number: Number(wave[1]), line: index + 1 });
    const task = TASK.exec(line);
    if (task === null) continue;
    const [, number = "", title = ""] = task;
    starts.push({ line: index + 1, number: Number(number), title: title.trim(), wave: waves.at(-1)?.number ?? -1 });
  }
  let next = 0;
  const tasks = starts.map(({ line, ...heading }) => {
    while (next < breaks.length && (breaks[next] ?? 0) <= line) next += 1;
    return readTask(text, heading, line, (breaks[next] ?? text.lines.length + 1) - 1);
  });
  return {
    text,
    header: readHeader(text),
    waves,
    tasks,
    coverage: readCoverage(text),
    openQuestions: readOpenQuestions(text),
  };
}

/** The first task of a number; undefined where there is none. */
export function taskIndex(tasks: readonly PlanTask[]): ReadonlyMap<number, PlanTask> {
  const index = new Map<number, PlanTask>();
  for (const task of tasks) if (!index.has(task.number)) index.set(task.number, task);
  return index;
}

function readOpenQuestions({ lines, fenced }: DocumentText): OpenQuestions | null {
  const heading = lines.findIndex((line, index) => fenced[index] === false && /^##\s+Open Questions\s*$/i.test(line));
  if (heading < 0) return null;
  const rows: { readonly line: number; readonly text: string }[] = [];
  for (let at = heading + 1; at < lines.length; at++) {
    const line = lines[at] ?? "";
    if (fenced[at] === false && (/^#{1,2}\s/.test(line) || line.trim() === "---")) break;
    if (!isBlank(line)) rows.push({ line: at + 1, text: line });
  }
  return { line: heading + 1, rows };
}
