/**
 * White space as contracts and answers are judged by. JavaScript's `trim` differs twice: it takes U+FEFF and leaves
 * U+0085.
 */
const NOT_BLANK = /[^\u0009-\u000d\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

/** True when nothing but white space is in the text. Time is linear in the text. */
export function isBlank(text: string): boolean {
  return !NOT_BLANK.test(text);
}

/** The text without the white space at both its ends. Time is linear in the text. */
export function trimBlank(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charAt(start))) start += 1;
  while (end > start && isBlank(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}
