/** Questions that only a person may answer: by a flag, or at a prompt. */
import { quoteWords } from "../../core/brief/quote.ts";
import { plainRefusal } from "../../core/brief/stop.ts";
import { WritError } from "../../core/error.ts";
import type { ResumeWorld } from "./world.ts";

/** How often a prompt is repeated for an answer that is none. */
const TRIES = 5;

type Question<T> = {
  /** The word of the question: "spec". */
  readonly name: string;
  /** The flag that answers it, with its value: "--spec <path>". */
  readonly flag: string;
  /** What the question is about; shown before it is asked. */
  readonly about: readonly string[];
  /** The flag's own answer; null where it was not given. */
  readonly given: T | null;
  /** What is asked at a terminal. */
  readonly prompt: string;
  /** An answer that was typed; null for one that is none. */
  readonly read: (typed: string) => T | null;
};

/**
 * The answer: the flag's, else the one that is typed.
 *
 * Errors: `answer_needed` where nobody can be asked
 * Source: flow state, section 12.12
 */
export function answerTo<T>(world: ResumeWorld, question: Question<T>): T {
  const { name, flag, about, given, prompt, read } = question;
  if (given !== null) return given;
  for (const line of about) world.say(line);
  for (let tries = 0; tries < TRIES; tries++) {
    const typed = world.ask(`${prompt} `);
    if (typed === null) break;
    const answer = read(typed.trim());
    if (answer !== null) return answer;
  }
  throw plainRefusal("answer_needed", `Answer needed: ${name} (${flag})`, {
    hint: ["writ resume", quoteWords(world.typed), flag].filter((part) => part !== "").join(" "),
    details: about,
  });
}

/** One of several paths. Errors: `answer_needed`; `usage` for a flag that names none of them */
export function choosePath(
  world: ResumeWorld,
  {
    name,
    flag,
    paths,
    given,
    about,
  }: {
    readonly name: string;
    readonly flag: string;
    readonly paths: readonly string[];
    readonly given: string | null;
    readonly about: readonly string[];
  },
): string {
  const named = given === null ? null : (world.realPath(world.resolve(world.cwd, given)) ?? given);
  const chosen = paths.find((path) => (world.realPath(path) ?? path) === named) ?? null;
  if (given !== null && chosen === null) {
    throw new WritError("usage", `${flag.split(" ")[0]} is one of what was found, not "${given}"`, { lines: paths });
  }
  return answerTo(world, {
    name,
    flag,
    about: [...about, ...paths.map((path, index) => `${index + 1}. ${path}`)],
    given: chosen,
    prompt: `Which ${name}? (1-${paths.length})`,
    read: (typed) => (/^\d{1,6}$/.test(typed) ? (paths[Number(typed) - 1] ?? null) : null),
  });
}
