/** `writ hooks install`. */
import { ADAPTERS, DEFAULT_GATE } from "../../core/hooks/harness.ts";
import { installHooks } from "../../hooks/set-up.ts";
import { defineCommand } from "../command.ts";
import { JSON_SWITCH, wholeNumber } from "../contract/address.ts";
import { DRY_RUN, HARNESS, installedHarness, openHooksWorld, SCOPE, scopeOf, settingsPath } from "./place.ts";

export const command = defineCommand({
  meta: { name: "hooks install", description: "Put writ's hooks into the settings of a harness" },
  args: {
    harness: HARNESS,
    ...SCOPE,
    gate: {
      type: "string",
      valueHint: "N",
      default: String(DEFAULT_GATE),
      description: "Send a turn that stops unfinalized back, at most N times; 0 never does",
    },
    ...DRY_RUN,
    ...JSON_SWITCH,
  },
  examples: ["writ hooks install claude-code", "writ hooks install claude-code --user --gate 0 --dry-run"],
  notes: [
    "What is in the file stays, in its order and form; what writ put in before is brought up to date.",
    "The hooks name this executable by its absolute path: install them again when it has moved.",
  ],
  exits: {
    0: "put in, or there already",
    2: "no such harness, or the settings are no strict JSON",
    3: "the settings file is none that writ may change",
    4: "it cannot be written",
  },
  run({ args, json, out }) {
    const harness = installedHarness(args.harness);
    const gate = wholeNumber(args.gate, "--gate", 0) ?? DEFAULT_GATE;
    const scope = scopeOf(args);
    const dry = args["dry-run"];
    const { path, events, difference } = installHooks(openHooksWorld(), {
      harness,
      path: settingsPath(scope),
      gate,
      dry,
    });
    const status = events.length === 0 ? "unchanged" : dry ? "planned" : "installed";
    if (json) {
      out.document({ ok: true, status, harness, scope, path, gate, events, difference });
      return 0;
    }
    for (const line of difference) out.line(line);
    if (status === "unchanged") out.line(`OK: nothing to do, the hooks are in ${path}.`);
    else if (status === "planned") out.line(`OK: nothing was written; this would change ${path}.`);
    else out.line(`OK: hooks for ${events.join(", ")} are in ${path}.`);
    for (const note of ADAPTERS[harness].notes) out.talk(note);
    if (status === "installed") out.talk("Sessions that run already may have to be started anew; see: writ doctor");
    return 0;
  },
});
