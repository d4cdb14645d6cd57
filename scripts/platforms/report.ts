/** What was found of the artefacts, as the table of docs/platforms.md. */
import type { Spread } from "../bench/measure.ts";
import type { Target } from "../targets.ts";

export type Finding = {
  readonly target: Target;
  readonly outcome: "PASS" | "FAIL" | "SKIP";
  /** How it was started; "never run" or "not built". */
  readonly how: string;
  /** For a person: how many steps, what went wrong, why it was skipped. */
  readonly detail: string;
  /** Null where there is no artefact. */
  readonly size_bytes: number | null;
};

export type Measured = Finding & {
  /** Of `--version`, from start to end; null where it was not started. */
  readonly start_ms: Spread | null;
  /** Of the medians, over that of linux-x64 in the same run. */
  readonly start_ratio: number | null;
};

const BEGIN = "<!-- npm run platforms -- --write: from here -->";
const END = "<!-- npm run platforms -- --write: to here -->";

/** @param where the machine, as the page names it */
export function renderTable(findings: readonly Measured[], where: string): string {
  const rows = findings.map(({ target, outcome, how, size_bytes, start_ms, start_ratio }) => {
    const size = size_bytes === null ? "none" : `${(size_bytes / 1e6).toFixed(1)} MB`;
    const ratio = start_ratio === null ? "–" : start_ratio.toFixed(2);
    const start =
      start_ms === null
        ? "–"
        : `${start_ms.median.toFixed(1)} ms [${start_ms.low.toFixed(1)}–${start_ms.high.toFixed(1)}]`;
    return `| \`${target}\` | ${outcome} | ${how} | ${size} | ${ratio} | ${start} |`;
  });
  return [
    `Machine: ${where}.`,
    "",
    "| artefact | outcome | how it was started | size | start, over `linux-x64` | start of `writ --version` |",
    "|---|---|---|---|---|---|",
    ...rows,
  ].join("\n");
}

/** The page with another table. Errors: throws where the page has not the two marks */
export function replaceTable(page: string, table: string): string {
  const from = page.indexOf(BEGIN);
  const to = page.indexOf(END);
  if (from < 0 || to < from) throw new Error(`The page has no place for a table between "${BEGIN}" and "${END}"`);
  return `${page.slice(0, from + BEGIN.length)}\n\n${table}\n\n${page.slice(to)}`;
}
