/** Unified diffs: the strict reader and applier, what git makes of the same diff, and the reader of any diff's paths. */
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { pathsOfDiff } from "../../../src/core/delegation/diff-files.ts";
import { planPatch } from "../../../src/core/patch/apply.ts";
import { parsePatch, refusalText } from "../../../src/core/patch/parse.ts";
import { renderPatch } from "../../../src/core/patch/render.ts";
import { readReturnedDiff } from "../../../src/core/patch/returned.ts";
import { readToolPath, readWritePath } from "../../../src/core/patch/write-path.ts";
import { Appliers, strictlyApplied } from "../../../test/support/patch-trees.ts";
import { filesBelow, short, textsAt, vectors } from "../corpus.ts";
import { ownFolder } from "../folder.ts";
import { hold, reading, same } from "../target.ts";

const PATH = "src/a.txt";
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Texts, each with a diff that changes it into the next one, and one that makes or deletes it. */
function changes(): readonly (readonly string[])[] {
  const texts = short(filesBelow("contracts", ".ts", ".go", ".mod").concat(TEXTS));
  return texts.flatMap((before, at) => {
    const after = before
      .replace(/\n[^\n]*\n/, "\nchanged\nand more\n")
      .replace(/[^\n]+\n?$/, at % 2 === 0 ? "last" : "last\n");
    return [
      [before, after, diffOf(before, after)],
      ["", before, diffOf(null, before)],
      [before, "", diffOf(before, null)],
    ];
  });
}

const TEXTS = [
  "",
  "a\n",
  "a",
  "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\n",
  "a\r\nb\r\n",
  "--- a/x\n+++ b/x\n@@ -1 +1 @@\n",
  "x\n".repeat(60),
  "\n\n\n",
];

function diffOf(before: string | null, after: string | null): string {
  const side = (text: string | null) => (text === null ? null : ({ kind: "bytes", bytes: utf8(text) } as const));
  return renderPatch([{ path: PATH, before: side(before), after: side(after) }]).diff;
}

const WORDS = ["--- a/src/a.txt\n", "+++ b/src/a.txt\n", "--- /dev/null\n", "+++ /dev/null\n", "@@ -1 +1 @@\n", "@@ -0,0 +1,2 @@\n", "@@ -1,3 +1,4 @@\n", "diff --git a/src/a.txt b/src/a.txt\n", "new file mode 100644\n", "deleted file mode 100644\n", "\\ No newline at end of file\n", "-", "+", " ", "index 0..1\n", "rename from a\n", "rename to b\n", "GIT binary patch\n", "Binary files a and b differ\n"]; // biome-ignore format: a list

export const patch = reading({
  name: "patch",
  parts: ["file", "other file", "diff"],
  corpus: changes,
  words: WORDS,
  read: (before, after, diff) => {
    const parsed = parsePatch(diff.bytes);
    if (!parsed.ok) hold("a refusal is a line", !refusalText(parsed.refusal).includes("\n"), parsed.refusal);
    else {
      hold("a patch has files", parsed.patch.files.length > 0);
      const paths = parsed.patch.files.map(({ path }) => path);
      if (Buffer.from(diff.text).equals(diff.bytes))
        same("the reader of paths reads the same files", pathsOfDiff(diff.text), paths);
      const plan = planPatch(parsed.patch, (path) =>
        path === PATH && before.bytes.length > 0 ? { kind: "file", bytes: before.bytes } : { kind: "absent" },
      );
      if (plan.ok) {
        const side = (bytes: Uint8Array | null) => (bytes === null ? null : ({ kind: "bytes", bytes } as const));
        const rendered = renderPatch(
          plan.files.map(({ path, before: old, after: now }) => ({ path, before: side(old), after: side(now) })),
        );
        const again = rendered.opaque_files > 0 ? null : strictlyApplied({ [PATH]: before.text }, rendered.diff);
        if (again !== null) {
          const made = plan.files.find(({ path }) => path === PATH)?.after;
          if (made != null)
            same(
              "the diff of what was made makes the same",
              again[PATH],
              new TextDecoder("utf-8", { ignoreBOM: true }).decode(made),
            );
        }
      } else hold("a plan that fails says why", plan.refusals.length > 0);
    }
    readReturnedDiff(diff.text, { write_root: "src", documents: [{ name: PATH, text: before.text }] });
    pathsOfDiff(diff.text);
    const first = before.text.toWellFormed();
    const second = after.text.toWellFormed();
    if (first === second) return;
    const made = diffOf(first, second);
    same("a diff that was made turns the one into the other", strictlyApplied({ [PATH]: first }, made)?.[PATH], second);
  },
});

/** Git in one folder, for as long as the program runs. */
let git: Appliers | null = null;

function appliers(): Appliers {
  if (git !== null) return git;
  git = new Appliers(mkdtempSync(join(ownFolder(), "git-")));
  return git;
}

export const patchByGit = reading({
  name: "patch-by-git",
  parts: ["file", "other file", "diff"],
  corpus: changes,
  words: WORDS,
  grown_bytes: 0,
  read: (before, _, diff) => {
    const text = before.text.toWellFormed();
    if (!diff.text.isWellFormed() || !Buffer.from(diff.text).equals(diff.bytes)) return;
    const tree = text === "" ? {} : { [PATH]: text };
    const strict = strictlyApplied(tree, diff.text);
    if (strict === null) return;
    same("what the strict applier makes is what git makes", strict, appliers().apply("git outside", tree, diff.text));
  },
});

export const paths = reading({
  name: "path",
  parts: ["path"],
  corpus: () => [
    "src/a.txt",
    "docs/a b.md",
    "a/../b",
    "./x",
    "C:\\x",
    "con.txt",
    ...textsAt(vectors("delegation-read-root"), "path"),
  ],
  words: ["../", "./", "//", "\\", ".git/", "aux", ".writ/", "~", "src/", "/"],
  read: ({ text }) => {
    for (const read of [readToolPath(text), readWritePath(text, "."), readWritePath(text, "src")]) {
      if (!read.ok) {
        hold("a refusal is a line", !read.reason.includes("\n"), read.reason);
        continue;
      }
      const { path } = read;
      hold(
        "a path that was read is normal",
        !path.startsWith("/") && path !== "" && !path.split("/").includes("..") && !/\\|\0/.test(path),
        path,
      );
      same("a path that was read reads as itself", readToolPath(path), { ok: true, path });
    }
  },
});
