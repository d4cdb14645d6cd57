/**
 * Text from strangers on its way to a terminal.
 *
 * A command, a model or another machine may print sequences that move the cursor, set the title or turn
 * the reading direction. A person reads stripped text; JSON keeps its value and gets escapes instead.
 */

const ESCAPE = 0x1b;
const BELL = 0x07;
const CANCEL = 0x18;
const SUBSTITUTE = 0x1a;
const STRING_TERMINATOR = 0x9c;

/** Controls but newline and tab, DEL, C1, and all that is invisible or turns the reading direction. */
const UNSAFE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/;
const UNSAFE_ALL = new RegExp(UNSAFE.source, "g");

/**
 * The text without anything a terminal would obey or hide: escape sequences go whole, other controls one by one.
 *
 * Newline and tab stay; a carriage return goes. A string sequence (OSC, DCS, APC, PM, SOS) goes with its content
 * only when it is closed on its own line; one left open loses its introducer, so that no text can be hidden.
 * Time is linear in the text.
 *
 * Errors: none, whatever the text
 * Source: ECMA-48 5.4 (control sequences), 5.6 (control strings); Unicode 17 23.2 (layout controls)
 */
export function stripControls(text: string): string {
  return UNSAFE.test(text) ? stripSequences(text).replace(UNSAFE_ALL, "") : text;
}

/**
 * The text without escape sequences; single controls stay, for whoever shows them as signs.
 *
 * Errors: none, whatever the text
 */
export function stripSequences(text: string): string {
  if (!UNSAFE.test(text)) return text;
  let kept = "";
  let from = 0;
  let at = 0;
  while (at < text.length) {
    const end = sequenceEnd(text, at);
    if (end === at) {
      at += 1;
      continue;
    }
    kept += text.slice(from, at);
    at = end;
    from = end;
  }
  return kept + text.slice(from);
}

/**
 * The text with each control and each invisible character replaced: by what `sign` makes of it.
 *
 * @param sign gets one character, which may be a surrogate pair
 * Errors: none of its own
 */
export function replaceControls(text: string, sign: (found: string, at: number) => string): string {
  return UNSAFE.test(text) ? text.replace(UNSAFE_ALL, sign) : text;
}

/**
 * The JSON text with those characters as `\u` escapes: it parses to the same value and cannot move a cursor.
 *
 * @param json valid JSON text; blanks between its tokens stay, but for carriage returns, which go
 * Errors: none
 */
export function escapeControls(json: string): string {
  if (!UNSAFE.test(json)) return json;
  return json.replace(UNSAFE_ALL, (found) => {
    // Valid JSON holds a raw carriage return between tokens only.
    if (found === "\r") return "";
    let escaped = "";
    for (let index = 0; index < found.length; index++) {
      escaped += `\\u${found.charCodeAt(index).toString(16).padStart(4, "0")}`;
    }
    return escaped;
  });
}

/** Where the escape sequence that starts at `at` ends; `at` itself when none starts there. */
function sequenceEnd(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code === ESCAPE) {
    const next = text.charCodeAt(at + 1);
    if (next === 0x5b) return controlSequenceEnd(text, at + 2);
    if (opensString(next + 0x40)) return stringEnd(text, at + 2, next === 0x5d);
    const end = skip(text, at + 1, 0x20, 0x2f);
    const final = text.charCodeAt(end);
    return final >= 0x30 && final <= 0x7e ? end + 1 : end;
  }
  if (code === 0x9b) return controlSequenceEnd(text, at + 1);
  if (opensString(code)) return stringEnd(text, at + 1, code === 0x9d);
  return at;
}

/** DCS, SOS, OSC, PM and APC, by their C1 codes. */
function opensString(code: number): boolean {
  return code === 0x90 || code === 0x98 || code === 0x9d || code === 0x9e || code === 0x9f;
}

function controlSequenceEnd(text: string, at: number): number {
  const end = skip(text, skip(text, at, 0x30, 0x3f), 0x20, 0x2f);
  const final = text.charCodeAt(end);
  return final >= 0x40 && final <= 0x7e ? end + 1 : end;
}

/**
 * Where a control string ends whose content starts at `at`; `at` when it is not closed on its line.
 * Any other control ends the search: no character is looked at by more than one search, so hostile text stays linear.
 */
function stringEnd(text: string, at: number, bellCloses: boolean): number {
  for (let index = at; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code >= 0x20 && code < 0x7f) continue;
    if (code === STRING_TERMINATOR || code === CANCEL || code === SUBSTITUTE) return index + 1;
    if (code === BELL && bellCloses) return index + 1;
    if (code === ESCAPE && text.charCodeAt(index + 1) === 0x5c) return index + 2;
    if (code <= 0x9f) return at;
  }
  return at;
}

function skip(text: string, at: number, low: number, high: number): number {
  let index = at;
  while (text.charCodeAt(index) >= low && text.charCodeAt(index) <= high) index += 1;
  return index;
}
