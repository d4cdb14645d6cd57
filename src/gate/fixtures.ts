/** Proves that contracts kept as fixtures are what they claim, and pins the digests of the sets. Reads a folder whole. */

import { oneLine } from "../core/acceptance/quoting.ts";
import { counted } from "../core/counted.ts";
import type { Corpus } from "../core/delegation/digest-set.ts";
import type { Finding } from "../core/delegation/finding.ts";
import { type FixtureFile, type FixtureReport, judgeFixtures } from "../core/delegation/fixtures.ts";
import { CONTRACT_LIMITS } from "../core/delegation/limits.ts";
import { MANIFEST_FILE, type Manifest, readManifest } from "../core/delegation/manifest.ts";
import { type PinLine, pinManifest } from "../core/delegation/pin.ts";
import { WritError } from "../core/error.ts";

/** What the gate needs of the world. The command line hands in the real one, a test a scripted one. */
export type FixtureWorld = {
  /** Everything in the set that is no folder, sorted by path; no link is followed. Errors: `file_unreadable` */
  list(): readonly { readonly path: string; readonly kind: "file" | "link" | "other" }[];
  /** A regular file of the set; null when it is larger than that. Errors: `file_unreadable` */
  read(
    path: string,
    maxBytes: number,
  ): { readonly text: string; readonly isUtf8: boolean; readonly sha256: string } | null;
  /** The pages of a folder by their names, from the folder of the set; null where there is no such folder. */
  pages(folder: string): ReadonlyMap<string, string> | null;
  /** The published schemas by their paths in the set, as this executable writes them. */
  readonly schemas: ReadonlyMap<string, string>;
};

/**
 * Judges a set.
 *
 * Errors: `manifest_unusable`, `file_unreadable`
 */
export function checkFixtures(world: FixtureWorld): FixtureReport {
  const { text, manifest } = openManifest(world);
  const listed = world.list();
  const files = listed
    .filter(({ path, kind }) => kind !== "link" && /\.json$/i.test(path) && path !== MANIFEST_FILE)
    .map(({ path, kind }) => readFixture(world, path, kind === "file"));
  return judgeFixtures(
    {
      files,
      links: listed.filter(({ kind }) => kind === "link").map(({ path }) => path),
      manifest,
      manifestText: text,
      corpus: corpusOf(world, manifest),
      schemas: world.schemas,
    },
    MANIFEST_FILE,
  );
}

/** What pinning comes to: one line for each set, and the text of the manifest with the present sums. */
export type Pinning = {
  readonly lines: readonly PinLine[];
  readonly text: string;
  readonly changed: boolean;
};

/**
 * Plans the pins of a set; writes nothing.
 *
 * Errors: `manifest_unusable`, `file_unreadable`; `fixtures_wanting` while something else than a sum is wrong
 */
export function planPins(world: FixtureWorld): Pinning {
  const report = checkFixtures(world);
  const wanting = report.findings.filter(({ code }) => code !== "wrong_sum");
  if (wanting.length > 0) throw refusal(wanting);
  const { text } = openManifest(world);
  const { lines, text: pinned } = pinManifest(text, report.sets);
  return { lines, text: pinned, changed: pinned !== text };
}

function openManifest(world: FixtureWorld): { readonly text: string; readonly manifest: Manifest } {
  const hint = "Name the folder that holds the manifest of the set, as contracts/ does";
  let file: ReturnType<FixtureWorld["read"]>;
  try {
    file = world.read(MANIFEST_FILE, CONTRACT_LIMITS.file_bytes);
  } catch (error) {
    if (!(error instanceof WritError)) throw error;
    throw new WritError("manifest_unusable", `There is no readable ${MANIFEST_FILE}: ${error.message}`, {
      hint,
      cause: error,
    });
  }
  const read = file === null ? { ok: false as const, problems: ["it is too large"] } : readManifest(file.text);
  if (read.ok && file !== null) return { text: file.text, manifest: read.manifest };
  const lines = read.ok ? [] : read.problems.map((problem) => `  ${problem}`);
  throw new WritError("manifest_unusable", `${MANIFEST_FILE} is no manifest of a set of fixtures`, {
    lines,
    details: { problems: read.ok ? [] : read.problems },
  });
}

function readFixture(world: FixtureWorld, path: string, isFile: boolean): FixtureFile {
  const unread = { path, text: null, isUtf8: true, sha256: "" };
  if (!isFile) return { ...unread, fault: "not_a_file" };
  const file = world.read(path, CONTRACT_LIMITS.file_bytes);
  return file === null ? { ...unread, fault: "file_too_large" } : { path, ...file, fault: null };
}

/** The pages on disk are what counts; without them, the names in the manifest. */
function corpusOf(world: FixtureWorld, manifest: Manifest): Corpus {
  const pages = manifest.corpus_dir === undefined ? null : world.pages(manifest.corpus_dir);
  return pages ?? new Map(manifest.corpus.map((name) => [name, null]));
}

function refusal(wanting: readonly Finding[]): WritError {
  const message = `Nothing was pinned: the fixture gate finds ${counted(wanting.length, "thing")} beside wrong sums`;
  return new WritError("fixtures_wanting", message, {
    hint: "See them with writ gate fixtures, on the same --dir",
    status: "refused",
    lines: wanting.map(findingLine),
    details: { findings: wanting.map((finding) => ({ ...finding })) },
  });
}

/** A finding as a person reads it, indented; its hint stands under it. */
export function findingLine({ code, file, path, message, hint }: Finding): string {
  // A file may have any name: none of it may pose as a line of the report.
  const place = [file, path].filter((part) => part !== "").join(" ");
  const line = `  ${code} [${oneLine(place)}]: ${oneLine(message)}`;
  return hint === null ? line : `${line}\n    ${oneLine(hint)}`;
}
