/** The codes inside of documents that no type lists are held to the code that gives them. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  ATTESTATION,
  CONTENT_FINDINGS,
  DOCUMENT_ISSUES,
  ENVELOPE_BEYOND,
  ISSUE_CODES,
} from "../../scripts/pages/issue-codes.ts";
import { REPOSITORY, readPage } from "../../scripts/pages/pages.ts";

/** The words behind these beginnings, in these files: `code: "x"`, `issue("x"`. */
function codesIn(files: readonly string[], begins: RegExp): readonly string[] {
  const text = files.map((file) => readFileSync(join(REPOSITORY, "src/core", file), "utf8")).join("\n");
  const found = [...text.matchAll(begins)].flatMap(([line]) =>
    [...line.matchAll(/"(\w+)"/g)].map(([, code = ""]) => code),
  );
  return [...new Set(found)].toSorted();
}

test.each([
  {
    codes: CONTENT_FINDINGS,
    found: () => codesIn(["record/content-checks.ts"], /\bcode: "\w+"(?: \| "\w+")?/g),
  },
  {
    codes: ENVELOPE_BEYOND,
    found: () => codesIn(["contract/gates.ts", "contract/crosscheck.ts"], /\bcode: "[A-Z_]+"/g),
  },
  {
    codes: ATTESTATION,
    // What the strict reader says of a payload is taken over.
    found: () =>
      codesIn(["attest/judge.ts", "json/parse.ts"], /\b(?:issue|find)\(\s*"\w+"|readonly code: "\w+"(?: \| "\w+")*/g),
  },
  {
    codes: DOCUMENT_ISSUES,
    found: () =>
      codesIn(
        ["json/read-document.ts", "gate/gate-file.ts", "scripted/read-script.ts"],
        /\bcode: (?:isType \? )?"\w+"(?: : "\w+")?|\brefused\("\w+"/g,
      ),
  },
])("the list is that of the code (%#)", ({ codes, found }) => {
  expect(Object.keys(codes).toSorted()).toEqual([...found()]);
});

test("the page has every code of every list, each with what it is about", () => {
  const page = readPage("docs/reference/errors.md");
  for (const { title, codes } of ISSUE_CODES) {
    const [, section = ""] = page.split(`### ${title}\n`);
    const [own = ""] = section.split(/^### /m);
    for (const [code, when] of Object.entries(codes)) {
      expect(when).not.toBe("");
      expect(own).toContain(`| \`${code}\` | `);
    }
  }
});

test("README and the page of errors say by what a program tells a verdict from an error", () => {
  for (const page of ["README.md", "docs/reference/errors.md", "docs/reference/documents.md"]) {
    expect(readPage(page).replaceAll(/\s+/g, " ")).toMatch(/without a `code`|has it none, it is a verdict/);
  }
});
