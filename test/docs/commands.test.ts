import { expect, test } from "bun:test";
import { listPages, readPage } from "../../scripts/pages/pages.ts";
import type { Nodes } from "../../src/cli/node.ts";
import { TREE } from "../../src/cli/tree.ts";

/** The words of every command. */
function commandsOf(nodes: Nodes, before: string): readonly string[] {
  return Object.entries(nodes).flatMap(([name, { load, commands = {} }]) => {
    const words = `${before} ${name}`;
    return [...(load === undefined ? [] : [words]), ...commandsOf(commands, words)];
  });
}

test("every command stands on a page that a person wrote", () => {
  const pages = listPages().filter((page) => !page.startsWith("docs/reference/"));
  const text = pages.map(readPage).join("\n");
  const commands = commandsOf(TREE, "writ");
  expect(commands.length).toBeGreaterThan(0);
  expect(commands.filter((words) => !new RegExp(`\\b${words}\\b`).test(text))).toEqual([]);
});
