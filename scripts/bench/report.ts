/** What a bench found, as a table for a terminal and as docs/bench.md. */
import type { Measured, Spread } from "./measure.ts";
import type { Row } from "./rows.ts";

/** In general terms: which machine it was is nobody's business, what it can do is. */
export type Machine = {
  readonly system: string;
  readonly cores: number;
  readonly memory_gib: number;
  readonly bun: string;
  /** The measured files lie in memory, where a durable write costs nothing. */
  readonly files_in_memory: boolean;
};

export type Finding = Pick<Row, "name" | "work" | "against" | "goal" | "limit"> &
  (
    | ({ readonly ok: true; readonly met: boolean | null; readonly note: string } & Measured)
    | { readonly ok: false; readonly problem: string }
  );

export function renderTable(findings: readonly Finding[]): string {
  return findings.map((finding) => `${finding.name.padEnd(16)} ${resultLine(finding)}`).join("\n");
}

function resultLine(finding: Finding): string {
  if (!finding.ok) return `FAILED: ${finding.problem}`;
  const { work_ms, baseline_ms, note } = finding;
  const times = `${spread(work_ms)} against ${spread(baseline_ms)} ms`;
  return [`${ratio(finding)}  goal ${goal(finding)}`, times, note].filter((part) => part !== "").join("  ");
}

export function renderPage(machine: Machine, findings: readonly Finding[]): string {
  const rows = findings.map((finding) => {
    const cells = finding.ok
      ? [
          ratio(finding),
          goal(finding),
          spread(finding.work_ms),
          spread(finding.baseline_ms),
          String(finding.repetitions),
        ]
      : [`failed: ${finding.problem.replaceAll("|", "\\|")}`, goal(finding), "", "", ""];
    return `| ${[finding.work, finding.against, ...cells].join(" | ")} |`;
  });
  const disk = machine.files_in_memory ? "files in memory, where a durable write costs nothing" : "files on a disk";
  return `${[
    "# Bench",
    "",
    "Written by `npm run bench`. Each row is a ratio within one run: the work and what it is held against were run in",
    "turn, each as a whole process from start to end, and the ratio is that of the medians. What it is held against was",
    "compiled with the flags of writ itself. Brackets hold quartiles: of the ratios of neighbours, and of the times.",
    "",
    `Machine: ${machine.system}, ${machine.cores} cores, ${machine.memory_gib} GiB of memory, ${disk}; Bun ${machine.bun}.`,
    "",
    "| work | against | ratio | goal | work, ms | against, ms | times |",
    "|---|---|---|---|---|---|---|",
    ...rows,
    "",
    "For `finalize` the goal is the growth of the record itself. For the parallel additions every entry was looked for",
    "afterwards.",
    ...limits(findings),
  ].join("\n")}\n`;
}

/** Why what was missed was missed. */
function limits(findings: readonly Finding[]): readonly string[] {
  const lines = findings.flatMap((finding) =>
    finding.ok && finding.met === false && finding.limit !== undefined
      ? [`- ${finding.work}, against ${finding.against}: ${finding.limit}`]
      : [],
  );
  return lines.length === 0 ? [] : ["", "What keeps from its goal what missed it:", "", ...lines];
}

function ratio(finding: Finding & Measured): string {
  return `${short(finding.ratio)} [${short(finding.ratio_low)}–${short(finding.ratio_high)}]`;
}

function goal(finding: Finding): string {
  if (finding.goal === null) return "none";
  if (!finding.ok) return `at most ${finding.goal}`;
  return `at most ${finding.goal}: ${finding.met ? "met" : "missed"}`;
}

function spread({ median, low, high }: Spread): string {
  return `${short(median)} [${short(low)}–${short(high)}]`;
}

function short(value: number): string {
  return value.toFixed(value < 10 ? 2 : 1);
}
