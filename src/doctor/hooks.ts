/** The check of what the settings of Claude Code say: which events reach which writ. */

import { WritError } from "../core/error.ts";
import { HOOK_EVENTS } from "../core/hooks/harness.ts";
import { type FoundHook, findHooks, parseSettings } from "../core/hooks/settings.ts";
import { valueAt } from "../core/json/value.ts";
import { type Check, type Finding, findingsOf } from "./check.ts";
import type { SettingsFile, World } from "./world.ts";

/** A hook that calls writ, and the file it stands in. */
export type Registered = FoundHook & {
  readonly writ: NonNullable<FoundHook["writ"]>;
  readonly file: SettingsFile;
};

const INSTALL = "Type: writ hooks install claude-code";

export const hooks: Check = {
  name: "hooks",
  async look(world) {
    const { pass, warn, fail, skip } = findingsOf("hooks");
    const findings: Finding[] = [];
    const registered: Registered[] = [];
    for (const file of world.settings) {
      const read = readRegistered(world, file);
      if ("fault" in read) {
        findings.push(fail(file.path, `The ${file.scope} settings cannot be read: ${read.fault}`, "Mend the file"));
        continue;
      }
      registered.push(...read.registered);
      if (read.isOff) {
        const hint = 'Take "disableAllHooks" out';
        findings.push(fail(file.path, `The ${file.scope} settings switch all hooks off`, hint));
      }
      const events = [...new Set(read.registered.map((hook) => hook.event))];
      if (events.length === 0) findings.push(skip(file.path, `No hook of writ in the ${file.scope} settings`));
      else
        findings.push(
          pass(file.path, `The ${file.scope} settings have ${events.join(", ")}${gateText(read.registered)}`),
        );
    }
    // Nothing is wrong where nobody has a harness record.
    if (registered.length === 0) return [...findings, warn("claude-code", "No hook of writ is installed", INSTALL)];
    return [...findings, ...missingEvents(registered), ...doubtful(registered), ...(await programs(world, registered))];
  },
};

/** Every hook of writ in every settings file that can be read. */
export function registeredHooks(world: World): readonly Registered[] {
  return world.settings.flatMap((file) => {
    const read = readRegistered(world, file);
    return "fault" in read ? [] : read.registered;
  });
}

/** Whether a hook is called after a Bash command. What is more than a list of names is taken to match. */
export function coversBash({ matcher }: FoundHook): boolean {
  if (matcher === null || matcher === "" || matcher === "*" || !/^[\w|]+$/.test(matcher)) return true;
  return matcher.split("|").includes("Bash");
}

/**
 * Whether the doctor may run it. What the settings of a project name may have come with a clone, and an interpreter runs
 * whatever file it is given: from there only this very writ is run. A user's own settings are the user's.
 */
export function mayRun(world: World, { writ, file }: Registered): boolean {
  if (writ.program === null) return false;
  return file.scope === "user" || world.findProgram(writ.program).isSelf;
}

function readRegistered(
  world: World,
  file: SettingsFile,
): { readonly registered: readonly Registered[]; readonly isOff: boolean } | { readonly fault: string } {
  try {
    const text = world.readSettings(file.path);
    if (text === null) return { registered: [], isOff: false };
    const settings = parseSettings(text, file.path);
    const registered = findHooks(settings).flatMap((hook) =>
      hook.writ === null || !isRecorded(hook.event) ? [] : [{ ...hook, writ: hook.writ, file }],
    );
    return { registered, isOff: valueAt(settings, "disableAllHooks") === true };
  } catch (error) {
    if (error instanceof WritError) return { fault: error.message };
    throw error;
  }
}

function isRecorded(event: string): boolean {
  return HOOK_EVENTS.some((known) => known === event);
}

function gateText(registered: readonly Registered[]): string {
  const stops = registered.filter((hook) => hook.event === "SubagentStop");
  return stops.length === 0 ? "" : `; stop gate ${Math.max(...stops.map((hook) => hook.writ.gate)) || "off"}`;
}

const WITHOUT: Readonly<Record<(typeof HOOK_EVENTS)[number], string>> = {
  PostToolUse: "no command that succeeds is recorded",
  PostToolUseFailure: "no command that fails is recorded: the record shows a world without failures",
  SubagentStart: "a turn is bound to its record only by its first command",
  SubagentStop: "a turn that stops unfinalized is neither sent back nor marked as cut",
};

function missingEvents(registered: readonly Registered[]): readonly Finding[] {
  const { fail } = findingsOf("hooks");
  return HOOK_EVENTS.flatMap((event) => {
    const found = registered.filter((hook) => hook.event === event);
    if (found.length === 0) return [fail(event, `It is not registered: ${WITHOUT[event]}`, INSTALL)];
    if (event.startsWith("Post") && !found.some(coversBash)) {
      const hint = `Take the matcher "${found[0]?.matcher ?? ""}" out`;
      return [fail(event, `Its matcher leaves Bash out: ${WITHOUT[event]}`, hint)];
    }
    return [];
  });
}

/** What works, and not as one would wish. */
function doubtful(registered: readonly Registered[]): readonly Finding[] {
  const { warn, fail } = findingsOf("hooks");
  const findings: Finding[] = [];
  for (const event of HOOK_EVENTS) {
    const found = registered.filter((hook) => hook.event === event);
    const calls = new Set(found.map((hook) => JSON.stringify([hook.command, hook.args])));
    if (calls.size > 1 && new Set(found.map((hook) => hook.matcher)).size === 1) {
      findings.push(warn(event, `It calls writ in ${calls.size} different ways`, "Uninstall all but one"));
    }
    if (found.some((hook) => hook.isAsync)) {
      const message = 'It is "async": what it reports may come after the turn was closed';
      findings.push(fail(event, message, 'Take "async" out of the hook'));
    }
    const foreign = found.find((hook) => hook.writ.harness !== "claude-code");
    if (foreign !== undefined) {
      const message = `It says --harness ${foreign.writ.harness}, under which no outcome is known`;
      findings.push(fail(event, message, INSTALL));
    }
  }
  return findings;
}

/** Whether each writ that is named is there and is this one. */
async function programs(world: World, registered: readonly Registered[]): Promise<readonly Finding[]> {
  const { pass, fail, warn } = findingsOf("hooks");
  const findings: Finding[] = [];
  const byName = new Map(registered.map((hook) => [JSON.stringify(hook.writ.program ?? hook.command), hook]));
  for (const hook of byName.values()) {
    const { program } = hook.writ;
    if (program === null) {
      findings.push(warn(hook.command, "It is a line for a shell that the doctor does not run", INSTALL));
      continue;
    }
    const name = program.join(" ");
    const { path, isSelf } = world.findProgram(program);
    if (path === null) findings.push(fail(name, "There is no such program", INSTALL));
    else if (isSelf) findings.push(pass(name, `It is this writ, ${world.version}`));
    else if (!mayRun(world, hook)) {
      findings.push(
        warn(name, "A project names it, and it is another program than this writ; it was not run", INSTALL),
      );
    } else {
      const version = await world.versionOf(program);
      if (version === null) findings.push(fail(name, "It does not answer as writ does", INSTALL));
      else if (version === world.version)
        findings.push(pass(name, `It is another file of the same version, ${version}`));
      else findings.push(fail(name, `It is writ ${version}; this is ${world.version}`, INSTALL));
    }
  }
  return findings;
}
