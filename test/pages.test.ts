/**
 * Every fenced block of every page: what can be typed here is typed and its output compared, and of what cannot, the
 * calls of writ must at least exist. A block is kept from being typed by a line `<!-- not run: REASON -->` above it, by
 * one of the two tables below, or because all that it does is to start a script of package.json.
 */
import { beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import manifest from "../package.json" with { type: "json" };
import { type Block, parseBlocks, shellText } from "../scripts/pages/page.ts";
import { listPages, proseOf, REPOSITORY, readPage, shellBlocks } from "../scripts/pages/pages.ts";
import { commandsOf, startsScripts } from "../scripts/pages/shell-commands.ts";
import { checkPage } from "../scripts/session.ts";
import { parseJson } from "../src/core/json/parse.ts";
import { faultOf } from "./support/shown-command.ts";

/** Pages whose blocks another test types, with what they need. */
const TYPED_ELSEWHERE: Readonly<Record<string, string>> = {
  "docs/hooks.md": "test/docs/hooks.test.ts: in a turn",
  "docs/scripted-seat.md": "test/docs/scripted-seat.test.ts: and looks at what the seat played",
  "skills/writ/SKILL.md": "test/cli/topic/skill.test.ts: in a turn, with a seat, in a git repository",
};

/** Pages whose blocks nobody types: what stands there is judged by its words alone. */
const NOT_TYPED: Readonly<Record<string, string>> = {
  "docs/reference/commands.md": "it is made from the declarations, and its examples are calls in no world",
};

const LANGUAGES = ["bash", "console", "ini", "json", "markdown", "powershell", "sh", "text", "ts", "yaml"];
const AT_ONCE = 3;
const LIMIT_MS = 180_000;

const pages = listPages();
const typedHere = pages.filter((page) => TYPED_ELSEWHERE[page] === undefined && NOT_TYPED[page] === undefined);

describe("what the pages show", () => {
  const results = new Map<string, Promise<readonly string[]>>();
  const toType = typedHere.filter((page) =>
    shellBlocks(readPage(page)).some((block) => block.notRun === null && !startsScripts(block.text)),
  );

  beforeAll(() => {
    const waiting = [...toType];
    const resolvers = new Map(
      toType.map((page) => {
        const { promise, resolve } = Promise.withResolvers<readonly string[]>();
        results.set(page, promise);
        return [page, resolve];
      }),
    );
    const work = async () => {
      for (let page = waiting.shift(); page !== undefined; page = waiting.shift()) {
        const problems = checkPage(join(REPOSITORY, page)).catch((error: unknown) => [String(error)]);
        resolvers.get(page)?.(await problems);
      }
    };
    for (let worker = 0; worker < AT_ONCE; worker++) void work();
  });

  test.each(toType)(
    "%s: every command that it shows prints what the page says, or ends in 0",
    async (page) => {
      expect(await results.get(page)).toEqual([]);
    },
    LIMIT_MS,
  );
});

describe.each(pages)("%s", (page) => {
  const text = readPage(page);

  test("shows calls that exist, with options that they have", async () => {
    const faults: string[] = [];
    for (const block of parseBlocks(text)) {
      for (const words of callsIn(block)) {
        const fault = await faultOf(words.slice(1), "whole");
        if (fault !== null) faults.push(`line ${block.line}: ${words.join(" ")}: ${fault}`);
      }
    }
    for (const words of mentionsIn(text)) {
      const fault = await faultOf(words.slice(1), "mention");
      if (fault !== null) faults.push(`${words.join(" ")}: ${fault}`);
    }
    expect(faults).toEqual([]);
  });

  test("starts no script that package.json does not have", () => {
    // What a session writes into a file belongs to a project of its own.
    const typed = shellBlocks(text)
      .map(shellText)
      .join("")
      .replaceAll(/<<'END'\n.*?\nEND\n/gs, "");
    const shown = `${proseOf(text)}${typed}`;
    const scripts = [...shown.matchAll(/\bnpm run ([\w:]+)/g)].map(([, name = ""]) => name);
    expect(scripts.filter((name) => !Object.hasOwn(manifest.scripts, name))).toEqual([]);
  });

  test("has blocks of known languages, and what a shell is given parses", () => {
    const blocks = parseBlocks(text);
    expect(blocks.map(({ language }) => language).filter((name) => !LANGUAGES.includes(name))).toEqual([]);
    const broken = shellBlocks(text).flatMap((block) => {
      const ran = Bun.spawnSync(["bash", "-n"], { stdin: Buffer.from(shellText(block)) });
      return ran.exitCode === 0 ? [] : [`line ${block.line}: ${ran.stderr}`];
    });
    expect(broken).toEqual([]);
  });
});

test("what the pages show as JSON is JSON: a value, the members of an object, or a value a line", () => {
  const isJson = (text: string) => parseJson(text).ok;
  const broken = pages.flatMap((page) =>
    parseBlocks(readPage(page))
      .filter(({ language }) => language === "json")
      .filter(({ text }) => !isJson(text) && !isJson(`{${text}}`) && !text.trimEnd().split("\n").every(isJson))
      .map(({ line }) => `${page}:${line}`),
  );
  expect(broken).toEqual([]);
});

/** The calls of writ in a block: of a shell, or in a unit of a service. */
function callsIn(block: Block): readonly (readonly string[])[] {
  const unit = block.text.matchAll(/^Exec\w+=(.*)$/gm);
  const text = block.kind === "text" ? [...unit].map(([, command]) => `${command}\n`).join("") : shellText(block);
  return commandsOf(text).filter(([program = ""]) => program === "writ" || program.endsWith("/writ"));
}

/** Calls in running text: code that begins with `writ` and a word of small letters. What may be left out is in brackets. */
function mentionsIn(page: string): readonly (readonly string[])[] {
  return [...proseOf(page).matchAll(/`(writ [a-z][^`]*)`/g)].flatMap(([, code = ""]) =>
    commandsOf(code.replaceAll("\\|", "|").replaceAll(/[[\]]/g, "").replaceAll("\n", " ")).filter(
      ([program]) => program === "writ",
    ),
  );
}

test("a text that is no shell's shows no call: what can be typed is typed", () => {
  const shown = pages
    .filter((page) => NOT_TYPED[page] === undefined)
    .flatMap((page) =>
      parseBlocks(readPage(page))
        .filter(({ kind, text }) => kind === "text" && /^(?:\$ )?writ /m.test(text))
        .map(({ line }) => `${page}:${line}`),
    );
  expect(shown).toEqual([]);
});

test("every block that is not typed says why, and every table above speaks of pages that are there", () => {
  const reasons = pages.flatMap((page) => shellBlocks(readPage(page)).flatMap(({ notRun }) => notRun ?? []));
  expect(reasons.filter((reason) => reason.length < 10)).toEqual([]);
  for (const page of [...Object.keys(TYPED_ELSEWHERE), ...Object.keys(NOT_TYPED)]) expect(pages).toContain(page);
});
