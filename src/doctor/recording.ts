/**
 * The proof that recording works: a short turn is played through the hook commands themselves, against a data folder
 * of its own, and what arrived there is compared with what happened.
 */

import { WritError } from "../core/error.ts";
import type { HookEventName } from "../core/hooks/harness.ts";
import { type RehearsedRun, rehearsedRuns, type Scene, startPayload, stopPayload } from "../core/hooks/rehearsal.ts";
import type { JsonObject } from "../core/json/value.ts";
import { stripControls } from "../core/terminal.ts";
import { type Check, type Finding, findingsOf } from "./check.ts";
import { coversBash, mayRun, type Registered, registeredHooks } from "./hooks.ts";
import type { Called, Rehearsal } from "./world.ts";

const { pass, fail, warn, skip } = findingsOf("recording");

/** A gate that is set higher is played this often at most. */
const STOPS = 10;

export const recording: Check = {
  name: "recording",
  async look(world) {
    const registered = registeredHooks(world);
    if (registered.length === 0) return [skip("claude-code", "There is no hook to play")];
    if (registered.some((hook) => !mayRun(world, hook))) {
      return [warn("claude-code", "A hook names a program that the doctor does not run; nothing was played")];
    }
    let rehearsal: Rehearsal;
    try {
      rehearsal = world.openRehearsal();
    } catch (error) {
      if (!(error instanceof WritError)) throw error;
      return [warn("rehearsal", `No scratch folder could be set up: ${error.message}`)];
    }
    try {
      return await rehearse(rehearsal, registered);
    } finally {
      rehearsal.close();
    }
  },
};

async function rehearse(rehearsal: Rehearsal, registered: readonly Registered[]): Promise<readonly Finding[]> {
  const scene: Scene = { session_id: rehearsal.session_id, agent_id: "rehearsal0000001", cwd: rehearsal.cwd };
  const play = (event: HookEventName, payload: JsonObject) =>
    playEvent(
      rehearsal,
      registered.filter((hook) => hook.event === event && coversBash(hook)),
      payload,
    );
  const findings: Finding[] = [];
  const noted = (event: string, calls: readonly Called[]) => findings.push(...noiseOf(event, calls));

  noted("SubagentStart", await play("SubagentStart", startPayload(scene)));
  for (const run of rehearsedRuns(scene)) {
    const calls = await play(run.event, run.payload);
    noted(run.event, calls);
    findings.push(arrival(rehearsal, run, calls));
  }
  const stops = registered.filter((hook) => hook.event === "SubagentStop");
  if (stops.length === 0) return [...findings, skip("stop", "Nothing is registered for SubagentStop")];
  findings.push(await playStop(rehearsal, stops, scene));
  return findings;
}

async function playEvent(
  rehearsal: Rehearsal,
  hooks: readonly Registered[],
  payload: JsonObject,
): Promise<readonly Called[]> {
  const calls: Called[] = [];
  for (const hook of hooks) calls.push(await rehearsal.call(argvOf(hook), payload));
  return calls;
}

/** As the harness spawns it. */
function argvOf({ command, args }: Registered): readonly string[] {
  return args === null ? ["/bin/sh", "-c", command] : [command, ...args];
}

function arrival(rehearsal: Rehearsal, run: RehearsedRun, calls: readonly Called[]): Finding {
  const wanted = run.exit_code === null ? "an unknown outcome" : `exit ${run.exit_code}`;
  const subject = run.exit_code === null ? `${run.command} (background)` : run.command;
  const found = rehearsal.runs().get(run.command);
  if (found === undefined) {
    const why = calls.length === 0 ? `nothing is registered for ${run.event}` : (whyOf(calls) ?? "no record was kept");
    const hint = calls.length === 0 ? "Type: writ hooks install claude-code" : null;
    return fail(subject, `It did not arrive with ${wanted}: ${why}`, hint);
  }
  if (found.exit_code === run.exit_code && !found.failed) return pass(subject, `It arrived with ${wanted}`);
  return fail(subject, `It arrived with exit ${found.exit_code ?? "unknown"} instead of ${wanted}`);
}

/** Stops the turn until it is let go: it is sent back as often as the gate says and then recorded as cut. */
async function playStop(rehearsal: Rehearsal, stops: readonly Registered[], scene: Scene): Promise<Finding> {
  const gate = Math.max(...stops.map((hook) => hook.writ.gate));
  let sentBack = 0;
  let calls: readonly Called[] = [];
  for (let stop = 0; stop <= Math.min(gate, STOPS); stop += 1) {
    calls = await playEvent(rehearsal, stops, stopPayload(scene, sentBack > 0));
    if (!calls.some(isSentBack)) break;
    sentBack += 1;
  }
  const times = sentBack === 1 ? "once" : `${sentBack} times`;
  if (sentBack > gate) return fail("stop", `The turn was sent back ${times}; the gate allows ${gate}`);
  if (sentBack > STOPS) return pass("stop", `It was sent back ${times}, and the gate allows more`);
  const row = rehearsal.row();
  if (row?.cut_reason !== "reaped") {
    const end = whyOf(calls) ?? `its row is ${row?.agent_state ?? "gone"}`;
    return fail("stop", `The turn was not recorded as cut: ${end}`);
  }
  if (sentBack < gate) return fail("stop", `The turn was sent back ${times}; the gate says ${gate}`);
  return pass("stop", gate === 0 ? "It was recorded as cut" : `It was sent back ${times}, then recorded as cut`);
}

function isSentBack(called: Called): boolean {
  return called.kind === "ended" && /"decision"\s*:\s*"block"/.test(called.stdout);
}

/** Hooks that would be seen in the harness. */
function noiseOf(event: string, calls: readonly Called[]): readonly Finding[] {
  return calls.flatMap((called) => {
    if (called.kind !== "ended") return [fail(event, `Its command ${called.reason}`)];
    if (called.exit !== 0) return [fail(event, `Its command ended in ${called.exit}, and a hook has to end in 0`)];
    return called.stdout.trim() === "" ? [] : [fail(event, "Its command printed something on standard output")];
  });
}

function whyOf(calls: readonly Called[]): string | null {
  for (const called of calls) {
    if (called.kind !== "ended") return called.reason;
    const line = stripControls(called.stderr).trim().split("\n", 1)[0] ?? "";
    if (line !== "") return `its command says "${line.slice(0, 200)}"`;
  }
  return null;
}
