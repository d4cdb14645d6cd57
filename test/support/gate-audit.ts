/**
 * What must hold when a storm over gates is over:
 *
 * - a PASS has all its proofs, each made and held, and a seat that did its task wrongly has none; the report that was
 *   printed is the one that was kept, under a name of its own;
 * - the fixture of the user is as it was;
 * - what was not killed left nothing; what was killed left what the next gate takes away: copies, and processes that
 *   carry their mark;
 * - every file that was kept is whole.
 */
import { readdirSync, readFileSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { type GateReport, readGateReport } from "../../src/core/gate/report.ts";
import { parseJson } from "../../src/core/json/parse.ts";
import type { GateDeed } from "./gate-storm.ts";
import type { Tally } from "./storm-report.ts";
import type { LivingWorld } from "./writ.ts";

export type GateField = {
  readonly world: LivingWorld;
  readonly fixture: { readonly folder: string; readonly before: string };
  readonly proofs: Readonly<Record<GateDeed["set"], Readonly<Record<string, number>>>>;
  /** Where gates put their copies. */
  readonly temporary: string;
  readonly deeds: readonly GateDeed[];
  /** Runs one more gate, in peace. */
  readonly last: () => Promise<GateDeed>;
  readonly tally: Tally;
};

/** What a killed process gets to be gone, in milliseconds. */
const GONE_MS = 20_000;
const STATUS: Readonly<Record<string, number>> = { PASS: 0, FAIL: 1, INCONCLUSIVE: 4 };
const STOPPED: Readonly<Record<string, number>> = { SIGKILL: 137, SIGINT: 130 };

export async function auditGates(field: GateField): Promise<void> {
  const { tally, fixture, deeds } = field;
  for (const deed of deeds) judge(field, deed);
  const kept = keptReports(field, deeds);
  tally.count("found: reports", kept);
  tally.hold(digestOf(fixture.folder) === fixture.before, () => "the fixture of the user was changed");
  await leftovers(field);
  const killed = { copies: copiesIn(field).length, processes: marked(field.temporary).length };
  tally.count("left by killed gates: files half written", halves(field).length);
  tally.count("left by killed gates: copies", killed.copies);
  tally.count("left by killed gates: processes", killed.processes);
  age(halves(field));
  const last = await field.last();
  judge(field, last);
  tally.hold(last.document?.verdict === "PASS", () => `a gate in peace is no PASS: ${shownEnd(last)}`);
  const half = halves(field);
  tally.hold(half.length === 0, () => `the next gate left half a file: ${half.join(", ")}`);
  const copies = copiesIn(field);
  tally.hold(copies.length === 0, () => `the next gate left copies: ${copies.join(", ")}`);
  const strays = await lasting(() => marked(field.temporary));
  tally.hold(strays.length === 0, () => `the next gate left processes: ${strays.join(", ")}`);
  // Whatever is wrong, nothing of a storm outlives it.
  for (const pid of strays) process.kill(pid, "SIGKILL");
}

/** What one run said. */
function judge({ tally, proofs, world }: GateField, deed: GateDeed): void {
  const { ran, document, set, seat } = deed;
  const fault = (text: string) => tally.fault(`${set} gate, ${seat} seat: ${text}: ${shownEnd(deed)}`);
  if (document === null || document.status === "stopped") {
    const isSignal = ran.signal !== null && ran.exit === STOPPED[ran.signal];
    if (!isSignal || (ran.signal === "SIGKILL" && document !== null)) fault("it ended without a verdict");
    return;
  }
  const { ok, report_file, ...said } = document;
  const report = readGateReport(JSON.stringify(said));
  if (report === null) {
    fault("what it printed is no report");
    return;
  }
  const { verdict, legs } = report;
  if (ran.exit !== STATUS[verdict] || ok !== (verdict === "PASS")) fault(`${verdict} ended in ${ran.exit}`);
  if (seat === "right" && verdict === "FAIL") fault("a seat that is right was refused");
  const kept = readFileSync(join(world.folder, String(report_file)), "utf8");
  if (JSON.stringify(readGateReport(kept)) !== JSON.stringify(report)) fault("another report was kept");
  if (verdict !== "PASS") return;
  if (seat === "wrong") fault("a seat that is wrong passed");
  const wanted = proofs[set];
  if (legs.map(({ name }) => name).join() !== Object.keys(wanted).join()) fault("a PASS without all its legs");
  for (const leg of legs) {
    tally.count("proofs of a PASS", leg.proofs.length);
    const isWhole = leg.proofs.length === wanted[leg.name] && leg.proofs.every((proof) => proof.verdict === "PASS");
    if (leg.verdict !== "PASS" || !leg.applied || !isWhole) fault(`a PASS without all the proofs of ${leg.name}`);
  }
}

function shownEnd({ ran, document, isWalled }: GateDeed): string {
  const legs = ((document?.legs ?? []) as GateReport["legs"]).map(({ name, verdict, cause, detail }) =>
    [name, verdict, cause, detail].join(" "),
  );
  const said = legs.length > 0 ? legs.join("; ") : `${ran.stdout}${ran.stderr}`;
  return `${isWalled ? "walled" : "bare"}, ${ran.signal ?? "no signal"}, exit ${ran.exit}: ${said.slice(0, 600)}`;
}

/** Every file that was kept is whole, and each report has a name of its own; how many reports there are. */
function keptReports({ world, tally }: GateField, deeds: readonly GateDeed[]): number {
  const named = deeds.flatMap(({ document }) => (document?.report_file === undefined ? [] : [document.report_file]));
  tally.hold(new Set(named).size === named.length, () => "two gates kept their reports under one name");
  let reports = 0;
  for (const set of folders(join(world.folder, "kept"))) {
    for (const name of readdirSync(join(world.folder, "kept", set))) {
      const text = readFileSync(join(world.folder, "kept", set, name), "utf8");
      tally.hold(isWhole(name, text), () => `${set}/${name} is half written: ${text.slice(-80)}`);
      if (name.startsWith("report-")) reports += 1;
    }
  }
  return reports;
}

function isWhole(name: string, text: string): boolean {
  if (name.startsWith("report-")) return readGateReport(text) !== null;
  if (name.endsWith(".result.json")) return parseJson(text).ok;
  // The runner writes this one, and the gate keeps it: a run that was killed has none.
  if (name.endsWith(".report.xml")) return text.trimEnd().endsWith("</testsuites>");
  return true;
}

/** Files of the set of the last gate that were not renamed into their place. */
function halves({ world }: GateField): readonly string[] {
  const folder = join(world.folder, "kept", "own");
  return folders(folder)
    .filter((name) => name.endsWith(".tmp"))
    .map((name) => join(folder, name));
}

/** As an hour would. */
function age(paths: readonly string[]): void {
  const past = Date.now() / 1000 - 7200;
  for (const path of paths) utimesSync(path, past, past);
}

/** What gates that were not killed left. */
async function leftovers(field: GateField): Promise<void> {
  const killed = new Set(field.deeds.flatMap(({ ran }) => (ran.signal === "SIGKILL" ? [`${ran.pid}`] : [])));
  for (const name of copiesIn(field)) {
    const pid = /^writ-gate-(\d+)-/.exec(name)?.[1] ?? "";
    field.tally.hold(killed.has(pid), () => `${name} was left by a gate that was not killed`);
  }
  const others = () => marked(field.temporary).filter((pid) => !killed.has(gateOf(field, pid)));
  for (const pid of await lasting(others)) field.tally.fault(`process ${pid} was left by a gate that was not killed`);
}

/** The process of the gate whose copy the environment of a process names. */
function gateOf({ temporary }: GateField, pid: number): string {
  const [, rest = ""] = environmentOf(pid).split(`TMPDIR=${join(temporary, "writ-gate-")}`);
  return /^\d+/.exec(rest)?.[0] ?? "";
}

/** What is killed gets a moment to be gone; what is still there after it. */
async function lasting(find: () => readonly number[]): Promise<readonly number[]> {
  const until = performance.now() + GONE_MS;
  for (let found = find(); ; found = find()) {
    if (found.length === 0 || performance.now() > until) return found;
    await Bun.sleep(20);
  }
}

function copiesIn({ temporary }: GateField): readonly string[] {
  return readdirSync(temporary).filter((name) => name.startsWith("writ-"));
}

/** Processes whose environment names a copy. */
function marked(temporary: string): readonly number[] {
  const mark = `TMPDIR=${join(temporary, "writ-gate-")}`;
  return folders("/proc")
    .map(Number)
    .filter((pid) => pid > 0 && environmentOf(pid).includes(mark));
}

function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1");
  } catch {
    return ""; // ended meanwhile
  }
}

function folders(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // not there: no gate came so far, or a system without it
  }
}

/** Of all names and bytes below a folder. */
export function digestOf(folder: string): string {
  const hash = new Bun.CryptoHasher("sha256");
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }).sort(byPath)) {
    const path = join(entry.parentPath, entry.name);
    hash.update(`${path}\0${entry.isFile() ? readFileSync(path, "base64") : "none"}\0`);
  }
  return hash.digest("hex");
}

function byPath(left: { parentPath: string; name: string }, right: { parentPath: string; name: string }): number {
  return join(left.parentPath, left.name) < join(right.parentPath, right.name) ? -1 : 1;
}
