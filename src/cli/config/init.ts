/** `writ config init`: a first config. */
import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { draftConfig } from "../../config/init.ts";
import { WritError } from "../../core/error.ts";
import { configPath } from "../../host/config-file.ts";
import { createFileWhole, writeFileWhole } from "../../host/write-file.ts";
import { defineCommand } from "../command.ts";
import { CONFIG_OPTION } from "../config-world.ts";
import { JSON_SWITCH } from "../contract/address.ts";
import { findSeatHere } from "../seat-finder.ts";
import { placesOf } from "../world.ts";

export const command = defineCommand({
  meta: { name: "config init", description: "Write a first config, with a seat for each model server that answers" },
  args: {
    ...CONFIG_OPTION,
    force: { type: "boolean", description: "Replace a config that is there" },
    ...JSON_SWITCH,
  },
  examples: ["writ config init", "writ config init --force --config ./ci.json"],
  notes: [
    "It looks at the ports 8080, 9931, 8000, 11434 and 11436 of this machine, 2 seconds each, all at once. Nothing else is asked, and no model is loaded.",
  ],
  exits: {
    0: "written, with or without seats",
    3: "there is a config, and --force was not given",
    4: "it cannot be written",
  },
  async run({ args, json, out }) {
    const { data } = placesOf();
    const { file } = configPath(args.config, process.env, data);
    if (!args.force && existsSync(file)) throw alreadyThere(file);
    const { text, seats, without_model } = await draftConfig({ find: findSeatHere });
    if (dirname(file) === data) mkdirSync(data, { recursive: true, mode: 0o700 });
    if (args.force) writeFileWhole(file, text, MODE);
    else if (!createFileWhole(file, text, MODE)) throw alreadyThere(file);
    if (json) {
      const listed = seats.map(({ name, base_url, model, engine, proxy }) => ({
        name,
        base_url,
        model,
        engine,
        proxy,
      }));
      out.document({ ok: true, status: "ok", file, seats: listed, without_model });
      return 0;
    }
    out.line(`OK: ${file} written.`);
    for (const { name, base_url, engine, model } of seats)
      out.line(`  seat ${name}: ${model} at ${base_url} (${engine})`);
    for (const url of without_model) out.line(`  ${url} answers, and lists no model`);
    if (seats.length === 0) out.line('  No model server answered; name one under "seats": writ docs configuration');
    else out.line("  whether they work says: writ doctor");
    return 0;
  },
});

const MODE = 0o600;

function alreadyThere(file: string): WritError {
  return new WritError("file_exists", `"${file}" is there already; nothing was written`, {
    status: "refused",
    hint: "Look at it with: writ config show; replace it with: writ config init --force",
  });
}
