/** Check 13: that nothing is open. */
import type { CheckContext } from "./context.ts";

/** Source: flow state, section 6.8 */
export function checkQuestions({ plan, findings }: CheckContext): void {
  if (plan.openQuestions === null) return;
  const { line: heading, rows } = plan.openQuestions;
  if (rows.length === 0) {
    findings.add("open-questions", "section-empty", "empty ## Open Questions section (write `- none`)", {
      line: heading,
    });
    return;
  }
  if (rows.length === 1 && isNone(rows[0]?.text ?? "")) return;
  for (const { line, text } of rows) {
    if (isNone(text)) {
      findings.add("open-questions", "section-contradictory", "`- none` beside other open-question rows", { line });
      continue;
    }
    const reason = `unresolved open question: ${text.startsWith("- ") ? text.slice(2) : text}`;
    const task = failingTask(text);
    if (task !== null) findings.add("open-questions", "baseline-task", reason, { task, line });
    else findings.add("open-questions", isGlobal(text) ? "baseline-global" : "contract-question", reason, { line });
  }
}

function isNone(text: string): boolean {
  return text.trimEnd() === "- none";
}

/** `- Task 2: <command> fails on <sha>`. */
function failingTask(text: string): number | null {
  const [start = "", number] = /^- Task (\d+): /.exec(text) ?? [];
  return number !== undefined && / fails on \S/.test(text.slice(start.length)) ? Number(number) : null;
}

function isGlobal(text: string): boolean {
  if (!text.startsWith("- ")) return false;
  return text.startsWith("- Baseline: ") || text.includes("dirtied tracked source") || text.includes("moved HEAD");
}
