/**
 * `delegation_cancel`: ends a delegation of this server as an interrupt ends one in a shell.
 *
 * Source: delegation run, sections 1.6, 9
 */
import { openRecords, recordOf } from "../cli/runs/open.ts";
import { WritError } from "../core/error.ts";
import { isAlive } from "../host/process-identity.ts";
import { type Parameters, readArguments, schemaOf } from "./arguments.ts";
import { delegationOf } from "./delegation.ts";
import { answerOfDocument, answerOfEnded, isWorthReading } from "./run-answer.ts";
import type { Tool } from "./tool.ts";

const PARAMETERS = {
  run_id: { kind: "text", required: true, description: "Of the handle" },
} as const satisfies Parameters;

export const tool: Tool = {
  name: "delegation_cancel",
  description:
    "End a delegation that goes on: no new leg starts, what runs is stopped or taken back, and the document is answered with what had ended. One that has ended is answered as it is.",
  inputSchema: schemaOf(PARAMETERS),
  reads: false,
  reachesOut: true,
  async run(call) {
    const { run_id } = readArguments(PARAMETERS, call.arguments);
    const { calls } = delegationOf(call);
    const running = calls.find(run_id);
    running?.cancel();
    const ended = running === null ? calls.recall(run_id) : await running.ended;
    if (ended !== null) return answerOfEnded(ended);
    const entry = recordOf(openRecords(), run_id);
    if (!entry.ended && isAlive(entry.pid)) {
      throw new WritError("run_elsewhere", `${entry.run_id} goes on in another process, ${entry.pid}`, {
        path: "/run_id",
        hint: "Cancel it where it was begun",
      });
    }
    return answerOfDocument(entry.document, entry.run_id, isWorthReading(entry.summary));
  },
};
