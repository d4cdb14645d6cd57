/**
 * `npm run bench [-- --json] [-- ROW…]`: measures writ against small programs that do the least of the same work.
 *
 * Prints a table (or, with --json, one document) and, when all rows were asked for, writes docs/bench.md. Ends in 0
 * when every row was measured, whether or not it meets its goal: a time is never a test. Ends in 1 when a row could
 * not be measured or its work was not done, in 2 on a row that does not exist.
 */
import { existsSync, writeFileSync } from "node:fs";
import { arch, availableParallelism, totalmem, type } from "node:os";
import { join } from "node:path";
import { measure } from "./bench/measure.ts";
import { type Finding, type Machine, renderPage, renderTable } from "./bench/report.ts";
import { ROWS, type Row, type Trial } from "./bench/rows.ts";
import { Scene } from "./bench/scene.ts";

const ROOT = join(import.meta.dir, "..");
const PAGE = join(ROOT, "docs", "bench.md");
const WRIT = join(ROOT, "dist", process.platform === "win32" ? "writ.exe" : "writ");

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const json = args.includes("--json");
  const names = args.filter((arg) => arg !== "--json");
  const unknown = names.find((name) => !ROWS.some((row) => row.name === name));
  if (unknown !== undefined) {
    console.error(`There is no row "${unknown}"; rows: ${ROWS.map((row) => row.name).join(", ")}`);
    return 2;
  }

  if (!existsSync(WRIT)) {
    console.error(`There is no "${WRIT}"; "npm run bench" builds it first`);
    return 1;
  }
  const scene = await Scene.open(ROOT, WRIT);
  try {
    const findings: Finding[] = [];
    for (const row of ROWS.filter(({ name }) => names.length === 0 || names.includes(name))) {
      console.error(`bench: ${row.name}, ${row.repetitions} times`);
      findings.push(await find(row, scene));
    }
    const machine = machineOf(scene);
    const ok = findings.every((finding) => finding.ok);
    console.log(json ? JSON.stringify({ ok, machine, rows: findings }) : renderTable(findings));
    if (names.length === 0) writeFileSync(PAGE, renderPage(machine, findings));
    return ok ? 0 : 1;
  } finally {
    await scene.close();
  }
}

async function find(row: Row, scene: Scene): Promise<Finding> {
  const { name, work, against, goal, limit, repetitions, warmups } = row;
  let trial: Trial | undefined;
  try {
    trial = await row.prepare(scene);
    const measured = await measure(trial.work, trial.baseline, repetitions, warmups);
    const note = trial.verify();
    return {
      name,
      work,
      against,
      goal,
      ...(limit === undefined ? {} : { limit }),
      ok: true,
      met: goal === null ? null : measured.ratio <= goal,
      note,
      ...measured,
    };
  } catch (error) {
    return { name, work, against, goal, ok: false, problem: error instanceof Error ? error.message : String(error) };
  } finally {
    await trial?.close?.();
  }
}

function machineOf(scene: Scene): Machine {
  return {
    system: `${type()} ${arch()}`,
    cores: availableParallelism(),
    memory_gib: Math.round(totalmem() / 2 ** 30),
    bun: Bun.version,
    files_in_memory: scene.inMemory,
  };
}
