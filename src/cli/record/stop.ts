/** The stop lane of `writ record`: what is kept of a turn that ended without closing itself. */
import type { HookEvent } from "../../core/record/hook.ts";
import { redact } from "../../core/record/redact.ts";
import { readTranscript } from "../../core/record/transcript.ts";
import { stopTurn } from "../../editor/stop.ts";
import type { World as EditorWorld } from "../../editor/world.ts";
import { readTextLines } from "../../host/file.ts";
import { placeOfHook } from "../../record/place.ts";
import type { World } from "../../record/world.ts";
import type { Output } from "../command.ts";

export function runStopLane(
  world: World & EditorWorld,
  event: Extract<HookEvent, { kind: "stop" }>,
  { named, json, out }: { readonly named: string | null; readonly json: boolean; readonly out: Output },
): void {
  const place = world.store.read((tables) =>
    placeOfHook(tables, { named, environment: world.contractId, origin: event, mayClaim: false }),
  );
  if (place.contract_id === null) {
    out.talk(`Nothing was recorded: ${place.why}`);
    if (json) out.document({ ok: true, status: "unbound", reason: place.why });
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
  for (const warning of stopped.warnings) out.talk(`Warning: ${warning}`);
  if (json)
    out.document({
      ok: true,
      status: stopped.cut_reason === null ? "closed" : "cut",
      contract_id: stopped.contract_id,
      cut_reason: stopped.cut_reason,
    });
}
