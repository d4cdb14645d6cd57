/** `writ node quarantine list`: the nodes that answered about other documents, and those that are passed over for it. */
import { pruneMarks } from "../../../core/placement/quarantine.ts";
import { openQuarantine } from "../../../host/quarantine-file.ts";
import { stateFolder } from "../../../host/state-folder.ts";
import { defineCommand } from "../../command.ts";
import { CONFIG_OPTION, loadConfig } from "../../config-world.ts";
import { JSON_SWITCH } from "../../contract/address.ts";
import { tableLines } from "../../table.ts";
import { instant, placesOf } from "../../world.ts";

export const command = defineCommand({
  meta: { name: "node quarantine list", description: "List the nodes that answered about other documents" },
  args: { ...CONFIG_OPTION, ...JSON_SWITCH },
  examples: ["writ node quarantine list", "writ node quarantine list --json"],
  notes: [
    "A node whose answer shows nothing of the documents that it was sent gets a strike; two within half an hour, and delegations of this user pass it over for half an hour (quarantine in the config has the numbers). Nothing on the node changes. One that is passed over begins anew with no strike.",
  ],
  exits: { 0: "done; an empty list is an answer too" },
  async run({ args, json, out }) {
    const { config } = await loadConfig({ config: args.config, find: null });
    const marks = pruneMarks(openQuarantine(stateFolder(placesOf().data)).read(), Date.now(), config.quarantine);
    const places = Object.entries(marks)
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([node, { strikes, until }]) => ({
        node,
        until: until === null ? null : instant(until),
        strikes: strikes.length,
      }));
    if (json) out.document({ ok: true, status: "ok", places });
    else if (places.length === 0) out.line("No node is passed over");
    else {
      const rows = places.map(({ node, until, strikes }) => [node, until ?? "-", strikes]);
      for (const line of tableLines(["node", "passed over until", "strikes"], rows, out.columns())) out.line(line);
    }
    return 0;
  },
});
