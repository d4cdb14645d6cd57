/** `writ evidence add`. */
import { WritError } from "../../core/error.ts";
import { EVIDENCE_TYPES, POLARITIES } from "../../core/evidence/payload.ts";
import { addEvidence } from "../../evidence/add.ts";
import { type OpenPayload, openArtifact, payloadOf } from "../../host/artifact.ts";
import { readAll } from "../../host/file.ts";
import { evidenceFolder } from "../../store/blobs.ts";
import { defineCommand } from "../command.ts";
import { JSON_SWITCH, wholeNumber } from "../contract/address.ts";
import { BODY_LIMIT } from "../contract/body.ts";
import { textOf, WORKSPACE_OPTION } from "../operand.ts";
import { inWorld, openWorld, placesOf } from "../world.ts";
import { documentOf, storageOf } from "./row.ts";

export const command = defineCommand({
  meta: { name: "evidence add", description: "Record evidence under an acceptance criterion of a brief" },
  args: {
    brief: { type: "string", required: true, valueHint: "NAME", description: "The brief" },
    ac: { type: "string", required: true, valueHint: "ID", description: "The acceptance criterion" },
    type: { type: "enum", required: true, options: [...EVIDENCE_TYPES], description: "What it is" },
    text: { type: "string", valueHint: "TEXT", description: "The evidence itself; - reads standard input" },
    "artifact-file": { type: "string", valueHint: "PATH", description: "A file whose content is the evidence" },
    task: { type: "string", valueHint: "N", description: "The task of the brief's plan that it is for" },
    polarity: { type: "enum", options: [...POLARITIES], default: "positive", description: "Does it prove or refute" },
    "created-by": { type: "string", valueHint: "NAME", description: "Who recorded it (default: the turn's agent)" },
    ...WORKSPACE_OPTION,
    ...JSON_SWITCH,
  },
  examples: [
    "writ evidence add --brief checkout-fix --ac AC-2 --type command_output --artifact-file test.log",
    "bun test 2>&1 | writ evidence add --brief checkout-fix --ac AC-2 --type command_output --task 4 --text -",
  ],
  notes: [
    "At most 4096 bytes of UTF-8 are kept in the row; anything else is copied into a file of its own.",
    "The id it prints is what verification.evidence_ids cites. A turn bound to a task cites evidence of that --task.",
  ],
  exits: {
    0: "recorded",
    2: "not exactly one of --text and --artifact-file, or a file that cannot be read",
    3: "no such brief, no task of that brief, or a name that cannot be a folder",
  },
  run({ args, json, out }) {
    const request = {
      brief: args.brief,
      ac_id: args.ac,
      type: args.type,
      polarity: args.polarity,
      task_id: wholeNumber(args.task, "--task", 1),
      created_by: textOf(args["created-by"]),
      workspace: textOf(args.workspace),
    };
    const payload = openPayload(args.text, args["artifact-file"]);
    try {
      const { data, home } = placesOf();
      const mint = { uuid: () => crypto.randomUUID() };
      const world = { ...openWorld(), evidence: evidenceFolder(data, home), mint };
      const row = inWorld(world, (open) => addEvidence(open, request, payload));
      if (json) out.document({ ok: true, ...documentOf(row) });
      else {
        const facts = [`id=${row.id}`, `ac=${row.ac_id}`, `type=${row.type}`, `storage=${storageOf(row)}`];
        out.line(`Evidence recorded: ${[...facts, `brief=${row.brief}`].join("  ")}`);
      }
      return 0;
    } finally {
      payload.close();
    }
  },
});

/** Errors: `usage`, `file_unreadable`, `body_too_large`. */
function openPayload(text: string | undefined, file: string | undefined): OpenPayload {
  if ((text === undefined) === (file === undefined)) {
    throw new WritError("usage", `${text === undefined ? "Neither" : "Both"} of --text and --artifact-file given`, {
      hint: "Give exactly one of --text TEXT and --artifact-file PATH",
    });
  }
  if (file !== undefined) return openArtifact(file);
  if (text !== "-") return payloadOf(new TextEncoder().encode(text));
  return payloadOf(readAll(0, BODY_LIMIT, "standard input"));
}
