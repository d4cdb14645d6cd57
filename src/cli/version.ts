/** `writ version` and `writ --version`. */
import { defineCommand } from "./command.ts";
import { releaseOf, releaseText } from "./release.ts";

export const command = defineCommand({
  meta: { name: "version", description: "Print the versions of writ, Bun and SQLite" },
  args: {},
  examples: ["writ --version", "writ version --json"],
  exits: { 0: "printed" },
  run: async ({ json, out }) => {
    const release = await releaseOf();
    if (json) out.document({ ok: true, ...release });
    else out.line(releaseText(release));
    return 0;
  },
});
