/** `writ contract undo`. */
import { undoChange } from "../../editor/undo.ts";
import { defineCommand } from "../command.ts";
import { inWorld, openWorld } from "../world.ts";
import {
  ADDRESS,
  ADDRESS_NOTE,
  addressOf,
  changeIdOf,
  JSON_SWITCH,
  talkOfWrite,
  VERY_NOTE,
  writtenDocument,
} from "./address.ts";

export const command = defineCommand({
  meta: { name: "contract undo", description: "Take one change of the draft back" },
  args: {
    change: {
      type: "string",
      valueHint: "CHANGE",
      description: "The change, by the id that log prints (default: the newest)",
    },
    ...ADDRESS,
    ...JSON_SWITCH,
  },
  examples: ["writ contract undo", "writ contract undo --change 41"],
  notes: [
    "An undo is a write like any other: validated, and a change of its own. A second undo goes one step further back; the id of an undo takes that undo back.",
    ADDRESS_NOTE,
    VERY_NOTE,
  ],
  exits: {
    0: "written",
    1: "the envelope would break a rule",
    3: "no such draft or change, nothing to undo, a later change in the way, or closed",
  },
  run({ args, json, out }) {
    const change = changeIdOf(args.change, "--change");
    const undone = inWorld(openWorld(), (world) => undoChange(world, addressOf(args), change));
    talkOfWrite(out, undone);
    if (json) out.document({ ...writtenDocument(undone), undoes: undone.undoes });
    else out.line(`OK: change ${undone.undoes} of draft ${undone.draft_id} taken back.`);
    return 0;
  },
});
