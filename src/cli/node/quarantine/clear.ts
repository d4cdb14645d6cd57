/** `writ node quarantine clear`: nodes that are passed over get work again. */
import { WritError } from "../../../core/error.ts";
import { nearest } from "../../../core/near-miss.ts";
import { openQuarantine } from "../../../host/quarantine-file.ts";
import { stateFolder } from "../../../host/state-folder.ts";
import { defineCommand } from "../../command.ts";
import { JSON_SWITCH } from "../../contract/address.ts";
import { oneLine } from "../../table.ts";
import { placesOf } from "../../world.ts";

export const command = defineCommand({
  meta: { name: "node quarantine clear", description: "Forget that nodes answered about other documents" },
  args: {
    node: { type: "positional", required: false, valueHint: "NODE", description: "Only this one (default: all)" },
    ...JSON_SWITCH,
  },
  examples: ["writ node quarantine clear", "writ node quarantine clear gpu-b"],
  notes: ["It is named as results and writ node quarantine list name it. Nothing on the node changes."],
  exits: { 0: "done; also where there was nothing to forget", 4: "the file of the quarantine cannot be written" },
  run({ args: { node }, json, out }) {
    const quarantine = openQuarantine(stateFolder(placesOf().data));
    const isMeant = (name: string) => node === undefined || name === node;
    const before = Object.keys(quarantine.read());
    const cleared = before.filter(isMeant);
    if (cleared.length > 0) {
      quarantine.change((marks) => Object.fromEntries(Object.entries(marks).filter(([name]) => !isMeant(name))));
      if (Object.keys(quarantine.read()).some((name) => cleared.includes(name))) {
        throw new WritError("state_failed", "The file of the quarantine cannot be changed now", {
          hint: "Another process holds it, or its disk is full: try again",
        });
      }
    }
    if (json) out.document({ ok: true, status: "ok", cleared });
    else if (cleared.length > 0) out.line(`No longer passed over: ${cleared.map(oneLine).join(", ")}`);
    else if (node === undefined) out.line("No node was passed over");
    else {
      const near = nearest(node, before);
      out.line(`"${oneLine(node)}" was not passed over${near === null ? "" : `; did you mean "${oneLine(near)}"?`}`);
    }
    return 0;
  },
});
