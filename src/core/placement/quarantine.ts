/**
 * Places that answered about other documents than they were given: counted, and passed over for a while. As data: the
 * file that processes share is somebody else's.
 *
 * Instants are wall-clock milliseconds of this machine: they are compared with nobody else's.
 *
 * Source: delegation run, section 4.9
 */
import { parseJson } from "../json/parse.ts";
import { isArray, isObject, type JsonObject, prettyJson, valueAt } from "../json/value.ts";

export type PlaceMark = {
  /** Instants of the strikes that still count. */
  readonly strikes: readonly number[];
  /** null: not in quarantine. */
  readonly until: number | null;
};

/** By the place's name. */
export type Marks = Readonly<Record<string, PlaceMark>>;

export type QuarantineRules = {
  readonly strikes: number;
  readonly window_sec: number;
  readonly duration_sec: number;
};

const NO_MARK: PlaceMark = { strikes: [], until: null };

/** The marks after a place answered about the wrong documents once more. */
export function strikePlace(marks: Marks, place: string, now: number, rules: QuarantineRules): Marks {
  const mark = Object.hasOwn(marks, place) ? (marks[place] ?? NO_MARK) : NO_MARK;
  const strikes = [...mark.strikes.filter((at) => at > now - rules.window_sec * 1000 && at <= now), now];
  const isOver = strikes.length >= rules.strikes;
  const next = isOver ? { strikes: [], until: now + rules.duration_sec * 1000 } : { ...mark, strikes };
  return { ...pruneMarks(marks, now, rules), [place]: next };
}

/** The marks after a place answered about the right documents. */
export function clearStrikes(marks: Marks, place: string, now: number, rules: QuarantineRules): Marks {
  const { [place]: mark, ...others } = marks;
  const kept = pruneMarks(others, now, rules);
  return mark?.until != null && mark.until > now ? { ...kept, [place]: { ...mark, strikes: [] } } : kept;
}

/** The places that are passed over now. */
export function quarantinedPlaces(marks: Marks, now: number): ReadonlySet<string> {
  return new Set(
    Object.entries(marks)
      .filter(([, { until }]) => until !== null && until > now)
      .map(([place]) => place),
  );
}

/** Without what has run out. */
export function pruneMarks(marks: Marks, now: number, rules: QuarantineRules): Marks {
  const kept = Object.entries(marks).flatMap(([place, { strikes, until }]): [string, PlaceMark][] => {
    const counting = strikes.filter((at) => at > now - rules.window_sec * 1000 && at <= now);
    const stays = until !== null && until > now ? until : null;
    return counting.length === 0 && stays === null ? [] : [[place, { strikes: counting, until: stays }]];
  });
  return Object.fromEntries(kept);
}

/** Reads the file's text; null where it is none of ours. */
export function parseMarks(text: string): Marks | null {
  const parsed = parseJson(text);
  if (!parsed.ok || !isObject(parsed.value) || valueAt(parsed.value, "schema_version") !== 1) return null;
  const places = valueAt(parsed.value, "places");
  if (!isObject(places)) return null;
  const marks: [string, PlaceMark][] = [];
  for (const [place, mark] of Object.entries(places)) {
    const strikes = isObject(mark) ? valueAt(mark, "strikes") : undefined;
    const until = isObject(mark) ? (valueAt(mark, "until") ?? null) : undefined;
    if (!isArray(strikes) || (until !== null && typeof until !== "number")) return null;
    marks.push([place, { strikes: strikes.filter((at) => typeof at === "number"), until }]);
  }
  return Object.fromEntries(marks);
}

export function renderMarks(marks: Marks): string {
  return `${prettyJson({ schema_version: 1, places: marks as unknown as JsonObject })}\n`;
}
