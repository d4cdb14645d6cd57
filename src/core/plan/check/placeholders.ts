/** Check 8: words that stand for what is still to be written. */
import { finderOf } from "../search.ts";
import type { PlanTask } from "../task-block.ts";
import type { CheckContext } from "./context.ts";

const TOKENS = ["TODO", "TBD", "xxx", "[fill in]", "<example>", "etc.", "probably", "something like"];
const PATTERNS = TOKENS.map((token) => ({ token, pattern: new RegExp(escaped(token), "gi") }));
const ANY = new RegExp(TOKENS.map(escaped).join("|"), "i");

function escaped(token: string): string {
  return token.replace(/[.[\]]/g, "\\$&");
}

/**
 * A token inside of a literal that the spec requires of the task is exempt: the task has to quote it.
 *
 * Source: flow state, section 6.5
 */
export function checkPlaceholders(context: CheckContext): void {
  const required = requiredWithTokens(context);
  for (const [index, line] of context.plan.text.lines.entries()) {
    if (!ANY.test(line)) continue;
    const task = context.taskAt(index + 1);
    const exempt = task === undefined ? [] : spansOf(context, line, required.get(task) ?? []);
    for (const { token, pattern } of PATTERNS) {
      // Both are in order: whether a span that began before reaches behind the token is known as one goes along.
      let next = 0;
      let reach = 0;
      for (const { index: at, 0: found } of line.matchAll(pattern)) {
        for (; next < exempt.length && (exempt[next]?.[0] ?? 0) <= at; next++) {
          reach = Math.max(reach, exempt[next]?.[1] ?? 0);
        }
        if (at + found.length <= reach) continue;
        context.effort.spend(0);
        context.findings.add("placeholder-scan", "banned-token", `banned placeholder token "${token}" found`, {
          task: task?.number ?? null,
          line: index + 1,
          at,
        });
      }
    }
  }
}

/** The literals that each task has to quote and that contain a token: only these can exempt one. */
function requiredWithTokens(context: CheckContext): ReadonlyMap<PlanTask, readonly string[]> {
  const required = new Map<PlanTask, Set<string>>();
  const hasToken = new Map<string, boolean>();
  for (const row of context.rows) {
    if (row.owner.kind !== "tasks") continue;
    for (const literal of context.requiredOf(row)) {
      context.effort.spend(0);
      let isOne = hasToken.get(literal);
      if (isOne === undefined) {
        isOne = ANY.test(literal);
        hasToken.set(literal, isOne);
      }
      if (!isOne) continue;
      for (const number of row.owner.tasks) {
        const task = context.tasks.get(number);
        if (task === undefined) continue;
        const own = required.get(task);
        if (own === undefined) required.set(task, new Set([literal]));
        else own.add(literal);
      }
    }
  }
  return new Map([...required].map(([task, literals]) => [task, [...literals]]));
}

/** Where literals stand in a line, in the order of their starts. */
function spansOf(
  context: CheckContext,
  line: string,
  literals: readonly string[],
): readonly (readonly [start: number, end: number])[] {
  const spans: [number, number][] = [];
  for (const literal of literals) {
    const find = finderOf(literal);
    for (let at = find(line); at >= 0; at = find(line, at + 1)) {
      context.effort.spend(literal.length);
      spans.push([at, at + literal.length]);
    }
    context.effort.spend(line.length);
  }
  return spans.sort((one, other) => one[0] - other[0]);
}
