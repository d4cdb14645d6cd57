/** `writ hooks uninstall`. */
import { uninstallHooks } from "../../hooks/set-up.ts";
import { defineCommand } from "../command.ts";
import { JSON_SWITCH } from "../contract/address.ts";
import { DRY_RUN, HARNESS, installedHarness, openHooksWorld, SCOPE, scopeOf, settingsPath } from "./place.ts";

export const command = defineCommand({
  meta: { name: "hooks uninstall", description: "Take writ's hooks out of the settings of a harness" },
  args: { harness: HARNESS, ...SCOPE, ...DRY_RUN, ...JSON_SWITCH },
  examples: ["writ hooks uninstall claude-code", "writ hooks uninstall claude-code --user --dry-run"],
  notes: [
    "Takes out what install put in, also by a writ in another place, and leaves everything else as it is.",
    "A hook that somebody wrote as a line for a shell is not writ's to take out. The file itself is never removed.",
  ],
  exits: {
    0: "taken out, or not there",
    2: "no such harness, or the settings are no strict JSON",
    3: "the settings file is none that writ may change",
    4: "it cannot be written",
  },
  run({ args, json, out }) {
    const harness = installedHarness(args.harness);
    const scope = scopeOf(args);
    const dry = args["dry-run"];
    const { path, events, difference } = uninstallHooks(openHooksWorld(), { harness, path: settingsPath(scope), dry });
    const status = events.length === 0 ? "unchanged" : dry ? "planned" : "uninstalled";
    if (json) {
      out.document({ ok: true, status, harness, scope, path, events, difference });
      return 0;
    }
    for (const line of difference) out.line(line);
    if (status === "unchanged") out.line(`OK: nothing to do, no hook of writ is in ${path}.`);
    else if (status === "planned") out.line(`OK: nothing was written; this would change ${path}.`);
    else out.line(`OK: no hook of writ is left in ${path}.`);
    return 0;
  },
});
