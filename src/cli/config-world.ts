/** The config in effect, as every command of delegation gets it. */
import type { Config } from "../core/config/config.ts";
import { type ConfigOptions, type Environment, seatToFind } from "../core/config/environment.ts";
import { badConfig } from "../core/config/issue.ts";
import { mergeConfig, type Sources } from "../core/config/merge.ts";
import { BUILT_IN } from "../core/config/read.ts";
import type { FoundSeat } from "../core/config/seat.ts";
import { WritError } from "../core/error.ts";
import { readConfigFile } from "../host/config-file.ts";
import { placesOf } from "./world.ts";

export type LoadedConfig = {
  readonly config: Config;
  /** Where each value comes from, by its path. */
  readonly sources: Sources;
  /** The file that was read, absolute; null where there is none and the built-in config is in effect. */
  readonly file: string | null;
};

export type ConfigAsk = {
  /** `--config` as it was typed. */
  readonly config: string | undefined;
  /** Options of the command that stand for a key. */
  readonly options?: ConfigOptions;
  /**
   * Looks at the server of `WRIT_SEAT_URL` where the environment does not say what it serves. Null looks at nothing:
   * such a seat then has the model "", and no error says so. Left out: the real one.
   */
  readonly find?: ((baseUrl: string) => Promise<FoundSeat | null>) | null;
  readonly environment?: Environment;
};

/** `--config` of every command that reads it. */
export const CONFIG_OPTION = {
  config: {
    type: "string",
    valueHint: "PATH",
    description: "The config file (default: WRIT_CONFIG, else config.json in the data folder)",
  },
} as const;

/**
 * Reads the config file that is meant and lays environment and options over it.
 *
 * Errors: `bad_config` with every issue of file, environment and options; `seat_unavailable` when the server of
 *         `WRIT_SEAT_URL` has to be asked what it serves and does not answer
 * Source: delegation run, section 2.1
 */
export async function loadConfig({
  config,
  options = {},
  find,
  environment = process.env,
}: ConfigAsk): Promise<LoadedConfig> {
  const { file, read } = readConfigFile(config, environment, placesOf(environment as NodeJS.ProcessEnv).data);
  const merge = (found: FoundSeat | null) => mergeConfig(read ?? BUILT_IN, environment, options, found);
  const first = merge(null);
  const from = read === null ? null : file;
  if (!first.ok) throw badConfig(from, first.issues);
  const url = seatToFind(environment);
  if (find === null || url === null) return { config: first.config, sources: first.sources, file: from };
  const look = find ?? (await import("./seat-finder.ts")).findSeatHere;
  const found = await look(url);
  const second = merge(found);
  if (!second.ok) throw badConfig(from, second.issues);
  if (found === null || second.config.seats[0]?.model === "") {
    const why = found === null ? "nothing there answers as a model server" : "it lists no model";
    throw new WritError("seat_unavailable", `Cannot find out what the server of WRIT_SEAT_URL serves: ${why}`, {
      hint: "Start it, or say it with WRIT_SEAT_MODEL and WRIT_SEAT_ENGINE",
    });
  }
  return { config: second.config, sources: second.sources, file: from };
}
