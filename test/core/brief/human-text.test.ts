import { expect, test } from "bun:test";
import fc from "fast-check";
import { gatherText, type HumanOptions, unfaithful } from "../../../src/core/brief/human-text.ts";
import { parseBrief, processSection } from "../../../src/core/brief/parse.ts";
import { quoteWords } from "../../../src/core/brief/quote.ts";
import { renderBrief, renderCore } from "../../../src/core/brief/render.ts";
import { aBrief, aProcess } from "../../support/flow.ts";

const NOTHING: HumanOptions = { title: null, intent: null, decisions: [], questions: [], skills: [] };
const NO_REPO = { kind: "not-a-git-repo", reason: null, fields: null } as const;

test("options replace title and intent of a file, and come behind the rest", () => {
  const from = "# Handoff: a\n\n## Intent\nb\n\n## Decisions\n- c\n- rejected: d\n\n## Open questions\n- e\n";
  const gathered = gatherText(from, {
    title: "A",
    intent: "\n\nB\r\n\n",
    decisions: [
      { text: "f\n\n g", rejected: false },
      { text: "rejected: h", rejected: false },
      { text: " ", rejected: true },
    ],
    questions: ["i"],
    skills: ["s", "s"],
  });
  expect(gathered?.text).toEqual({
    title: "A",
    intent: "B",
    decisions: [
      { text: "c", rejected: false },
      { text: "d", rejected: true },
      { text: "f\n g", rejected: false },
      { text: "h", rejected: true },
    ],
    open_questions: ["e", "i"],
    skills: ["s"],
  });
});

test("a text that is taken is read back from a brief as it was", () => {
  const anyText = fc.array(
    fc.oneof(fc.string({ maxLength: 12 }), fc.constantFrom("## Decisions", "```", "- x", "", "none")),
    { maxLength: 4 },
  );
  const lines = anyText.map((parts) => parts.join("\n"));
  fc.assert(
    fc.property(lines, lines, lines, lines, (title, intent, decision, question) => {
      const options = {
        ...NOTHING,
        title: title.replace(/[\n\r]/g, " "),
        intent,
        decisions: [{ text: decision, rejected: false }],
        questions: [question],
      };
      const text = gatherText(null, options)?.text;
      if (text === undefined || unfaithful(text) !== null) return;
      const { process, repo_state, ...back } = parseBrief(renderCore({ ...text, repo_state: NO_REPO })).brief ?? {
        process: null,
        repo_state: null,
      };
      expect({ process, repo_state, back }).toEqual({ process: null, repo_state: NO_REPO, back: text });
    }),
    { numRuns: 500 },
  );
});

test("gatherText() returns on any file", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 200 }), (from) => {
      const gathered = gatherText(from, NOTHING);
      expect(gathered === null || Array.isArray(gathered.text.decisions)).toBe(true);
    }),
  );
});

test("the digest of a process state is taken of its section alone, whatever a person adds around it", () => {
  fc.assert(
    fc.property(aBrief, aProcess, (brief, process) => {
      const text = renderBrief({ ...brief, process });
      const section = processSection(text);
      expect(section).not.toBeNull();
      expect(processSection(text.replace("## Intent\n", "## Intent\nand more\n"))).toBe(section);
      expect(processSection(`${text}\n\n`)).toBe(section);
      expect(processSection(`${text}## Notes\nx\n`)).toBe(section);
      expect(processSection(text.replaceAll("\n", "\r\n"))).toBe(section);
      expect(processSection(text.replace("Gate history", "Gates"))).not.toBe(section);
      expect(processSection(renderBrief({ ...brief, process: null }))).toBeNull();
    }),
  );
});

test.each([
  { words: ["a", "/b.md", "x=1,2"], text: "a /b.md x=1,2" },
  { words: ["a b", "it's", "", "é"], text: "'a b' 'it'\\''s' '' 'é'" },
])("quoteWords() of $words", ({ words, text }) => {
  expect(quoteWords(words)).toBe(text);
  const shell = Bun.spawnSync(["sh", "-c", `printf '%s\\n' ${text}`]);
  expect(shell.stdout.toString()).toBe(words.map((word) => `${word}\n`).join(""));
});
