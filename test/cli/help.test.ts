import { describe, expect, test } from "bun:test";
import { defineCommand } from "../../src/cli/command.ts";
import { renderCommandHelp, renderGroupHelp, renderTopHelp } from "../../src/cli/help.ts";
import type { Face, Nodes, Topics } from "../../src/cli/node.ts";
import { plainLook } from "../../src/cli/page.ts";
import { EXAMPLES, FACES, TOPICS, TREE } from "../../src/cli/tree.ts";
import { runWrit } from "../support/writ.ts";

const probe = defineCommand({
  meta: { name: "record probe", description: "Probe what happens where the words of a line do not fit into it" },
  args: {
    field: { type: "positional", required: true, description: "The field" },
    more: { type: "positional", multiple: true, description: "Further fields" },
    "draft-id": { type: "string", alias: ["contract-id", "d"], valueHint: "ID", description: "The draft" },
    limit: { type: "string", default: "20", description: "At most this many" },
    kind: { type: "enum", options: ["open", "closed"], required: true },
    state: { type: "enum", options: ["IN_PROGRESS", "NEEDS_INPUT", "COMPLETE"], description: "Its state" },
    tag: { type: "string", multiple: true, description: "A tag" },
    progress: { type: "boolean", default: true, description: "Show progress" },
  },
  examples: ["writ record probe field --kind open", "writ record probe field -d c9 --kind closed"],
  exits: { 0: "probed", 1: "found wanting" },
  notes: ["A note that has more words than fit into one line of a terminal that is as narrow as forty columns."],
  run: () => 0,
});

const below: Nodes = { sub: { summary: "Go further" } };

function faces(count: number): readonly Face[] {
  const names = Array.from({ length: count }, (_, index) => `command${index}`);
  const half = Math.ceil(count / 2);
  return [names.slice(0, half), names.slice(half)].map((some, index) => ({
    title: `Face ${index}`,
    commands: Object.fromEntries(
      some.map((name) => [name, { summary: `Do what ${name} does, in a line of some length` }]),
    ),
  }));
}

describe("renderCommandHelp()", () => {
  test("goes from the one line over examples to what each word means", () => {
    expect(renderCommandHelp(probe, below, plainLook(80))).toMatchInlineSnapshot(`
      "Probe what happens where the words of a line do not fit into it

      Examples
        writ record probe field --kind open
        writ record probe field -d c9 --kind closed

      Usage
        writ record probe FIELD [MORE...] --kind open|closed [options]

      Commands
        record probe sub  Go further

      Operands
        FIELD    The field
        MORE...  Further fields

      Options
        -d, --draft-id, --contract-id ID
                                      The draft
        --limit LIMIT                 At most this many (default 20)
        --kind open|closed            (required)
        --state STATE                 Its state (one of IN_PROGRESS, NEEDS_INPUT,
                                      COMPLETE)
        --tag TAG                     A tag (may be given several times)
        --progress, --no-progress     Show progress
        --json                        Print one JSON document on standard output
        --debug                       Show the stack of a defect
        -h, --help                    Show this help

      Exit status
        0  probed
        1  found wanting

      Notes
        A note that has more words than fit into one line of a terminal that is as
        narrow as forty columns."
    `);
  });

  test.each([40, 60, 80, 100])("keeps all but the examples within %d columns", (width) => {
    const lines = renderCommandHelp(probe, below, plainLook(width)).split("\n");
    const wide = lines.filter((line) => line.length > width && !line.startsWith("  writ record probe field "));
    expect(wide).toEqual([]);
  });

  test("marks titles and names, and nothing else", () => {
    const look = { width: 80, title: (text: string) => `<${text}>`, name: (text: string) => `{${text}}` };
    const marked = renderCommandHelp(probe, below, look);
    expect(marked).toContain("<Options>\n");
    expect(marked).toContain("{--limit LIMIT}");
    expect(marked.replace(/[<>{}]/g, "")).toBe(renderCommandHelp(probe, below, plainLook(80)));
  });
});

describe("renderGroupHelp()", () => {
  test("lists the commands of the group", () => {
    const node = { summary: "Edit the contract", commands: { set: { summary: "Replace one field" }, ...below } };
    expect(renderGroupHelp(["contract"], node, plainLook(80))).toMatchInlineSnapshot(`
      "Edit the contract

      Usage
        writ contract COMMAND [options]

      Commands
        set  Replace one field
        sub  Go further

      "writ contract COMMAND --help" tells more"
    `);
  });
});

const topics: Topics = { law: { summary: "What holds", load: async () => ({ render: () => "" }) } };

describe("renderTopHelp()", () => {
  test("tells of each command by its face", () => {
    expect(renderTopHelp(faces(3), topics, ["writ a", "writ b"], plainLook(80))).toMatchInlineSnapshot(`
      "Hand work to coding agents, and count a claim only with its evidence

        writ a
        writ b

      Face 0
        command0  Do what command0 does, in a line of some length
        command1  Do what command1 does, in a line of some length

      Face 1
        command2  Do what command2 does, in a line of some length

      "writ help law": What holds
      "writ help COMMAND" tells more; every command takes --help, most take --json"
    `);
  });

  test("has no blank lines where it would not fit one screen with them, and keeps what each command does", () => {
    const page = renderTopHelp(faces(30), topics, ["writ a", "writ b"], plainLook(80));
    expect(page).not.toContain("\n\n");
    for (let index = 0; index < 30; index++) expect(page).toContain(`Do what command${index} does`);
  });

  test.each([100, 80, 60, 40, 30, 20])(
    "tells all in %d columns, under the name where there is no room beside",
    (width) => {
      const page = renderTopHelp(FACES, TOPICS, EXAMPLES, plainLook(width));
      const examples = EXAMPLES.map((example) => `  ${example}`);
      const lines = page.split("\n").filter((line) => !examples.includes(line));
      expect(lines.filter((line) => line.length > width)).toEqual([]);
      for (const example of examples) expect(page.split("\n")).toContain(example);
      const words = page.replaceAll(/\s+/g, " ");
      for (const face of FACES) {
        for (const [name, { summary }] of Object.entries(face.commands)) expect(words).toContain(`${name} ${summary}`);
      }
      for (const [name, { summary }] of Object.entries(TOPICS))
        expect(words).toContain(`"writ help ${name}": ${summary}`);
    },
  );

  test("spends no blank line where its commands fill more than 24 lines, and fits 80 columns", () => {
    const lines = renderTopHelp(FACES, TOPICS, EXAMPLES, plainLook(80)).split("\n");
    expect(lines.includes("")).toBe(lines.length < 24);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  });
});

describe("the notes of every command", () => {
  test("are whole paragraphs: none goes on in the next one", async () => {
    const broken: string[] = [];
    const look = async (nodes: Nodes): Promise<void> => {
      for (const node of Object.values(nodes)) {
        const command = (await node.load?.())?.command;
        for (const [index, note] of (command?.notes ?? []).entries()) {
          const before = command?.notes?.[index - 1];
          if (note.includes("\n") || (before !== undefined && !/[.?!]$/.test(before) && /^[a-z]/.test(note))) {
            broken.push(`${command?.meta.name}: ${note}`);
          }
        }
        await look(node.commands ?? {});
      }
    };
    await look(TREE);
    expect(broken).toEqual([]);
  });
});

describe("writ --help, as a process,", () => {
  test.each([
    { columns: "40", widest: 40 },
    { columns: "10", widest: 40 },
    { columns: "", widest: 80 },
    { columns: "wide", widest: 80 },
    { columns: "0", widest: 80 },
    { columns: "9999", widest: 100 },
  ])("is laid out for COLUMNS=$columns in at most $widest columns", async ({ columns, widest }) => {
    const ran = await runWrit(["version", "--help"], { env: { COLUMNS: columns } });
    const page = await runWrit(["--help"], { env: { COLUMNS: columns } });
    const examples = new Set(EXAMPLES.map((example) => `  ${example}`));
    const lines = [...ran.stdout.split("\n"), ...page.stdout.split("\n")].filter((line) => !examples.has(line));
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(widest);
  });

  test("is the same page by help COMMAND and COMMAND --help and COMMAND -h", async () => {
    const pages = await Promise.all(
      [
        ["help", "version"],
        ["version", "--help"],
        ["version", "-h"],
      ].map((argv) => runWrit(argv)),
    );
    expect(new Set(pages.map((page) => page.stdout)).size).toBe(1);
    expect(pages[0]?.stdout).toStartWith("Print the versions of writ, Bun and SQLite\n");
  });
});
