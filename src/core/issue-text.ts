/** An issue as a person reads it, wherever it is printed: one line, its hint under it. */
import { oneLine } from "./acceptance/quoting.ts";

/**
 * `  code [path]: message`, and the hint one step further in. A key, and so a path, may hold a line end: it is spelled
 * out, so that no document writes a line of its own into what is said of it.
 *
 * @param path     left out where it is empty or null
 * @param position what stands before the message, such as a line and a column
 */
export function issueLines(
  issue: {
    readonly code: string;
    readonly path: string | null;
    readonly message: string;
    readonly hint: string | null;
  },
  position = "",
): readonly string[] {
  const { code, path, message, hint } = issue;
  const place = path === null || path === "" ? "" : ` [${path}]`;
  const line = oneLine(`${code}${place}: ${position}${message}`);
  return [`  ${line}`, ...(hint === null ? [] : [`    ${hint.replaceAll("\n", "\n    ")}`])];
}
