/** Putting writ's hooks into the settings of a harness, and taking them out again. */
import { differenceLines } from "../core/hooks/difference.ts";
import { planInstall, planUninstall } from "../core/hooks/settings.ts";
import type { Harness } from "../core/record/hook.ts";
import type { World } from "./world.ts";

export type SetUp = {
  readonly harness: Harness;
  /** The settings file. */
  readonly path: string;
  /** Plans and writes nothing. */
  readonly dry: boolean;
};

export type Changed = {
  readonly path: string;
  /** The events whose hooks changed; none where nothing was to be done. */
  readonly events: readonly string[];
  /** Lines of a unified diff. */
  readonly difference: readonly string[];
};

/** Errors: `bad_json`, `settings_refused`, `settings_busy`, `file_unreadable`, `file_unwritable`. */
export function installHooks(world: World, request: SetUp & { readonly gate: number }): Changed {
  const { harness, gate, path } = request;
  return change(world, request, (text) => planInstall(text, path, { harness, program: world.program, gate }));
}

/** Errors: as `installHooks`. */
export function uninstallHooks(world: World, request: SetUp): Changed {
  const { harness, path } = request;
  return change(world, request, (text) =>
    text === null ? { text, events: [] } : planUninstall(text, path, { harness, program: world.program }),
  );
}

type Plan = { readonly text: string | null; readonly events: readonly string[] };

function change({ settings }: World, { path, dry }: SetUp, plan: (text: string | null) => Plan): Changed {
  const planned = (before: string | null) => {
    const { text, events } = plan(before);
    return { text, events, difference: text === null ? [] : differenceLines(before, text, path) };
  };
  const { events, difference } = dry ? planned(settings.read(path)) : settings.change(path, planned);
  return { path, events, difference };
}
