/** The phase and plan trackers over their store: each call reads, decides and writes as one. */
import type { TrackerAnswer } from "../core/tracker/answer.ts";
import { type Flow, flowText } from "../core/tracker/flow.ts";
import { movePhase, type PhaseCall } from "../core/tracker/phase-verbs.ts";
import { movePlan, type PlanCall } from "../core/tracker/plan-verbs.ts";
import type { FlowChange, FlowRecord, FlowStore } from "../core/tracker/repository.ts";
import type { FlowSettings } from "../core/tracker/settings.ts";

/** What a tracker call needs of the world. */
export type TrackerWorld = {
  readonly store: FlowStore;
  readonly settings: FlowSettings;
  /** The SHA-256 of a file's bytes; null when it cannot be read. */
  digestOf(path: string): string | null;
};

/** The answer, and the flow as it stands behind it: of a refusal the one that stayed. */
export type Tracked = { readonly answer: TrackerAnswer; readonly flow: Flow };

/** Errors: those of the store */
export function trackPhase({ store, settings, digestOf }: TrackerWorld, call: PhaseCall): Tracked {
  return track(store, (flow) => movePhase(flow, call, { settings, digestOf }), call.action === "reset");
}

/** Errors: those of the store */
export function trackPlan({ store }: TrackerWorld, call: PlanCall): Tracked {
  return track(store, (flow) => movePlan(flow, call), false);
}

function track(store: FlowStore, move: (flow: Flow) => TrackerAnswer, clearsMark: boolean): Tracked {
  const decide = (record: FlowRecord): FlowChange<Tracked> => {
    const answer = move(record.flow);
    if (!answer.ok) return { record: null, value: { answer, flow: record.flow } };
    const { flow } = answer;
    const mark = clearsMark ? null : record.mark;
    const isSame = mark === record.mark && flowText(flow) === flowText(record.flow);
    return { record: isSame ? null : { flow, mark }, value: { answer, flow } };
  };
  // What changes nothing waits for no writer.
  const looked = decide(store.read());
  return looked.record === null ? looked.value : store.write(decide);
}
