/**
 * Finds the runs that a cited command names: exactly as run, by text or by words, after redaction.
 *
 * A record may hold thousands of runs and an envelope as many citations, so runs are looked up by key, and what is made
 * of a command is kept.
 */
import { type SearchableOutput, searchableOutput } from "./excerpt.ts";
import { redact, type ValueRedactor } from "./redact.ts";
import type { RecordedRun } from "./tool-record.ts";
import { splitWords } from "./words.ts";

/** The runs of one cited command, oldest first, never empty. */
export type CommandRuns<Run extends RecordedRun> = {
  readonly runs: readonly Run[];
  /** The distinct outputs among them, made on first use. */
  outputs: readonly SearchableOutput[] | null;
};

/** The distinct outputs of the runs of a command, made once. */
export function outputsOf(found: CommandRuns<RecordedRun>): readonly SearchableOutput[] {
  if (found.outputs === null) {
    const distinct = new Map<string, RecordedRun>();
    for (const run of found.runs) {
      distinct.set(JSON.stringify([run.output, run.tail ?? null, run.truncated, run.ordered ?? true]), run);
    }
    found.outputs = [...distinct.values()].map(searchableOutput);
  }
  return found.outputs;
}

// How many recorded commands are compared, over all hints of one check, before only the newest are.
const NEAREST_BUDGET = 100_000;
const NEAREST_NEWEST = 50;
const NEAREST_CHARACTERS = 160;

/** The runs of a record by command and by words, so that each citation is looked up, not searched for. */
export class RunIndex<Run extends RecordedRun> {
  readonly count: number;
  readonly #record: readonly Run[];
  readonly #values: ValueRedactor | null;
  /** Places in the record, ascending and never none, by trimmed command and by the JSON text of the words. */
  readonly #byCommand = new Map<string, number[]>();
  readonly #byWords = new Map<string, number[]>();
  /** What `find` found, by what was cited, and by which lists of places it comes from: many texts can name one run. */
  readonly #found = new Map<string, CommandRuns<Run> | null>();
  readonly #merged = new Map<string, CommandRuns<Run>>();
  readonly #names = new Map<readonly number[], number>();
  readonly #nearest = new Map<string, string>();
  /** The distinct commands, the newest first. */
  #candidates: readonly string[] | null = null;
  #budget = NEAREST_BUDGET;

  constructor(record: readonly Run[], values: ValueRedactor | null) {
    this.count = record.length;
    this.#record = record;
    this.#values = values;
    for (const [place, run] of record.entries()) {
      append(this.#byCommand, run.command.trim(), place);
      if (run.argv) append(this.#byWords, JSON.stringify(run.argv), place);
    }
  }

  /** The runs that a cited command names, or null. */
  find(command: string): CommandRuns<Run> | null {
    const cited = command.trim();
    const known = this.#found.get(cited);
    if (known !== undefined) return known;
    const redacted = redact(cited, "command", this.#values);
    const lists = new Set<readonly number[]>();
    const collect = (list: readonly number[] | undefined): void => {
      if (list !== undefined) lists.add(list);
    };
    for (const text of new Set([cited, redacted])) {
      collect(this.#byCommand.get(text.trim()));
      collect(this.#byWords.get(JSON.stringify(splitWords(text))));
    }
    if (redacted !== cited) {
      // A mark is no plain word to a shell: `cmd [REDACTED]` cannot be split, `cmd <secret>` can, word by word.
      const words = splitWords(cited)?.map((word) => redact(word, "command", this.#values));
      collect(this.#byWords.get(JSON.stringify(words ?? null)));
    }
    const found = lists.size === 0 ? null : this.#merge([...lists]);
    this.#found.set(cited, found);
    return found;
  }

  #nameOf(list: readonly number[]): number {
    const name = this.#names.get(list) ?? this.#names.size;
    this.#names.set(list, name);
    return name;
  }

  #merge(lists: readonly (readonly number[])[]): CommandRuns<Run> {
    const key = lists.map((list) => this.#nameOf(list)).join();
    const known = this.#merged.get(key);
    if (known !== undefined) return known;
    const places = [...new Set(lists.flat())].sort((left, right) => left - right);
    const merged = { runs: places.map((place) => this.#record[place] as Run), outputs: null };
    this.#merged.set(key, merged);
    return merged;
  }

  /** The recorded command most like the cited one, as recorded; the newest of equals. Null when nothing ran. */
  nearest(command: string): string | null {
    const known = this.#nearest.get(command);
    if (known !== undefined) return known;
    this.#candidates ??= [...new Set(this.#record.map((run) => run.command).reverse())];
    const reach = this.#budget > 0 ? this.#candidates : this.#candidates.slice(0, NEAREST_NEWEST);
    this.#budget -= reach.length;
    const cited = new Map(pairsOf(command).map((pair) => [pair, -1]));
    let best: string | null = null;
    let bestLikeness = -1;
    for (const [place, candidate] of reach.entries()) {
      const likeness = likenessOf(cited, candidate, place);
      if (likeness <= bestLikeness) continue;
      best = candidate;
      bestLikeness = likeness;
    }
    if (best !== null) this.#nearest.set(command, best);
    return best;
  }
}

function append(lists: Map<string, number[]>, key: string, place: number): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [place]);
  else list.push(place);
}

/** The pairs of neighbouring characters at the start of a command, each as one number. */
function pairsOf(command: string): readonly number[] {
  const text = ` ${command.trim().slice(0, NEAREST_CHARACTERS)} `;
  return Array.from({ length: text.length - 1 }, (_, at) => text.charCodeAt(at) * 0x1_0000 + text.charCodeAt(at + 1));
}

/**
 * From 0 (no pair of characters in common) to 1 (the same pairs).
 *
 * @param cited each pair of the cited command, with the place of the candidate that it was last counted for
 * Source: the coefficient of Dice, 1945
 */
function likenessOf(cited: Map<number, number>, candidate: string, place: number): number {
  const pairs = pairsOf(candidate);
  let common = 0;
  for (const pair of pairs) {
    const countedFor = cited.get(pair);
    if (countedFor === undefined || countedFor === place) continue;
    cited.set(pair, place);
    common++;
  }
  return (2 * common) / (cited.size + pairs.length);
}
