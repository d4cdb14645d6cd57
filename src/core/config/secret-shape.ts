/**
 * Whether what stands where the NAME of a variable is due is rather the secret itself. Many a token is a possible name too:
 * six of sixteen that `openssl rand -hex 24` makes begin with a letter. A name is made of words; what was drawn at random
 * changes between letters and digits, or between large and small ones, as no word does.
 */
import { redact } from "../record/redact.ts";

/** Below it, a value is no bearer that writ takes. */
const SHORTEST_PART = 16;
const LEAST_DIGITS = 2;
/** GPU_A100_H100: two of them in a part. */
const LETTER_DIGIT_CHANGES = 5;
const SHORTEST_MIXED = 20;
/** Of the places between two characters. Drawn at random from 62 it is two of three; in a name of many humps a third. */
const MIXED_SHARE = 0.4;

/** Errors: none. Time: linear in the name. */
export function looksLikeSecret(name: string): boolean {
  if (redact(name, "command") !== name) return true;
  return name.split("_").some(isDrawn) || isMixed(name.replaceAll("_", ""));
}

/** Hex digits, or letters and digits that take turns: a part of a name between its underscores. */
function isDrawn(part: string): boolean {
  if (part.length < SHORTEST_PART) return false;
  const digits = part.length - part.replaceAll(/[0-9]/g, "").length;
  if (/^[0-9a-f]+$/i.test(part) && digits >= LEAST_DIGITS) return true;
  return changes(part, (character) => /[0-9]/.test(character)) >= LETTER_DIGIT_CHANGES;
}

/** Base 64: small letters, large ones and digits in no order, whatever underscores are in it. */
function isMixed(letters: string): boolean {
  if (letters.length < SHORTEST_MIXED || !/[0-9][A-Za-z]/.test(letters)) return false;
  if (!/[a-z]/.test(letters) || !/[A-Z]/.test(letters)) return false;
  const kind = (character: string) => (/[0-9]/.test(character) ? 0 : /[a-z]/.test(character) ? 1 : 2);
  return changes(letters, kind) >= MIXED_SHARE * (letters.length - 1);
}

function changes<Kind>(text: string, kindOf: (character: string) => Kind): number {
  const kinds = [...text].map(kindOf);
  return kinds.filter((kind, at) => at > 0 && kind !== kinds[at - 1]).length;
}
