/** Trees of files before and after a change, and their diff applied by the programs that others use. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { planPatch } from "../../src/core/patch/apply.ts";
import { parsePatch } from "../../src/core/patch/parse.ts";
import { type RenderedPatch, renderPatch } from "../../src/core/patch/render.ts";
import { writeSet } from "../../src/core/patch/write-set.ts";
import type { Snapshot } from "../../src/core/seat/workspace.ts";
import { compareUtf8 } from "../../src/core/utf8.ts";

/** Path to text. */
export type Tree = Readonly<Record<string, string>>;

export function snapshotOf(tree: Tree): Snapshot {
  const encoder = new TextEncoder();
  return new Map(Object.entries(tree).map(([path, text]) => [path, { kind: "bytes", bytes: encoder.encode(text) }]));
}

export function patchOf(before: Tree, after: Tree): RenderedPatch {
  return renderPatch(writeSet(snapshotOf(before), snapshotOf(after)));
}

export function makeTree(folder: string, tree: Tree): void {
  for (const [path, text] of Object.entries(tree)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/** Every file below a folder but those of Git. */
export function readTree(folder: string, inside = ""): Tree {
  const tree: Record<string, string> = {};
  for (const entry of readdirSync(join(folder, inside), { withFileTypes: true })) {
    const path = inside === "" ? entry.name : `${inside}/${entry.name}`;
    if (path === ".git") continue;
    if (entry.isDirectory()) Object.assign(tree, readTree(folder, path));
    else tree[path] = readFileSync(join(folder, path), "utf8");
  }
  return sorted(tree);
}

export function sorted(tree: Tree): Tree {
  return Object.fromEntries(Object.entries(tree).sort(([left], [right]) => compareUtf8(left, right)));
}

/** What the strict applier makes of a tree; null when it refuses. */
export function strictlyApplied(before: Tree, diff: string): Tree | null {
  const encoder = new TextEncoder();
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const parsed = parsePatch(encoder.encode(diff));
  if (!parsed.ok) return null;
  const plan = planPatch(parsed.patch, (path) => {
    const text = before[path];
    return text === undefined ? { kind: "absent" } : { kind: "file", bytes: encoder.encode(text) };
  });
  if (!plan.ok) return null;
  const after: Record<string, string> = { ...before };
  for (const { path, after: bytes } of plan.files) {
    if (bytes === null) delete after[path];
    else after[path] = decoder.decode(bytes);
  }
  return sorted(after);
}

export type Applier = "git in a repository" | "git outside" | "patch";

/** Applies patches with the programs that others use, in folders of its own. */
export class Appliers {
  readonly #top: string;
  readonly #repository: string;

  constructor(parent: string) {
    this.#top = mkdtempSync(join(parent, "appliers-"));
    this.#repository = join(this.#top, "repository");
    mkdirSync(this.#repository);
    Bun.spawnSync(["git", "init", "-q", this.#repository]);
  }

  /** The tree afterwards; null when the program refused the patch. Errors: throws when it said yes to a part of it */
  apply(applier: Applier, before: Tree, diff: string | Uint8Array): Tree | null {
    const folder = applier === "git in a repository" ? this.#repository : join(this.#top, "plain");
    if (applier === "git in a repository") {
      for (const name of readdirSync(folder)) if (name !== ".git") rmSync(join(folder, name), { recursive: true });
    } else {
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder);
    }
    makeTree(folder, before);
    const file = join(this.#top, "diff");
    writeFileSync(file, diff);
    const words = applier === "patch" ? ["patch", "-p1", "-s", "-f", "-i", file] : ["git", "apply", "-p1", file];
    const { exitCode } = Bun.spawnSync(words, {
      cwd: folder,
      env: {
        PATH: process.env.PATH ?? "",
        HOME: this.#top,
        GIT_CEILING_DIRECTORIES: this.#top,
        GIT_CONFIG_NOSYSTEM: "1",
        // What a file holds is bytes, also where no locale is.
        LC_ALL: "C",
      },
    });
    return exitCode === 0 ? readTree(folder) : null;
  }
}

/** Words that a diff could take for its own, and characters that some programs take for the end of a line. */
const LINES = [
  "",
  "a",
  "b",
  "c",
  "--- a/x",
  "+++ b/x",
  "@@ -1 +1 @@",
  "diff --git a/x b/x",
  "\\ No newline at end of file",
  " lead",
  "trail ",
  "tab\there",
  "\ttab",
  "form\ffeed",
  "line\u2028separator",
  "next\u0085line",
  "lone\rreturn",
  "carriage\r",
  "\r",
  "\ufeffmark",
  "日本語 😀",
];

const line = fc.constantFrom(...LINES);

/** A text of a few lines, with or without an end to the last one. */
const text: fc.Arbitrary<string> = fc
  .tuple(fc.array(line, { maxLength: 24 }), fc.boolean())
  .map(([lines, isEnded]) => lines.join("\n") + (isEnded && lines.length > 0 ? "\n" : ""));

/** A text made from another by a few cuts, so that most lines stay. */
const edited = (old: string): fc.Arbitrary<string> =>
  fc
    .array(fc.record({ at: fc.nat(24), cut: fc.nat(3), put: fc.array(line, { maxLength: 3 }), ends: fc.boolean() }), {
      minLength: 1,
      maxLength: 3,
    })
    .map((edits) => {
      const lines = old.split("\n");
      for (const { at, cut, put } of edits) lines.splice(Math.min(at, lines.length), cut, ...put);
      const joined = lines.join("\n");
      return edits[0]?.ends ? joined : joined.replace(/\n$/, "");
    });

const NAMES = [
  "a.txt",
  "b b.txt",
  "x b/x",
  "sub/deep/file.ts",
  "sub/two  blanks",
  "ünï/日本.md",
  "😀",
  "\ue000",
  "-dash",
  "+plus",
  "it's",
  "Makefile",
  "new/folder/empty",
];

/** A tree, and what becomes of it: files change, come and are emptied; with `deletes` they also go. */
export function treePair({ deletes }: { readonly deletes: boolean }): fc.Arbitrary<readonly [Tree, Tree]> {
  const fate = fc.constantFrom(
    "stay",
    "edit",
    "edit",
    "rewrite",
    "empty",
    "new",
    "new empty",
    ...(deletes ? ["go"] : []),
  );
  return fc
    .array(
      fc
        .tuple(fc.constantFrom(...NAMES), fate, text)
        .chain(([name, what, old]) =>
          fc.tuple(fc.constant(name), fc.constant(what), fc.constant(old), what === "rewrite" ? text : edited(old)),
        ),
      { maxLength: 5 },
    )
    .map((files) => {
      const before: Record<string, string> = {};
      const after: Record<string, string> = {};
      for (const [name, what, old, next] of files) {
        if (name in before || name in after) continue;
        if (!what.startsWith("new")) before[name] = old;
        if (what === "stay") after[name] = old;
        else if (what === "empty" || what === "new empty") after[name] = "";
        else if (what !== "go") after[name] = next;
      }
      return [before, after] as const;
    });
}

/** GNU patch takes the blank in the one line that names a new empty file for the end of its name. */
export function isBeyondPatch(before: Tree, after: Tree): boolean {
  return Object.entries(after).some(([path, text]) => path.includes(" ") && text === "" && !(path in before));
}
