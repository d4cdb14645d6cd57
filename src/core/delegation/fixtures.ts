/**
 * The judge of a set of fixtures: that its contracts are what they claim to be, and that they were really looked at.
 *
 * It gets the files as they were read and hands back a report; it reads nothing itself. What a digest set must be is in
 * `digest-set.ts`.
 */

import { kindOf } from "../acceptance/evidence.ts";
import { parseCheck } from "../acceptance/parse.ts";
import { VERBS } from "../acceptance/verbs.ts";
import { readSource, type SourceNode } from "../json/source.ts";
import { findAcceptance, mentionsAcceptance } from "./acceptance-keys.ts";
import { type Corpus, digestSetFindings } from "./digest-set.ts";
import type { Finding, FindingCode } from "./finding.ts";
import { CONTRACT_LIMITS } from "./limits.ts";
import { faultText, type Manifest } from "./manifest.ts";
import { pointerTo } from "./pointer.ts";
import { speedTerm } from "./speed.ts";

/** A file of the set as it was read. */
export type FixtureFile = {
  /** From the folder of the set, with `/` between segments. */
  readonly path: string;
  /** With U+FFFD where the bytes are no UTF-8; null where nothing was read, for `fault` says why. */
  readonly text: string | null;
  readonly isUtf8: boolean;
  /** Of the bytes. */
  readonly sha256: string;
  readonly fault: "not_a_file" | "file_too_large" | null;
};

export type FixtureTree = {
  /** Every file that ends in .json, but for the manifest; sorted by path. */
  readonly files: readonly FixtureFile[];
  /** Every link, whatever it is called. */
  readonly links: readonly string[];
  readonly manifest: Manifest;
  readonly manifestText: string;
  readonly corpus: Corpus;
  /** The published schemas by the paths of `contracts/`, as this executable writes them. */
  readonly schemas: ReadonlyMap<string, string>;
};

export type FixtureReport = {
  readonly verdict: "PASS" | "FAIL";
  /** Files that were read and judged; those of `schemas_read` are not among them. */
  readonly files_read: number;
  readonly files_with_acceptance: number;
  readonly checks_read: number;
  readonly schemas_read: number;
  readonly files: readonly FileReport[];
  readonly sets: readonly SetReport[];
  readonly findings: readonly Finding[];
  readonly notes: readonly string[];
};

export type FileReport = { readonly file: string; readonly lists: number; readonly checks: number };

export type SetReport = {
  readonly file: string;
  readonly subtasks: number;
  /** Null where the file is not there. */
  readonly sha256: string | null;
  readonly pinned: string;
  readonly ok: boolean;
};

/**
 * Judges a set. Passing begins with having looked: a set in which no list was checked fails.
 *
 * @param manifestFile the name of the manifest, for findings in it
 * @returns findings in the order: verbs, files by path, the lists of the manifest, digest sets
 * Errors: none
 * Source: delegation contract, section 8
 */
export function judgeFixtures(tree: FixtureTree, manifestFile: string): FixtureReport {
  const findings: Finding[] = [];
  const report = reporter(findings);
  for (const finding of verbFindings()) findings.push(finding);
  for (const path of tree.links)
    report("link", path, "", "it is a link; links are not followed", "Put the file itself there");
  if (tree.manifestText.includes("\r")) reportCarriageReturn(report, manifestFile, tree.manifestText);

  const walked = new Map<string, FileReport>();
  const scanned = new Set<string>();
  const files: FileReport[] = [];
  const nodes = new Map<string, SourceNode>();
  let schemasRead = 0;
  for (const file of tree.files) {
    if (file.text === null) {
      if (file.fault === "file_too_large") report("file_too_large", file.path, "", "it is larger than 16 MiB", null);
      else report("not_a_file", file.path, "", "it is no regular file", null);
      continue;
    }
    if (file.text.includes("\r")) reportCarriageReturn(report, file.path, file.text);
    if (tree.manifest.schemas.includes(file.path)) {
      if (tree.schemas.get(file.path) === file.text) {
        schemasRead += 1;
        continue;
      }
      const hint = "Write the schemas anew, or take the file out of the list schemas of the manifest";
      report("schema_stale", file.path, "", "it is not the schema that this executable writes", hint);
    }
    if (!file.isUtf8) report("not_utf8", file.path, "", "it is no UTF-8", "Write it as UTF-8");
    if (mentionsAcceptance(file.text)) scanned.add(file.path);
    const read = readSource(file.text, { maxDepth: CONTRACT_LIMITS.depth });
    if (!read.ok) {
      report("not_json", file.path, "", faultText(read.fault), null);
      files.push({ file: file.path, lists: 0, checks: 0 });
      continue;
    }
    nodes.set(file.path, read.node);
    const one = { file: file.path, ...walk(read.node, file.path, report) };
    files.push(one);
    if (one.lists > 0) walked.set(file.path, one);
  }

  holdTogether(tree, { walked: new Set(walked.keys()), scanned }, manifestFile, report);
  const sets: SetReport[] = [];
  const notes: string[] = [];
  for (const [index, set] of tree.manifest.digest_sets.entries()) {
    const file = tree.files.find(({ path }) => path === set.file);
    const before = findings.length;
    const place = pointerTo(pointerTo("", "digest_sets"), index);
    let subtasks = 0;
    if (file?.text == null)
      report("missing_file", manifestFile, `${place}/file`, `there is no file "${set.file}"`, null);
    else {
      if (file.sha256 !== set.sha256) {
        const message = `the file has ${file.sha256}, the manifest says ${set.sha256}`;
        report(
          "wrong_sum",
          set.file,
          "",
          message,
          "When the change is meant: writ gate pin, and both sums into the changelog",
        );
      }
      const judged = digestSetFindings(set, file.text, nodes.get(set.file) ?? null, tree.corpus);
      subtasks = judged.subtasks;
      findings.push(...judged.findings);
      notes.push(...judged.notes);
    }
    const clean = findings.length === before && !findings.some((finding) => finding.file === set.file);
    sets.push({
      file: set.file,
      subtasks,
      sha256: file?.text == null ? null : file.sha256,
      pinned: set.sha256,
      ok: clean,
    });
  }
  return {
    verdict: findings.length === 0 ? "PASS" : "FAIL",
    files_read: files.length,
    files_with_acceptance: walked.size,
    checks_read: files.reduce((sum, { checks }) => sum + checks, 0),
    schemas_read: schemasRead,
    files,
    sets,
    findings,
    notes,
  };
}

type Report = (code: FindingCode, file: string, path: string, message: string, hint: string | null) => void;

function reporter(findings: Finding[]): Report {
  return (code, file, path, message, hint) => {
    findings.push({ code, file, path, message, hint });
  };
}

function reportCarriageReturn(report: Report, file: string, text: string): void {
  const line = text.slice(0, text.indexOf("\r")).split("\n").length;
  report("not_lf", file, "", `line ${line} has a carriage return`, "Mark contracts/ as text eol=lf in .gitattributes");
}

/** Every value under a key `acceptance`: how many lists, and how many strings in them, were judged. */
function walk(node: SourceNode, file: string, report: Report): { lists: number; checks: number } {
  let lists = 0;
  let checks = 0;
  for (const { path, value } of findAcceptance(node)) {
    if (value.kind !== "array") {
      report("not_a_list", file, path, `acceptance is ${kindOf(value)}, not a list`, null);
      continue;
    }
    lists += 1;
    for (const [index, item] of value.items.entries()) {
      const place = pointerTo(path, index);
      if (item.kind !== "string") {
        report("not_a_string", file, place, `a check is a string, not ${kindOf(item)}`, null);
        continue;
      }
      checks += 1;
      const parsed = parseCheck(item.value);
      if (!parsed.ok) report("does_not_parse", file, place, parsed.error.message, null);
      const term = speedTerm(item.value);
      if (term === null) continue;
      const hint = "Anchor on the figure alone, as regex:90 does; acceptance carries no time criterion";
      report("speed_term", file, place, `${JSON.stringify(item.value)} quotes a speed: "${term}"`, hint);
    }
  }
  return { lists, checks };
}

type Seen = { readonly walked: ReadonlySet<string>; readonly scanned: ReadonlySet<string> };

/** What was walked, what was scanned and what the manifest lists are one set of files, and not the empty one. */
function holdTogether(tree: FixtureTree, { walked, scanned }: Seen, manifestFile: string, report: Report): void {
  const listed = new Set(tree.manifest.files_with_acceptance);
  const present = new Set(tree.files.map(({ path }) => path));
  if (walked.size === 0) report("empty_set", manifestFile, "", "no acceptance list was checked in the whole set", null);
  for (const path of present) {
    if (walked.has(path) !== scanned.has(path)) {
      const message = walked.has(path)
        ? "the walk checked a list that the scan does not see"
        : "the scan sees a key acceptance, and the walk checked no list";
      report("walk_and_scan_differ", path, "", message, null);
    }
    if (walked.has(path) && !listed.has(path)) {
      report("not_listed", path, "", "it has an acceptance list", `Add it to files_with_acceptance in ${manifestFile}`);
    }
  }
  for (const [index, path] of tree.manifest.files_with_acceptance.entries()) {
    const place = `/files_with_acceptance/${index}`;
    if (!present.has(path)) report("missing_file", manifestFile, place, `there is no file "${path}"`, null);
    else if (!walked.has(path))
      report("nothing_checked", path, "", "the manifest lists it, and no list of it was checked", null);
  }
  for (const [index, path] of tree.manifest.schemas.entries()) {
    if (!present.has(path))
      report("missing_file", manifestFile, `/schemas/${index}`, `there is no file "${path}"`, null);
  }
}

/** The verbs that the parser declares, those that it takes and those that were reviewed are the same. */
function verbFindings(): readonly Finding[] {
  const findings: Finding[] = [];
  const report = reporter(findings);
  for (const [verb, { example, reason }] of Object.entries(VERBS)) {
    const parsed = parseCheck(example);
    if (reason.trim() === "") report("unreviewed_verb", "", "", `"${verb}" has no reason why it reads no clock`, null);
    if (!parsed.ok || parsed.check.verb !== verb) {
      report("unreviewed_verb", "", "", `the example of "${verb}" does not parse as such a check`, null);
    }
  }
  return findings;
}
