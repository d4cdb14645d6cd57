/** `writ gate pin`: the present digests of the sets into their manifest. */
import { join } from "node:path";
import { MANIFEST_FILE } from "../../core/delegation/manifest.ts";
import { planPins } from "../../gate/fixtures.ts";
import { writeFileWhole } from "../../host/write-file.ts";
import { defineCommand } from "../command.ts";
import { JSON_SWITCH } from "../contract/address.ts";
import { fixtureWorld } from "./fixture-world.ts";

export const command = defineCommand({
  meta: { name: "gate pin", description: "Write the present SHA-256 of each digest set into the manifest" },
  args: {
    dir: { type: "string", default: "contracts", valueHint: "DIR", description: "The folder of the set" },
    check: { type: "boolean", description: "Write nothing; end in 1 when a sum differs" },
    ...JSON_SWITCH,
  },
  examples: ["writ gate pin", "writ gate pin --dir contracts --check"],
  notes: [
    "Nothing but the sums is touched in the manifest. A change of a set belongs into the changelog with both sums and the commit that has the old version.",
  ],
  exits: {
    0: "every sum is as it should be, or was written",
    1: "with --check, a sum differs",
    2: "the folder has no readable manifest",
    3: "the fixture gate finds something else than a wrong sum; nothing was written",
    4: "the manifest cannot be written",
  },
  run({ args, json, out }) {
    const { lines, text, changed } = planPins(fixtureWorld(args.dir));
    if (changed && !args.check) writeFileWhole(join(args.dir, MANIFEST_FILE), text);
    const ok = !(changed && args.check);
    if (json) {
      const sets = lines.map((line) => ({ ...line, changed: line.old !== line.new }));
      out.document({ ok, status: ok ? "ok" : "no", dir: args.dir, written: changed && !args.check, sets });
    } else {
      for (const { file, old, new: now } of lines)
        out.line(old === now ? `${file}  unchanged` : `${file}  ${old} -> ${now}`);
      if (lines.length === 0) out.line("The manifest has no digest set.");
    }
    return ok ? 0 : 1;
  },
});
