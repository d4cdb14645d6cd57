/** Check 4: that the anchors of tasks lead to sections of the spec. */
import { isInBounds, type SpecFile } from "../spec-file.ts";
import type { Anchor } from "../text.ts";
import type { CheckContext } from "./context.ts";

/** Source: flow state, section 6.3, check 4 */
export function checkAnchors({ plan, spec, findings }: CheckContext): void {
  for (const { number, spec: own } of plan.tasks) {
    if (own === null) continue;
    if (own.anchors.length === 0) {
      const text = plan.text.lines[own.line - 1] ?? "";
      findings.add(
        "anchor-resolution",
        "anchor-line-unparseable",
        'unparseable **Spec:** anchor line (expected § "heading" L<n>-L<n>)',
        { task: number, line: own.line, at: text.indexOf("§") },
      );
    }
    for (const anchor of own.anchors) {
      const fault = anchorFault(spec, anchor);
      if (fault === null) continue;
      const [name, reason] = fault;
      findings.add("anchor-resolution", name, reason, { task: number, line: own.line, at: anchor.at });
    }
  }
}

type Fault = "heading-missing" | "heading-ambiguous" | "range-bounds" | "range-outside-section";

function anchorFault(spec: SpecFile, anchor: Anchor): readonly [Fault, string] | null {
  const { heading, start, end } = anchor;
  const [section, ...further] = spec.headings.get(heading) ?? [];
  if (section === undefined) return ["heading-missing", `no spec heading matches "${heading}"`];
  if (further.length > 0) {
    return ["heading-ambiguous", `ambiguous spec heading "${heading}" matches ${further.length + 1} headings`];
  }
  if (!isInBounds(spec, anchor)) {
    return ["range-bounds", `anchor range L${start}-L${end} is not in-bounds/non-empty`];
  }
  if (start >= section.start && end <= section.end) return null;
  return [
    "range-outside-section",
    `anchor range L${start}-L${end} is outside heading "${heading}"'s section (L${section.start}-L${section.end})`,
  ];
}
