/**
 * Output of a model that is broken, such as one that was loaded wrongly: one byte over and over.
 *
 * Source: delegation run, section 5.5
 */
import { utf8Length } from "../utf8.ts";

const LONG_RUN = 200;
const SHORT_RUN = 20;

/**
 * What is degenerate in a text; null where it is sound. A run of one byte that is no white space is: of 200 or more, or
 * of 20 or more that fills more than half of the text.
 *
 * Errors: none; time is linear in the text
 */
export function degenerateRun(text: string): string | null {
  const answer = text.trim();
  let longest = 0;
  let byte = 0;
  let run = 0;
  let before = Number.NaN;
  for (let at = 0; at < answer.length; at += 1) {
    const unit = answer.charCodeAt(at);
    run = unit === before ? run + 1 : 1;
    // Of a character of several bytes no byte stands twenty times in a row.
    before = unit < 0x80 ? unit : Number.NaN;
    if (run > longest && !isSpace(unit)) {
      longest = run;
      byte = unit;
    }
  }
  if (longest < LONG_RUN && !(longest >= SHORT_RUN && longest * 2 > utf8Length(answer))) return null;
  return `one byte (0x${byte.toString(16).padStart(2, "0")}) stands ${longest} times in a row`;
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
}
