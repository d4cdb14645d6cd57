/**
 * The simple commands of a shell text, as words, without running it: what stands in pipes, behind `&&`, in `$(...)`, in a
 * loop. Enough of the shell's grammar for pages; `bash -n` is the judge of the rest. Pure, one pass.
 */

/** Words that open or close something, behind which a command may stand. */
const RESERVED: ReadonlySet<string> = new Set([
  "if",
  "then",
  "elif",
  "else",
  "fi",
  "while",
  "until",
  "do",
  "done",
  "!",
  "{",
  "}",
  "time",
  "exec",
]);
const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*\+?=/;

/** Each simple command once, those inside of `$(...)` behind the one that they stand in. Expansions stay as they are typed. */
export function commandsOf(text: string): readonly (readonly string[])[] {
  const commands: string[][] = [];
  const inner: string[] = [];
  let words: string[] = [];
  let word: string | null = null;
  /** The next word is the target of a redirection. */
  let target = false;
  const heredocs: string[] = [];
  let index = 0;

  const add = (piece: string) => {
    word = (word ?? "") + piece;
  };
  const endWord = () => {
    if (word === null) return;
    if (!target) words.push(word);
    target = false;
    word = null;
  };
  const endCommand = () => {
    endWord();
    while (words[0] !== undefined && (RESERVED.has(words[0]) || ASSIGNMENT.test(words[0]))) words.shift();
    if (words.length > 0) commands.push(words);
    words = [];
    target = false;
  };
  /** Takes a `$(...)` that begins here as a piece of the word; what is in it is looked at by itself. */
  const substitution = () => {
    const end = closing(text, index + 2);
    inner.push(text.slice(index + 2, end));
    add(text.slice(index, end + 1));
    index = end + 1;
  };

  while (index < text.length) {
    const char = text[index] ?? "";
    if (char === "\\") {
      if (text[index + 1] !== "\n") add(text[index + 1] ?? "");
      index += 2;
    } else if (char === "'") {
      const end = endOf(text, "'", index + 1);
      add(text.slice(index + 1, end));
      index = end + 1;
    } else if (char === '"') {
      add("");
      index++;
      while (index < text.length && text[index] !== '"') {
        if (text.startsWith("$(", index)) substitution();
        else {
          if (text[index] === "\\") index++;
          add(text[index] ?? "");
          index++;
        }
      }
      index++;
    } else if (text.startsWith("$((", index)) {
      const end = endOf(text, "))", index + 3);
      add(text.slice(index, end + 2));
      index = end + 2;
    } else if (text.startsWith("$(", index)) {
      substitution();
    } else if (char === "#" && word === null) {
      index = endOf(text, "\n", index);
    } else if (text.startsWith("<<", index)) {
      endWord();
      const [whole = "<<", mark = ""] = /^<<-?\s*['"]?(\w*)['"]?/.exec(text.slice(index, index + 80)) ?? [];
      heredocs.push(mark);
      index += whole.length;
    } else if (char === ">" || char === "<") {
      // A number that touches it is a descriptor.
      if (word !== null && /^\d+$/.test(word)) word = null;
      endWord();
      const [whole = char] = /^(?:>>|>&\d|<&\d|>|<)/.exec(text.slice(index, index + 4)) ?? [];
      target = !/\d$/.test(whole);
      index += whole.length;
    } else if (char === "\n") {
      endCommand();
      index++;
      for (const mark of heredocs.splice(0)) index = behindHeredoc(text, mark, index);
    } else if (char === ";" || char === "&" || char === "|" || char === "(" || char === ")") {
      endCommand();
      index++;
    } else if (char === " " || char === "\t") {
      endWord();
      index++;
    } else {
      add(char);
      index++;
    }
  }
  endCommand();
  return [...commands, ...inner.flatMap(commandsOf)];
}

/** Whether all that a text does is to start scripts of package.json: for developers, and for minutes. */
export function startsScripts(text: string): boolean {
  return commandsOf(text).every(([program, verb]) => program === "npm" && (verb === "run" || verb === "test"));
}

/** Where the text begins that is looked for, or the end. */
function endOf(text: string, what: string, from: number): number {
  const found = text.indexOf(what, from);
  return found < 0 ? text.length : found;
}

/** The `)` that closes a `$(`, quotes passed over. */
function closing(text: string, from: number): number {
  let depth = 1;
  let index = from;
  for (; index < text.length; index++) {
    const char = text[index];
    if (char === "'") index = endOf(text, "'", index + 1);
    else if (char === "\\") index++;
    else if (char === "(") depth++;
    else if (char === ")" && --depth === 0) return index;
  }
  return index;
}

function behindHeredoc(text: string, mark: string, from: number): number {
  let at = from;
  while (at < text.length) {
    const end = endOf(text, "\n", at);
    const line = text.slice(at, end);
    at = end + 1;
    if (line === mark) return at;
  }
  return text.length;
}
