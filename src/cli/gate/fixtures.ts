/** `writ gate fixtures`: whether contracts kept as fixtures are what they claim. */

import { counted } from "../../core/counted.ts";
import { CONTRACT_LIMITS } from "../../core/delegation/limits.ts";
import { faultText } from "../../core/delegation/manifest.ts";
import { judgeNameOnly } from "../../core/delegation/name-only.ts";
import { WritError } from "../../core/error.ts";
import { readSource, type SourceNode } from "../../core/json/source.ts";
import { checkFixtures, findingLine } from "../../gate/fixtures.ts";
import { readBodyFile } from "../../host/named-file.ts";
import { defineCommand, type Output } from "../command.ts";
import { JSON_SWITCH } from "../contract/address.ts";
import { oneLine } from "../table.ts";
import { EMBEDDED, fixtureWorld } from "./fixture-world.ts";

export const command = defineCommand({
  meta: { name: "gate fixtures", description: "Prove that contracts kept as fixtures are what they claim" },
  args: {
    old: { type: "positional", valueHint: "OLD", required: false, description: "With --name-only: the set as it was" },
    new: { type: "positional", valueHint: "NEW", required: false, description: "With --name-only: the set as it is" },
    dir: {
      type: "string",
      valueHint: "DIR",
      description: "The folder of the set (default: the set in this executable)",
    },
    "name-only": { type: "boolean", description: "Say whether two sets differ in names alone" },
    ...JSON_SWITCH,
  },
  usage: ["writ gate fixtures [--dir DIR] [--json]", "writ gate fixtures --name-only OLD NEW [--json]"],
  examples: [
    "writ gate fixtures --dir contracts",
    "writ gate fixtures --name-only old/digest-8.json contracts/digests/digest-8.json",
  ],
  notes: [
    "Every .json file of the set is parsed, every list under a key acceptance is checked, and what was checked must be what the manifest lists. No check may quote a speed, and each digest set must be grounded in its own documents and keep its pinned SHA-256.",
    "Nothing is written. A change of a digest set that substitutes names only needs no runs beside the old set: --name-only decides that, and prints which words were replaced by which.",
  ],
  exits: {
    0: "PASS; with --name-only, the sets differ in names alone",
    1: "FAIL, with every finding; with --name-only, the first difference",
    2: "the folder has no readable manifest, or a named file is no JSON",
  },
  async run({ args, json, out }) {
    if (args["name-only"]) {
      if (args.old === undefined || args.new === undefined || args.dir !== undefined) {
        throw new WritError("usage", "--name-only takes two files, OLD and NEW, and no --dir");
      }
      return printNameOnly(await readSet(args.old), await readSet(args.new), json, out);
    }
    if (args.old !== undefined) {
      throw new WritError("usage", `Unexpected operand "${args.old}"`, {
        hint: `The folder of a set: --dir ${args.old}; two sets: --name-only OLD NEW`,
      });
    }
    const dir = args.dir ?? null;
    const { files, sets, findings, notes, ...report } = checkFixtures(fixtureWorld(dir));
    if (json) {
      const { verdict, ...counts } = report;
      out.document({
        ok: verdict === "PASS",
        gate: "fixtures",
        verdict,
        dir: dir ?? EMBEDDED,
        ...counts,
        sets: sets.map((set) => ({ ...set })),
        findings: findings.map((finding) => ({ ...finding })),
        notes,
        files: files.map((file) => ({ ...file })),
      });
      return verdict === "PASS" ? 0 : 1;
    }
    for (const { file, lists, checks } of files) {
      out.line(
        lists === 0
          ? `${oneLine(file)}  no acceptance`
          : `${oneLine(file)}  ${counted(lists, "list")}, ${counted(checks, "check")}`,
      );
    }
    for (const set of sets) {
      const sum =
        set.sha256 === null
          ? "not there"
          : set.sha256 === set.pinned
            ? `sha256 ${short(set.sha256)} as pinned`
            : `sha256 ${short(set.sha256)}, pinned ${short(set.pinned)}`;
      out.line(`${oneLine(set.file)}  ${set.ok ? "ok" : "FAIL"}  ${counted(set.subtasks, "subtask")}, ${sum}`);
    }
    for (const finding of findings) out.line(findingLine(finding));
    for (const note of notes) out.line(`  note: ${note}`);
    const what = `${counted(report.files_read, "file")}, ${counted(report.checks_read, "check")}`;
    const failed = findings.length === 0 ? "" : `, ${counted(findings.length, "finding")}`;
    out.line(`${report.verdict} fixtures ${oneLine(dir ?? EMBEDDED)}: ${what}${failed}`);
    return report.verdict === "PASS" ? 0 : 1;
  },
});

async function readSet(path: string): Promise<SourceNode> {
  const read = readSource(await readBodyFile(path, CONTRACT_LIMITS.file_bytes), { maxDepth: CONTRACT_LIMITS.depth });
  if (read.ok) return read.node;
  throw new WritError("bad_json", `Cannot read "${path}": ${faultText(read.fault)}`);
}

function printNameOnly(before: SourceNode, after: SourceNode, json: boolean, out: Output): number {
  const judged = judgeNameOnly(before, after);
  const mapping = judged.exempt ? judged.mapping.map((one) => ({ ...one })) : [];
  const difference = judged.exempt ? null : { path: judged.path, message: judged.message };
  if (json) out.document({ ok: judged.exempt, gate: "name-only", exempt: judged.exempt, mapping, difference });
  else if (judged.exempt) {
    for (const { old, new: now } of mapping) out.line(`${old} -> ${now}`);
    out.line(
      mapping.length === 0
        ? "EXEMPT: the sets do not differ"
        : `EXEMPT: ${counted(mapping.length, "word")} replaced, nothing else`,
    );
  } else out.line(`NOT EXEMPT: ${oneLine(`${judged.path === "" ? "" : `${judged.path}: `}${judged.message}`)}`);
  return judged.exempt ? 0 : 1;
}

function short(digest: string): string {
  return digest.slice(0, 12);
}
