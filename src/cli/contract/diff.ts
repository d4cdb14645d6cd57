/** `writ contract diff`. */
import { compareChanges, continuedBy } from "../../editor/look.ts";
import { defineCommand } from "../command.ts";
import { inWorld, openReadingWorld } from "../world.ts";
import { ADDRESS, ADDRESS_NOTE, addressOf, changeIdOf, JSON_SWITCH, talkContinued, VERY_NOTE } from "./address.ts";
import { entryDocument, entryLines } from "./log.ts";

export const command = defineCommand({
  meta: { name: "contract diff", description: "Show the net change of an envelope between two states" },
  args: {
    from: { type: "string", valueHint: "CHANGE", description: "The state after this change (default: before --to)" },
    to: { type: "string", valueHint: "CHANGE", description: "The state after this change (default: the newest)" },
    ...ADDRESS,
    ...JSON_SWITCH,
  },
  examples: ["writ contract diff", "writ contract diff --from 12 --to 17"],
  notes: ["Change ids are what writ contract log prints.", ADDRESS_NOTE, VERY_NOTE],
  exits: { 0: "shown; also when nothing differs", 3: "no such draft or change, or several drafts that could be meant" },
  run({ args, json, out }) {
    const range = { from: changeIdOf(args.from, "--from"), to: changeIdOf(args.to, "--to") };
    const { draft_id, from, to, changes, live } = inWorld(openReadingWorld(), (world) => {
      const compared = compareChanges(world, addressOf(args), range);
      return { ...compared, live: continuedBy(world, compared.draft_id) };
    });
    if (json)
      out.document({ ok: true, draft_id, from, to, count: changes.length, entries: changes.map(entryDocument) });
    else if (changes.length === 0) out.line("No difference.");
    else for (const line of changes.flatMap(entryLines)) out.line(line);
    talkContinued(out, draft_id, live);
    return 0;
  },
});
