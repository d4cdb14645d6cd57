/** Checks 6 and 7: the Tests block of each task, and the baseline that was measured for it. */
import { commandSegments } from "../command.ts";
import type { PlanHeader } from "../header.ts";
import type { Bullet, PlanTask, TestsBlock } from "../task-block.ts";
import type { CheckContext } from "./context.ts";

/** What a command may not contain: it would run something else, or somewhere else. */
const UNSUPPORTED_SHELL = ["cd ", "sh -c", "bash -c", "eval ", "$("];
const LONG_COMMAND = 4_000;
const BASELINE = /^(pass|new|fail \d+) @ ([0-9a-f]{40})$/;

/** Source: flow state, section 6.3, check 6 */
export function checkTests(context: CheckContext): void {
  for (const task of context.plan.tasks) {
    checkTestPaths(context, task);
    checkPlace(context, task);
    if (task.tests !== null) checkBlock(context, task, task.tests);
  }
}

function checkTestPaths(context: CheckContext, { number, files }: PlanTask): void {
  for (const { kind, path, line, at } of files?.entries ?? []) {
    if (kind !== "Test" || context.created.has(path) || context.exists(path)) continue;
    context.findings.add(
      "tests-block",
      "test-path-unknown",
      `Task ${number}: unknown \`Test:\` path "${path}" (neither exists nor is a Create: path of any task)`,
      { task: number, line, at, about: path },
    );
  }
}

function checkPlace({ findings }: CheckContext, { number, start, tests, misplaced }: PlanTask): void {
  for (const line of misplaced) {
    findings.add(
      "tests-block",
      "block-misplaced",
      `Task ${number}: misplaced block: \`**Tests:**\` must be the bare line directly after the Files: entries`,
      { task: number, line },
    );
  }
  if (tests === null && misplaced.length === 0) {
    findings.add(
      "tests-block",
      "block-missing",
      `Task ${number}: block missing: no \`**Tests:**\` directly after the Files: entries`,
      { task: number, line: start },
    );
  }
}

function checkBlock(context: CheckContext, task: PlanTask, { line, bullets }: TestsBlock): void {
  const { findings } = context;
  const { number } = task;
  const of = (kind: Bullet["kind"]) => bullets.filter((bullet) => bullet.kind === kind);
  const commands = of("command");
  const nones = of("none");
  if (commands.length === 0 && nones.length === 0) {
    findings.add("tests-block", "block-empty", `Task ${number}: block empty: no command bullet and no \`none:\``, {
      task: number,
      line,
    });
  }
  for (const bullet of of("malformed")) {
    findings.add(
      "tests-block",
      "bullet-malformed",
      `Task ${number}: malformed bullet: expected \`- \\\`command\\\`\`, \`- via: <seam>\`, or \`- none: <category>\``,
      { task: number, line: bullet.line },
    );
  }
  const [none] = nones;
  if (none !== undefined) {
    if (nones.length > 1 || commands.length > 0 || of("via").length > 0) {
      findings.add(
        "tests-block",
        "block-contradictory",
        `Task ${number}: contradictory block: \`none:\` with a command or \`via:\`, or more than one \`none:\``,
        { task: number, line: none.line },
      );
    }
    for (const entry of task.files?.entries ?? []) {
      if (entry.kind !== "Test") continue;
      findings.add(
        "tests-block",
        "test-path-unused",
        `Task ${number}: unused \`Test:\` path: task declares \`none:\``,
        {
          task: number,
          line: entry.line,
          at: entry.at,
        },
      );
    }
  }
  const anchors = anchoringPaths(task);
  for (const command of commands) checkCommand(context, number, command, anchors);
}

/** The `Test:` paths that can anchor a command: none that could stand for several files. */
function anchoringPaths({ files }: PlanTask): ReadonlySet<string> {
  const paths = (files?.entries ?? []).filter(({ kind }) => kind === "Test").map(({ path }) => path);
  return new Set(paths.filter((path) => !isBroad(path)));
}

function isBroad(text: string): boolean {
  return /[*?[]/.test(text) || text.endsWith("/");
}

/** A path, or a path followed by `::`, `#` or `:`. Beginnings that end before one of these are tried. */
function isAnchoring({ effort }: CheckContext, token: string, paths: ReadonlySet<string>): boolean {
  if (paths.has(token)) return true;
  const lengths = new Set([...paths].map(({ length }) => length));
  for (const { index } of token.matchAll(/[:#]/g)) {
    if (!lengths.has(index)) continue;
    effort.spend(index);
    if (paths.has(token.slice(0, index))) return true;
  }
  return false;
}

function checkCommand(
  context: CheckContext,
  number: number,
  { line, value }: Bullet,
  paths: ReadonlySet<string>,
): void {
  const { findings } = context;
  const { header } = context.plan;
  // In a very long command nobody looks for a column.
  const columnOf = (text: string) => (value.length > LONG_COMMAND ? 0 : Math.max(value.indexOf(text), 0));
  const place = (text: string) => ({ task: number, line, at: 3 + columnOf(text), about: text });
  const shell = UNSUPPORTED_SHELL.find((word) => value.includes(word));
  if (shell !== undefined) {
    findings.add(
      "tests-block",
      "shell-unsupported",
      `Task ${number}: unsupported shell: \`cd \`, \`sh -c\`, \`bash -c\`, \`eval \`, \`$(\` are not allowed`,
      place(shell),
    );
    return;
  }
  for (const segment of commandSegments(value)) {
    const tokens = segment.split(" ").map((token) => {
      context.effort.spend(paths.size * 8);
      return { token, anchors: isAnchoring(context, token, paths) };
    });
    if (!tokens.some(({ anchors }) => anchors)) {
      findings.add(
        "tests-block",
        "segment-unanchored",
        `Task ${number}: segment not anchored: "${segment}" names no Test: path of this task`,
        place(segment),
      );
    }
    for (const { token, anchors } of tokens) {
      if (anchors || !isBroad(token)) continue;
      findings.add(
        "tests-block",
        "selector-broadening",
        `Task ${number}: broadening selector "${token}" in "${segment}"`,
        place(token),
      );
    }
    const whole = fullSuite(segment, header);
    if (whole === null) continue;
    findings.add(
      "tests-block",
      "full-suite-command",
      `Task ${number}: full-suite command in task: "${segment}" equals ${whole}`,
      place(segment),
    );
  }
}

/** Which part of the header a segment repeats; null when none. */
function fullSuite(segment: string, { segments, happySegments }: PlanHeader): string | null {
  if (segments.has(segment)) return "a header **Verification:** segment";
  return happySegments.has(segment) ? "the header **Happy path:** command" : null;
}

type Baseline = { readonly outcome: string; readonly sha: string };

/** Source: flow state, section 6.4 */
export function checkBaselines(context: CheckContext): void {
  const { plan } = context;
  const baselines = plan.tasks.flatMap(({ tests }) => (tests?.bullets ?? []).filter(({ kind }) => kind === "baseline"));
  const first = baselines.map(({ value }) => baselineOf(value)).find((found) => found !== null)?.sha ?? "";
  const reported = new Set<number>();
  for (const { text } of plan.openQuestions?.rows ?? []) {
    const number = /^- Task (\d+): /.exec(text)?.[1];
    if (number !== undefined) reported.add(Number(number));
  }
  for (const task of plan.tasks) {
    if (task.tests !== null) checkBaseline(context, task, task.tests, { first, reported });
  }
}

function baselineOf(value: string): Baseline | null {
  const [, outcome, sha] = BASELINE.exec(value) ?? [];
  return outcome === undefined || sha === undefined ? null : { outcome, sha };
}

function checkBaseline(
  context: CheckContext,
  task: PlanTask,
  { line, bullets }: TestsBlock,
  known: { readonly first: string; readonly reported: ReadonlySet<number> },
): void {
  const { number } = task;
  const add = (name: Parameters<typeof context.findings.add<"baseline-line">>[1], reason: string, at: number) =>
    context.findings.add("baseline-line", name, `Task ${number}: ${reason}`, { task: number, line: at });
  const [baseline, ...further] = bullets.filter(({ kind }) => kind === "baseline");
  if (!bullets.some(({ kind }) => kind === "command")) {
    for (const bullet of baseline === undefined ? [] : [baseline, ...further]) {
      add("baseline-unexpected", "`baseline:` bullet without a command bullet", bullet.line);
    }
    return;
  }
  if (baseline === undefined) {
    add("baseline-missing", "no `baseline:` bullet for its Tests: commands", line);
    return;
  }
  for (const bullet of further) add("baseline-duplicate", "more than one `baseline:` bullet", bullet.line);
  const found = baselineOf(baseline.value);
  if (found === null) {
    add(
      "baseline-malformed",
      "malformed `baseline:` bullet (expected `pass @ <sha>`, `new @ <sha>`, or `fail <exit> @ <sha>`)",
      baseline.line,
    );
    return;
  }
  if (found.sha !== known.first) {
    add(
      "baseline-sha-mismatch",
      `baseline sha ${found.sha} differs from the plan's first baseline sha ${known.first}`,
      baseline.line,
    );
  }
  const tests = (task.files?.entries ?? []).filter(({ kind }) => kind === "Test");
  if (found.outcome === "new" && tests.some(({ path }) => !context.created.has(path))) {
    add("baseline-new-existing", "`new` baseline but a `Test:` path is not a Create: path of any task", baseline.line);
  }
  if (found.outcome.startsWith("fail") && !known.reported.has(number)) {
    add(
      "baseline-unreported",
      `failing baseline without a "- Task ${number}: " row in ## Open Questions`,
      baseline.line,
    );
  }
}
