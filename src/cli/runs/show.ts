/** `writ runs show`: one past delegation, one of its legs, or one field of a leg as it is. */
import { renderPrinted } from "../../core/delegation/render-result.ts";
import type { LegText, RunEntry } from "../../core/delegation/run-entry.ts";
import { WritError } from "../../core/error.ts";
import { nearest } from "../../core/near-miss.ts";
import { isTerminal } from "../../host/stream.ts";
import { defineCommand } from "../command.ts";
import { JSON_SWITCH, wholeNumber } from "../contract/address.ts";
import { entryLines } from "../delegate/result-table.ts";
import { openRecords, recordOf } from "./open.ts";

export const command = defineCommand({
  meta: { name: "runs show", description: "Print the result of a past delegation, or a part of it" },
  args: {
    id: { type: "positional", required: true, valueHint: "ID", description: "Its id, or the beginning of it" },
    index: { type: "string", valueHint: "N", description: "Only this leg, from 0" },
    field: { type: "string", valueHint: "F", description: "Only this field of the leg, as it is" },
    ...JSON_SWITCH,
  },
  examples: ["writ runs show c3f1", "writ runs show c3f1 --index 2 --field diff > leg.patch"],
  notes: [
    "It prints as writ delegate did: a table on a terminal, the document elsewhere, with --json or --index. With --field it is the field itself: a text without quotes, a structured result as the seat wrote it. Secrets are masked in what is kept.",
    "writ grade CONTRACT --result FILE grades a document that was printed here once more.",
  ],
  exits: { 0: "done", 2: "there is no such leg or field", 3: "no delegation has that id, or several have it" },
  run({ args, json, out }) {
    const index = wholeNumber(args.index, "--index", 0);
    const entry = recordOf(openRecords(), args.id);
    if (args.field !== undefined) {
      const { kind, value } = fieldOf(legOf(entry, index), args.field);
      if (kind === "string") out.raw(value);
      else out.exact(value);
    } else if (index !== null) out.exact(renderPrinted(legOf(entry, index).text, true));
    else if (json || !isTerminal(1)) out.exact(renderPrinted(entry.document, true));
    else for (const line of entryLines(entry, out.columns())) out.line(line);
    return 0;
  },
});

/** Errors: `usage` */
function legOf({ run_id, results }: RunEntry, index: number | null): LegText {
  const [only] = results;
  if (index === null && results.length === 1 && only !== undefined) return only;
  const found = results.find((leg) => leg.index === index);
  if (found !== undefined) return found;
  const which = results.map((leg) => leg.index).join(", ") || "none";
  throw index === null
    ? new WritError("usage", `${run_id} has ${results.length} legs: --field needs --index`, {
        hint: `There is ${which}`,
      })
    : new WritError("no_leg", `${run_id} has no result of leg ${index}`, {
        path: "--index",
        hint: `There is ${which}`,
      });
}

/** Errors: `usage` */
function fieldOf({ fields }: LegText, name: string) {
  const found = fields.get(name);
  if (found !== undefined) return found;
  const near = nearest(name, fields.keys());
  throw new WritError("usage", `This leg has no field "${name}"`, {
    path: "--field",
    hint: near !== null ? `Did you mean "${near}"?` : `It has ${[...fields.keys()].join(", ")}`,
  });
}
