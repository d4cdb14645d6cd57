/** The stop lane of `writ record`: the gate, and what is kept of a turn that ended without closing itself. */
import { EXIT, exitOf, WritError } from "../../core/error.ts";
import { ADAPTERS } from "../../core/hooks/harness.ts";
import type { Harness, HookEvent } from "../../core/record/hook.ts";
import { redact } from "../../core/record/redact.ts";
import { readTranscript } from "../../core/record/transcript.ts";
import { stopTurn } from "../../editor/stop.ts";
import { gateStop, type SentBack } from "../../editor/stop-gate.ts";
import type { World as EditorWorld } from "../../editor/world.ts";
import { readTextLines } from "../../host/file.ts";
import { programFinder } from "../../host/program.ts";
import { placeOfHook } from "../../record/place.ts";
import type { World } from "../../record/world.ts";
import type { Output } from "../command.ts";

type StopCall = {
  readonly named: string | null;
  readonly harness: Harness;
  /** How often the turn may be sent back. */
  readonly gate: number;
  readonly json: boolean;
  readonly out: Output;
};

export function runStopLane(
  world: World & EditorWorld,
  event: Extract<HookEvent, { kind: "stop" }>,
  { named, harness, gate, json, out }: StopCall,
): void {
  const place = world.store.read((tables) =>
    placeOfHook(tables, { named, environment: world.contractId, origin: event, mayClaim: false }),
  );
  if (place.contract_id === null) {
    out.talk(`Nothing was recorded: ${place.why}`);
    if (json) out.document({ ok: true, status: "unbound", reason: place.why });
    return;
  }
  const { goOn } = ADAPTERS[harness];
  const gated = goOn === null ? null : tryGate(world, place.contract_id, event, gate);
  if (gated !== null && "sent" in gated && gated.sent !== null && goOn !== null) {
    const { contract_id, count, reason } = gated.sent;
    const answer = goOn(reason);
    if (json) out.document({ ok: true, status: "sent_back", contract_id, count, ...answer });
    else out.line(JSON.stringify(answer));
    return;
  }
  const lines = event.agent_transcript_path === null ? null : readTextLines(event.agent_transcript_path);
  const stopped = stopTurn(world, {
    contract_id: place.contract_id,
    transcript: lines === null ? null : readTranscript(lines),
    stop_reason: event.stop_reason,
    session_id: event.session_id,
    redactCommand: (text) => redact(text, "command", world.values),
  });
  if (gated !== null && "fault" in gated) out.talk(`The turn was not gated: ${gated.fault}`);
  for (const warning of stopped.warnings) out.talk(`Warning: ${warning}`);
  for (const notice of stopped.notices) out.talk(notice);
  if (json)
    out.document({
      ok: true,
      status: stopped.cut_reason === null ? "closed" : "cut",
      contract_id: stopped.contract_id,
      cut_reason: stopped.cut_reason,
    });
}

/**
 * A fault of writ never holds a turn: it is told, and the turn stops as if there were no gate. Errors: those of a store
 * that is not to be had, which the cut lane would only wait for again.
 */
function tryGate(
  world: World & EditorWorld,
  contract_id: string,
  event: Extract<HookEvent, { kind: "stop" }>,
  limit: number,
): { readonly sent: SentBack | null } | { readonly fault: string } {
  const close = { ...world, isProgram: programFinder(process.env), changedAfter: () => [] };
  try {
    return { sent: gateStop(close, { contract_id, limit, stop_hook_active: event.stop_hook_active }) };
  } catch (error) {
    if (error instanceof WritError && exitOf(error.code) === EXIT.unavailable) throw error;
    return { fault: error instanceof Error ? error.message.split("\n", 1).join("") : String(error) };
  }
}
