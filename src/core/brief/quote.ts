/** Commands as they are printed for a person to type. */

const BARE = /^[A-Za-z0-9_./:@%+=,-]+$/;

/** The words of a command line, each quoted where a shell would read it otherwise. Source: flow state, section 1.3. */
export function quoteWords(words: readonly string[]): string {
  return words.map((word) => (BARE.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");
}
