/**
 * Finds the operators between the commands of a shell text, as a POSIX shell reads it: none within quotes, behind a
 * backslash, in `$( )`, `${ }` or backticks, or in a comment. It does not parse the commands themselves.
 */

export type Operator = {
  readonly text: "||" | "|&" | "|" | "&&" | "&" | ";" | "\n";
  /** Where it begins and ends, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
};

const TWO_CHARACTERS = ["||", "|&", "&&"] as const;
const ONE_CHARACTER = ["|", "&", ";", "\n"] as const;

/** What an open context ends in; `"` also stands for a double-quoted text, where single quotes mean nothing. */
type Closer = '"' | ")" | "}" | "`";

/**
 * The operators of a text in order, and where its last command ends.
 *
 * A newline behind an operator that goes on in the next line (`|`, `&&`) is none, nor is a `;` or newline with nothing
 * behind it: both separate nothing. `end` stands before these. A final `&` is an operator.
 *
 * Errors: none; what an open quote or substitution holds has no operators. Linear in the text.
 * Source: POSIX.1-2024, Shell Command Language 2.2, 2.3, 2.10
 */
export function readOperators(text: string): { readonly operators: readonly Operator[]; readonly end: number } {
  const operators: Operator[] = [];
  const open: Closer[] = [];
  let at = 0;
  while (at < text.length) {
    const char = text.charAt(at);
    const within = open.at(-1);

    if (char === "\\") {
      at += 2;
    } else if (char === within) {
      open.pop();
      at++;
    } else if (char === "$" && (text.charAt(at + 1) === "(" || text.charAt(at + 1) === "{")) {
      open.push(text.charAt(at + 1) === "(" ? ")" : "}");
      at += 2;
    } else if (char === "`" || char === '"') {
      // Within backticks, quotes do not hide the closing backtick.
      if (within !== "`") open.push(char);
      at++;
    } else if (within === '"') {
      at++;
    } else if (char === "'" && within !== "`") {
      at = singleQuoteEnd(text, at);
    } else if (within !== undefined) {
      // Parentheses of a subshell or of arithmetic within a substitution.
      if (char === "(" && within === ")") open.push(")");
      at++;
    } else if (char === "#" && beginsWord(text, at)) {
      const lineEnd = text.indexOf("\n", at);
      at = lineEnd === -1 ? text.length : lineEnd;
    } else {
      const operator = operatorAt(text, at);
      if (operator !== null && !goesOn(text, operators.at(-1), operator)) operators.push(operator);
      at = operator?.end ?? at + 1;
    }
  }
  return withoutIdleEnd(text, operators);
}

function operatorAt(text: string, start: number): Operator | null {
  for (const two of TWO_CHARACTERS) if (text.startsWith(two, start)) return { text: two, start, end: start + 2 };
  for (const one of ONE_CHARACTER) {
    if (text.charAt(start) !== one) continue;
    return isRedirection(text, start) ? null : { text: one, start, end: start + 1 };
  }
  return null;
}

/** An `&` beside `>` or `<`, and `>|`, say where output goes. */
function isRedirection(text: string, at: number): boolean {
  const before = text.charAt(at - 1);
  const behind = text.charAt(at + 1);
  if (text.charAt(at) === "|") return before === ">";
  return text.charAt(at) === "&" && [before, behind].some((char) => char === ">" || char === "<");
}

function goesOn(text: string, before: Operator | undefined, operator: Operator): boolean {
  if (operator.text !== "\n" || before === undefined) return false;
  if (before.text === ";" || before.text === "&" || before.text === "\n") return false;
  return text.slice(before.end, operator.start).trim() === "";
}

function singleQuoteEnd(text: string, start: number): number {
  if (text.charAt(start - 1) !== "$") {
    const close = text.indexOf("'", start + 1);
    return close === -1 ? text.length : close + 1;
  }
  // `$'…'` has escapes.
  let at = start + 1;
  while (at < text.length && text.charAt(at) !== "'") at += text.charAt(at) === "\\" ? 2 : 1;
  return at + 1;
}

function beginsWord(text: string, at: number): boolean {
  return at === 0 || /[\s;&|()]/.test(text.charAt(at - 1));
}

function withoutIdleEnd(text: string, operators: readonly Operator[]): ReturnType<typeof readOperators> {
  let count = operators.length;
  let end = text.length;
  for (;;) {
    while (end > 0 && /\s/.test(text.charAt(end - 1))) end--;
    const last = operators[count - 1];
    if (last === undefined || last.end < end) break;
    if (last.text === "\n") count--;
    else if (last.text === ";") {
      count--;
      end = last.start;
    } else break;
  }
  return { operators: operators.slice(0, count), end };
}
