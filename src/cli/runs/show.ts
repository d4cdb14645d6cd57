/** `writ runs show`: one past delegation, one of its legs, or one field of a leg as it is. */
import { renderPrinted } from "../../core/delegation/render-result.ts";
import { documentLasting, type LegText, type RunEntry } from "../../core/delegation/run-entry.ts";
import { WritError } from "../../core/error.ts";
import { nearest } from "../../core/near-miss.ts";
import { isTerminal } from "../../host/stream.ts";
import { defineCommand } from "../command.ts";
import { JSON_SWITCH, wholeNumber } from "../contract/address.ts";
import { entryLines } from "../delegate/result-table.ts";
import { openRecords, recordOf, stateOf, wallOf } from "./open.ts";
import { legOpen, legsWithResult, openLegOf, openLegState } from "./open-leg.ts";

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
    "It prints as writ delegate did: a table on a terminal, the document elsewhere, with --json or --index. With --field it is the field itself: a text without quotes, a structured result as the seat wrote it; with --json too it is the value of a document. Secrets are masked in what is kept.",
    "writ grade CONTRACT --result FILE grades a document that was printed here once more.",
  ],
  exits: {
    0: "done",
    2: "there is no such leg or field",
    3: "no delegation has that id, or several have it; the leg has no result yet, or was left without one",
    4: "the folder of the records cannot be read",
  },
  run({ args, json, out }) {
    const index = wholeNumber(args.index, "--index", 0);
    const entry = recordOf(openRecords(), args.id);
    if (args.field !== undefined) {
      const leg = legOf(entry, index);
      const { kind, value } = fieldOf(leg, args.field);
      if (json) {
        const which = JSON.stringify({ run_id: entry.run_id, index: leg.index, field: args.field });
        const written = kind === "string" ? JSON.stringify(value) : value;
        out.exact(renderPrinted(`${which.slice(0, -1)},"value":${written}}`, true));
      } else if (kind === "string") out.raw(value);
      else out.exact(value);
    } else if (index !== null) out.exact(renderPrinted(legOf(entry, index).text, true));
    else if (json || !isTerminal(1)) out.exact(renderPrinted(documentOf(entry), true));
    else for (const line of tableOf(entry, out.columns())) out.line(line);
    return 0;
  },
});

/** The document; one that has not ended says so behind everything else, and where its legs are. */
function documentOf(entry: RunEntry): string {
  if (entry.ended) return entry.document;
  const unfinished = entry.unfinished.map((leg) => {
    const { recovered } = openLegState(entry, leg);
    return { index: leg.index, node: leg.node, seat: leg.seat, ...(recovered === null ? {} : { recovered }) };
  });
  const state = stateOf(entry);
  // As writ runs list has it.
  const document = documentLasting(entry, wallOf(entry) ?? entry.wall_ms);
  return `${document.slice(0, -1)},${JSON.stringify({ ended: false, state, unfinished }).slice(1)}`;
}

function tableOf(entry: RunEntry, columns: number | null): readonly string[] {
  const state = stateOf(entry);
  if (state === "ended") return entryLines(entry, columns);
  const wall_ms = wallOf(entry);
  const rows = entry.unfinished.map((leg) => {
    const { told, advice } = openLegState(entry, leg);
    return {
      ...leg,
      status: state === "left" ? "left" : leg.node === "" ? "waiting" : "running",
      scripted: false,
      wall_ms: wall_ms === null ? null : Math.max(0, wall_ms - leg.at_ms),
      note: "",
      // What goes on needs no advice.
      under: state === "left" ? [told, advice] : [told],
    };
  });
  return entryLines({ ...entry, wall_ms }, columns, rows);
}

/** Errors: `usage`, `no_leg`, `leg_open` */
function legOf(entry: RunEntry, index: number | null): LegText {
  const { run_id, legs, results } = entry;
  const open = openLegOf(entry, index);
  if (open !== null) throw legOpen(entry, open, "--index");
  const [only] = results;
  if (index === null && results.length === 1 && legs === 1 && only !== undefined) return only;
  const found = results.find((leg) => leg.index === index);
  if (found !== undefined) return found;
  const hint = legsWithResult(entry);
  throw index === null
    ? new WritError("usage", `${run_id} has ${legs} legs: --field needs --index`, { hint })
    : new WritError("no_leg", `${run_id} has no leg ${index}`, { path: "--index", hint });
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
