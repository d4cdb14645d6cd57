/** Checks 10 and 11: that the commands of the header stay in the header. */
import { commandSegments } from "../command.ts";
import type { PlanFile } from "../plan-file.ts";
import { finderOf } from "../search.ts";
import { literalsOf } from "../text.ts";
import type { CheckContext } from "./context.ts";

const RUN_LINE = /^\s*(- \[ \] )?Run:\s*(.*)$/s;

/** Source: flow state, section 6.7 */
export function checkEntrypoint(context: CheckContext): void {
  const { plan, findings } = context;
  const { verification, happyPath, separator } = plan.header;
  if (verification === null || separator === null) {
    findings.add("header-entrypoint", "header-missing", "missing header **Verification:** line or '---' separator");
    return;
  }
  const prose = [
    { words: verification.value, what: "header entrypoint" },
    { words: happyPath?.command ?? "", what: "header happy-path command" },
  ]
    .filter(({ words }) => words !== "")
    .map(({ words, what }) => ({ words, what, find: finderOf(words) }));
  for (const line of waveLines(plan)) {
    const text = plan.text.lines[line - 1] ?? "";
    const task = context.taskAt(line)?.number ?? null;
    const run = RUN_LINE.exec(text);
    if (run !== null) {
      if (plan.text.fenced[line - 1] === false) checkRun(context, run[2] ?? "", { task, line, text });
      continue;
    }
    for (const { words, what, find } of prose) {
      const at = find(text);
      if (at < 0) continue;
      findings.add(
        "header-entrypoint",
        "prose-entrypoint",
        `${what} "${words}" also appears outside the header (must be header-only)`,
        { task, line, at },
      );
      break;
    }
  }
}

function checkRun(
  { plan, findings }: CheckContext,
  rest: string,
  { task, line, text }: { readonly task: number | null; readonly line: number; readonly text: string },
): void {
  const literals = literalsOf(rest);
  const segments = (literals.length > 0 ? literals : [rest]).flatMap(commandSegments);
  const { header } = plan;
  const suite = segments.find((segment) => header.segments.has(segment));
  const segment = suite ?? segments.find((each) => header.happySegments.has(each));
  if (segment === undefined) return;
  const what =
    suite === undefined
      ? "the header **Happy path:** command (it belongs to the verify phase)"
      : "a header **Verification:** segment (full suite belongs to the verify phase)";
  const place = { task, line, at: Math.max(text.indexOf(segment), 0) };
  findings.add("header-entrypoint", "run-segment", `Run: segment "${segment}" equals ${what}`, place);
}

/** The lines of all waves, each once and in order, without the bullets of Tests blocks. */
function waveLines({ text, waves, tasks }: PlanFile): readonly number[] {
  const bullets = new Set(tasks.flatMap(({ tests }) => (tests?.bullets ?? []).map(({ line }) => line)));
  const starts = new Set(waves.map(({ line }) => line));
  const lines: number[] = [];
  let isInside = false;
  for (const [index, words] of text.lines.entries()) {
    if (starts.has(index + 1)) isInside = true;
    else if (/^##\s/.test(words)) isInside = false;
    if (isInside && !bullets.has(index + 1)) lines.push(index + 1);
  }
  return lines;
}

/** Source: flow state, section 6.3, check 11 */
export function checkHappyPath({ plan, findings }: CheckContext): void {
  const { happyPath } = plan.header;
  if (happyPath === null || happyPath.command !== null) return;
  findings.add(
    "header-happy-path",
    "line-malformed",
    "malformed **Happy path:** header line (expected '<label> - `<command>`' with an optional ' (~<duration>)')",
    { line: happyPath.line },
  );
}
