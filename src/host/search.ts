/**
 * Searching with a pattern from outside, bounded in time: the search runs in a worker, and a worker can be ended
 * whatever it is doing.
 */
import type { SearchOutcome, SearchRequest } from "../core/pattern/search.ts";

/** The longest that a search may take. Source: delegation run, section 5.3 */
const LIMIT_MS = 2000;

/**
 * Searches texts.
 *
 * @param signal  ends the search at once
 * @param limitMs another bound, for a test
 * @returns       what was found; `bad pattern: …`, or that it took too long
 * Errors:        none
 */
export async function searchFiles(
  request: SearchRequest,
  signal: AbortSignal,
  limitMs: number = LIMIT_MS,
): Promise<SearchOutcome> {
  if (signal.aborted) return GIVEN_UP;
  const worker = new Worker(workerPath());
  const { promise, resolve } = Promise.withResolvers<SearchOutcome>();
  const late = { ok: false, message: `the search timed out after ${limitMs / 1000} s; narrow the pattern` } as const;
  const timer = setTimeout(() => resolve(late), limitMs);
  const giveUp = () => resolve(GIVEN_UP);
  signal.addEventListener("abort", giveUp);
  worker.onmessage = ({ data }: MessageEvent<SearchOutcome>) => resolve(data);
  worker.onerror = (event) => {
    event.preventDefault();
    resolve({ ok: false, message: `the search failed: ${event.message}` });
  };
  worker.postMessage(request);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", giveUp);
    worker.terminate();
  }
}

const GIVEN_UP: SearchOutcome = { ok: false, message: "the search was given up" };

/** In the executable a worker is an entry point of its own, at the root of the files, as every module is. */
function workerPath(): string {
  const name = Bun.isStandaloneExecutable ? "./search-worker.js" : "./search-worker.ts";
  return new URL(name, import.meta.url).href;
}
