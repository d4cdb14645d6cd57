/** `writ docs`: the pages of the documentation, for where the executable is alone; the list is their map. */
import { WritError } from "../core/error.ts";
import { nearest } from "../core/near-miss.ts";
import { defineCommand } from "./command.ts";
import { PAGES, type Page } from "./docs/pages.ts";
import { tableLines } from "./table.ts";

export const command = defineCommand({
  meta: { name: "docs", description: "Print a page of the documentation, or list the pages" },
  args: {
    name: { type: "positional", required: false, valueHint: "NAME", description: "A name of the list" },
  },
  examples: ["writ docs", "writ docs guide-agents | less"],
  notes: [
    "A page is Markdown. A link in it to NAME.md is what writ docs NAME prints; what it names otherwise, such as docs/NAME.md or a folder, lies in the project's folder.",
    "writ docs schema prints the JSON Schemas of the files that writ reads.",
  ],
  exits: { 0: "printed", 2: "there is no such page" },
  run({ args, json, out }) {
    if (args.name === undefined) {
      if (json) out.document({ ok: true, pages: PAGES.map(({ name, title, about }) => ({ name, title, about })) });
      else for (const line of tableLines(["page", "about"], rowsOf(PAGES), out.columns())) out.line(line);
      return 0;
    }
    const page = getPage(args.name);
    if (json) out.document({ ok: true, ...page });
    else out.exact(page.text.replace(/\n$/, ""));
    return 0;
  },
});

function rowsOf(pages: readonly Page[]): readonly (readonly [string, string])[] {
  return pages.map(({ name, about }) => [name, about]);
}

/** Errors: `usage` */
function getPage(named: string): Page {
  const name = named.replace(/^(?:docs\/)?(?:reference\/)?/, "").replace(/\.md$/, "");
  const page = PAGES.find((each) => each.name === name);
  if (page !== undefined) return page;
  const near = nearest(
    name,
    PAGES.map((each) => each.name),
  );
  throw new WritError("usage", `There is no page "${named}"`, {
    hint: near === null ? "writ docs lists them" : `Did you mean ${near}?`,
  });
}
