/**
 * Reads a text for whether it states an outcome ("all tests pass", "✓", "12 passed, 0 failed") rather than naming a
 * command. Case, punctuation, emphasis, markup and spacing do not count; words do.
 */
import type { JsonValue } from "../json/value.ts";

const INVISIBLE = /[\ufe0e\ufe0f\u200b-\u200d\u2060\ufeff\u00ad]/g;
const PASS_MARKS = /[\u2713\u2714\u2705\u2611\u{1f5f8}\u221a]/gu;
const FAIL_MARKS = /[\u2717\u2718\u274c\u274e\u2715\u2716\u2612\u00d7]/gu;
const MARKUP_TAG = /<\/?[a-z][^<>]*>/g;
const NOT_WORD = /[^\p{L}\p{N}]+/u;

// U+FF9E and U+FF9F are letters that NFKC turns into combining marks.
const LONG_MARK_RUN = /[\p{M}\uff9e\uff9f]{30}/gu;

const VERDICT_WORDS = wordSet(
  "pass passed passes passing ok okay success successes successful successfully succeeded succeeds green verified",
  "confirmed lgtm",
  "fail failed fails failing failure failures error errors errored red broken",
);

const NEUTRAL_WORDS = wordSet(
  "a all and are at checks check count done complete completed every everything for in is it no none of on out result",
  "results run runs ran skip skipped skips pending todo xfailed xpassed flaky deselected warning warnings suite suites",
  "spec specs step steps test tests time total was were with zero assertion assertions case cases seconds second sec",
  "secs minutes minute min mins ms",
);

const NUMBER = /^[0-9]+(?:s|ms|m|h|x|k|st|nd|rd|th)?$/;

function wordSet(...lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.join(" ").split(" "));
}

/**
 * The words of a text as verdicts are read: pass and fail marks as words, compatibility forms folded, lower case, link
 * targets and markup tags gone, split at everything that is neither a letter nor a digit. May be empty.
 */
export function verdictTokens(text: string): readonly string[] {
  const marked = text.replace(INVISIBLE, "").replace(PASS_MARKS, " pass ").replace(FAIL_MARKS, " fail ");
  // Normalising sorts each run of combining marks by insertion: without a break (UAX #15, Stream-Safe Text Format) a
  // long run takes time in the square of its length.
  const folded = marked.replace(LONG_MARK_RUN, "$&\u034f").normalize("NFKC").toLowerCase();
  return withoutLinkTargets(folded)
    .replace(MARKUP_TAG, " ")
    .split(NOT_WORD)
    .filter((token) => token !== "");
}

/** True for a text that states an outcome, and for one of numbers or punctuation alone. */
export function isVerdict(text: string): boolean {
  const tokens = verdictTokens(text);
  let verdicts = 0;
  let numbers = 0;
  for (const token of tokens) {
    if (VERDICT_WORDS.has(token)) verdicts++;
    else if (NUMBER.test(token)) numbers++;
    else if (!NEUTRAL_WORDS.has(token)) return false;
  }
  return verdicts > 0 || numbers === tokens.length;
}

/** True for a string that says "pass" and nothing else; `passed`, `ok` and `true` are other results. */
export function readsPass(result: JsonValue | undefined): boolean {
  if (typeof result !== "string") return false;
  const tokens = verdictTokens(result);
  return tokens.length > 0 && tokens.every((token) => token === "pass");
}

/**
 * Takes the `(target)` out of Markdown links and images, also of an image within a link. The brackets may stay: they
 * are no word characters. One pass: each target ends at the first `)`, whose place is looked up once.
 */
function withoutLinkTargets(text: string): string {
  const kept: string[] = [];
  let keptTo = 0;
  let openBrackets = 0;
  let targetEnd = text.indexOf(")");
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === "[") openBrackets++;
    if (char !== "]" || openBrackets === 0) continue;
    openBrackets--;
    if (text.charAt(at + 1) !== "(") continue;
    if (targetEnd !== -1 && targetEnd <= at) targetEnd = text.indexOf(")", at);
    if (targetEnd === -1) break;
    kept.push(text.slice(keptTo, at + 1));
    at = targetEnd;
    keptTo = targetEnd + 1;
  }
  kept.push(text.slice(keptTo));
  return kept.join("");
}
