/**
 * The fenced blocks of a page, and what the comment above a block says of it. Pure.
 *
 * `<!-- new session -->` begins a new shell in a new folder: without it the blocks of a page are typed into one, from
 * top to bottom. `<!-- not run: REASON -->` keeps a block from being run; its commands must exist all the same.
 */

/** What a block is to a shell: a session with its output, a script that must end in 0, or neither. */
export type Kind = "console" | "script" | "text";

export type Block = {
  /** Line of the page that its first line of text is, from 1. */
  readonly line: number;
  readonly language: string;
  readonly kind: Kind;
  /** Without the fences; ends in a line feed unless it is empty. */
  readonly text: string;
  /** Where `text` stands in the page, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  /** Why it is not run, or null. */
  readonly notRun: string | null;
  readonly beginsSession: boolean;
};

/** A command of a console block with the lines under it. A command of several lines goes on with `> `. */
export type Step = { readonly typed: string; readonly command: string; readonly output: string };

const KINDS: Readonly<Record<string, Kind>> = { console: "console", sh: "script", bash: "script" };
const FENCE = /^( *)(`{3,})([^`\n]*)$/;
const NEW_SESSION = "<!-- new session -->";
const NOT_RUN = /^<!-- not run: (.+) -->$/;

/** Every fenced block in order. A fence that is never closed has what is behind it. */
export function parseBlocks(page: string): readonly Block[] {
  const blocks: Block[] = [];
  const lines = page.split("\n");
  let at = 0;
  let open: {
    readonly fence: string;
    readonly language: string;
    readonly start: number;
    readonly line: number;
  } | null = null;
  let notes: string[] = [];
  lines.forEach((line, index) => {
    const [, , fence = "", language = ""] = FENCE.exec(line) ?? [];
    if (open === null && fence !== "") {
      open = { fence, language: language.trim(), start: at + line.length + 1, line: index + 2 };
    } else if (open !== null && fence === open.fence && language === "") {
      blocks.push(blockOf(open, page.slice(open.start, at), at, notes));
      open = null;
      notes = [];
    } else if (open === null) {
      notes = line.startsWith("<!--") ? [...notes, line] : [];
    }
    at += line.length + 1;
  });
  return blocks;
}

function blockOf(
  { language, start, line }: { readonly language: string; readonly start: number; readonly line: number },
  text: string,
  end: number,
  notes: readonly string[],
): Block {
  const reason = notes.map((note) => NOT_RUN.exec(note)?.[1]).find((found) => found !== undefined);
  return {
    line,
    language,
    kind: KINDS[language] ?? "text",
    text,
    start,
    end,
    notRun: reason ?? null,
    beginsSession: notes.includes(NEW_SESSION),
  };
}

/** The commands of a console block. Lines above the first `$ ` are a step without a command. */
export function parseSteps(block: string): readonly Step[] {
  const steps: Step[] = [];
  for (const part of block.split(/^(?=\$ )/m)) {
    const lines = part.split("\n");
    let count = 1;
    while (lines[count]?.startsWith("> ") || lines[count] === ">") count++;
    const typed = lines.slice(0, count);
    const command = typed.map((line) => line.slice(2)).join("\n");
    steps.push({ command, typed: `${typed.join("\n")}\n`, output: lines.slice(count).join("\n") });
  }
  return steps;
}

/** What a shell is given of a block: the commands of a session, or the script. */
export function shellText(block: Block): string {
  if (block.kind !== "console") return block.text;
  return parseSteps(block.text)
    .map(({ command }) => `${command}\n`)
    .join("");
}
