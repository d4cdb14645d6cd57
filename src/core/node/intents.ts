/**
 * The ledger of jobs that were handed to nodes: what may lie somewhere although nobody waits for it any more. Rows are
 * only ever appended.
 *
 * Source: delegation run, section 4.11
 */
import { parseJson } from "../json/parse.ts";
import { isObject, type JsonObject, valueAt } from "../json/value.ts";

export type IntentRow =
  | {
      readonly e: "try";
      readonly job: string;
      readonly url: string;
      readonly node: string;
      readonly sha: string;
      /** The beginning of the goal, 120 characters at most. */
      readonly goal120: string;
      /** Seconds since the epoch, of this machine. */
      readonly unix: number;
      readonly pid: number;
      readonly pid_start: string;
      /** The delegation and the leg of it, from 0; left out by older rows. */
      readonly run?: string;
      readonly leg?: number;
    }
  | { readonly e: "open"; readonly job: string }
  | { readonly e: "close"; readonly job: string; readonly note: string };

export type OpenIntent = Extract<IntentRow, { e: "try" }> & {
  /** The node acknowledged it. */
  readonly is_owned: boolean;
};

/** The text of a row, one line. */
export function renderIntent(row: IntentRow): string {
  return `${JSON.stringify(row)}\n`;
}

/**
 * The jobs whose last row does not close them, in the order in which they were tried. A line that is none (a process died
 * while it wrote) is passed over.
 *
 * Errors: none, whatever the text
 */
export function openIntents(texts: readonly string[]): readonly OpenIntent[] {
  const open = new Map<string, OpenIntent>();
  for (const line of texts.flatMap((text) => text.split("\n"))) {
    const row = readRow(line);
    if (row === null) continue;
    const known = open.get(row.job);
    if (row.e === "try") open.set(row.job, { ...row, is_owned: false });
    else if (row.e === "close") open.delete(row.job);
    else if (known !== undefined) open.set(row.job, { ...known, is_owned: true });
  }
  return [...open.values()];
}

/** A job that was tried; `closed` is the note of the row that closed it, null while none does. */
export type TriedJob = { readonly job: string; readonly closed: string | null };

/**
 * The jobs of one leg, in the order in which they were tried. Rows that do not say whose they are are nobody's.
 *
 * Errors: none, whatever the text
 */
export function jobsOfLeg(texts: readonly string[], run: string, leg: number): readonly TriedJob[] {
  const jobs = new Map<string, TriedJob>();
  for (const line of texts.flatMap((text) => text.split("\n"))) {
    const row = readRow(line);
    if (row?.e === "try" && row.run === run && row.leg === leg) jobs.set(row.job, { job: row.job, closed: null });
    if (row?.e === "close" && jobs.has(row.job)) jobs.set(row.job, { job: row.job, closed: row.note });
  }
  return [...jobs.values()];
}

function readRow(line: string): IntentRow | null {
  if (line === "") return null;
  const parsed = parseJson(line);
  if (!parsed.ok || !isObject(parsed.value)) return null;
  const object = parsed.value;
  const e = textOf(object, "e");
  const job = textOf(object, "job");
  if (job === "") return null;
  if (e === "open") return { e, job };
  if (e === "close") return { e, job, note: textOf(object, "note") };
  if (e !== "try") return null;
  return {
    e,
    job,
    url: textOf(object, "url"),
    node: textOf(object, "node"),
    sha: textOf(object, "sha"),
    goal120: textOf(object, "goal120"),
    unix: numberOf(object, "unix"),
    pid: numberOf(object, "pid"),
    pid_start: textOf(object, "pid_start"),
    ...(typeof valueAt(object, "run") === "string" ? { run: textOf(object, "run") } : {}),
    ...(typeof valueAt(object, "leg") === "number" ? { leg: numberOf(object, "leg") } : {}),
  };
}

function textOf(object: JsonObject, key: string): string {
  const value = valueAt(object, key);
  return typeof value === "string" ? value : "";
}

function numberOf(object: JsonObject, key: string): number {
  const value = valueAt(object, key);
  return typeof value === "number" ? value : 0;
}

/** An intent that is older is closed unasked. */
export const INTENT_AGE_SEC = 48 * 3600;

/** The ledger as the delegator uses it. A row is on disk when the call returns. */
export type IntentLedger = {
  /** False: it could not be written; the call goes on, and says so. */
  append(row: IntentRow): boolean;
};
