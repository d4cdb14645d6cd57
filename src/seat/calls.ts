/**
 * Carrying out the calls of one turn: which may be, which are refused, and what the seat and the trace are told.
 *
 * Source: delegation run, sections 5.3, 5.4 and 5.7
 */
import type { TraceEntry } from "../core/delegation/wire-result.ts";
import type { JsonObject } from "../core/json/value.ts";
import type { CallLedger } from "../core/seat/call-ledger.ts";
import type { ToolResult } from "../core/seat/history.ts";
import { LOOP_LIMITS } from "../core/seat/limits.ts";
import type { PlannedCall } from "../core/seat/turn.ts";
import { clipUtf8 } from "../core/utf8.ts";
import type { JobState } from "./job-state.ts";
import type { Toolbox } from "./toolbox.ts";
import { boundBy } from "./wall.ts";

export type CarriedOut = {
  /** One for each call, in their order. */
  readonly results: readonly ToolResult[];
  readonly trace: readonly TraceEntry[];
  /** No call got as far as its tool. */
  readonly isIdle: boolean;
};

type Carried = {
  readonly text: string;
  readonly status: TraceEntry["status"];
  readonly notes?: readonly string[];
  readonly isPinned?: boolean;
};

export class Calls {
  constructor(
    private readonly state: JobState,
    private readonly ledger: CallLedger,
    private readonly toolbox: Toolbox,
  ) {}

  /**
   * Carries out the calls of a turn, one after the other.
   *
   * @param isFromText they were read from the text and not parsed by the server
   * @param characters what one result may keep
   */
  async carryOut(
    step: number,
    calls: readonly PlannedCall[],
    isFromText: boolean,
    characters: number,
  ): Promise<CarriedOut> {
    const results: ToolResult[] = [];
    const trace: TraceEntry[] = [];
    for (const [index, call] of calls.entries()) {
      const carried = index < LOOP_LIMITS.calls_per_turn ? await this.one(call, characters) : TOO_MANY;
      const { text, status, notes = [], isPinned = false } = carried;
      const { id, function: named } = call.sent;
      results.push({ call_id: id, tool: named.name, text, state: "whole", isPinned });
      const note = [...(isFromText ? ["parsed from text"] : []), ...notes].join("; ");
      trace.push({
        step,
        tool: named.name,
        status,
        obs_chars: text.length,
        ...(note === "" ? {} : { note: clipUtf8(note, LOOP_LIMITS.trace_note_bytes) }),
      });
    }
    return { results, trace, isIdle: trace.every(({ status }) => status === "refused" || status === "unknown") };
  }

  private async one({ sent, name, given, plan }: PlannedCall, characters: number): Promise<Carried> {
    const { ledger } = this;
    if (plan.kind === "unknown") {
      const text = `error: unknown tool "${name.slice(0, 64).toWellFormed()}"; available: ${ledger.available().join(", ")}`;
      return { text, status: "unknown" };
    }
    const admitted = ledger.admit(name, given);
    if (!admitted.ok) return { text: admitted.message, status: "refused" };
    if (plan.kind === "refuse") return { text: plan.message, status: "refused" };
    const { isRerun } = admitted;
    const outcome = await this.atWork(name, plan.values, characters);
    ledger.record(name, given, { call_id: sent.id, hasWritten: outcome.hasWritten, isRerun });
    return { text: outcome.text, status: outcome.status, notes: plan.notes, isPinned: isRerun };
  }

  private async atWork(name: string, values: JsonObject, characters: number): ReturnType<Toolbox["call"]> {
    const { world, signal, wall, meter, progress } = this.state;
    progress.say("tool", { tool: name, arg: firstText(values), allowance_ms: LOOP_LIMITS.tool_timeout_ms });
    const began = world.clock.ms();
    const bound = boundBy(world, signal, () => wall.remaining_ms());
    try {
      return await this.toolbox.call(name, values, characters, bound.signal);
    } finally {
      bound.release();
      meter.tools_ms += world.clock.ms() - began;
    }
  }
}

const TOO_MANY: Carried = { text: "NOT performed: too many calls in one turn", status: "refused" };

function firstText(values: JsonObject): string {
  const text = Object.values(values).find((value) => typeof value === "string");
  return typeof text === "string" ? text.slice(0, 128).toWellFormed() : "";
}
