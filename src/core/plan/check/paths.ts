/** Check 5: that what a task modifies exists. */
import type { CheckContext } from "./context.ts";

/** Source: flow state, section 6.3, check 5 */
export function checkPaths(context: CheckContext): void {
  const { plan, findings } = context;
  for (const { number, start, files } of plan.tasks) {
    if (files === null) {
      findings.add("paths-exist", "files-block-missing", "task is missing a **Files:** block", {
        task: number,
        line: start,
      });
      continue;
    }
    for (const { kind, path, isGlob, line, at } of files.entries) {
      if (kind !== "Modify") continue;
      const place = { task: number, line, at, about: path };
      if (!isGlob) {
        if (context.exists(path)) continue;
        findings.add("paths-exist", "modify-missing", `Modify: path "${path}" does not exist`, place);
        continue;
      }
      const found = context.expand(path);
      if (!found.ok) {
        findings.add("paths-exist", "glob-invalid", `Modify: glob "${path}" is invalid: ${found.error}`, place);
      } else if (found.paths.length === 0) {
        findings.add("paths-exist", "glob-empty", `Modify: glob "${path}" matched no files`, place);
      }
    }
  }
}
