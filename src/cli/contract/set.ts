/** `writ contract set`. */
import { FIELD_PATHS, STATES } from "../../core/contract/envelope.ts";
import { withQuotingHint } from "../../core/contract/quoting.ts";
import { mutateDraft } from "../../editor/edit.ts";
import { defineCommand } from "../command.ts";
import { inWorld, openWorld } from "../world.ts";
import { ADDRESS, ADDRESS_NOTE, addressOf, JSON_SWITCH, printWritten } from "./address.ts";
import { readValue } from "./body.ts";

export const command = defineCommand({
  meta: { name: "contract set", description: "Replace one field of the draft" },
  args: {
    field: { type: "positional", required: true, offers: FIELD_PATHS, description: "The field, as a dotted path" },
    value: {
      type: "positional",
      required: false,
      offersAfter: { "agent_status.agent_state": STATES },
      description: "JSON when it parses, else text; - reads standard input",
    },
    "json-file": { type: "string", valueHint: "PATH", description: "Read the value from a file of JSON" },
    ...ADDRESS,
    ...JSON_SWITCH,
  },
  examples: [
    "writ contract set conclusion 'The total was truncated; it rounds now. 4 of 4 tests pass.'",
    "writ contract set evidence_report.open_gaps '[]'",
    "git log -3 | writ contract set report_prose -",
  ],
  notes: [
    "set replaces what is there, a list too. add extends a list, fill merges several fields at once.",
    "Text that looks like JSON is quoted: '\"42\"'. A literal dash is '\"-\"'.",
    ADDRESS_NOTE,
  ],
  exits: {
    0: "written",
    1: "the envelope would break a rule",
    3: "no such draft, several that could be meant, or a path through a populated list",
  },
  async run({ args, json, out }) {
    const value = await readValue(args.value, args["json-file"]);
    const mutation = { verb: "set", field: args.field, value } as const;
    try {
      const written = inWorld(openWorld(), (world) => mutateDraft(world, addressOf(args), mutation));
      return printWritten(out, json, written, mutation);
    } catch (error) {
      throw withQuotingHint(error, { field: args.field, value, typed: args.value });
    }
  },
});
