/**
 * What a seat has called so far in one run, and what stops it from calling for ever.
 *
 * Source: delegation run, section 5.7
 */

export type CallCaps = {
  readonly same_tool: number;
  readonly same_write_tool: number;
  /** Of the contract: `read_file` may be called twice for each. */
  readonly documents: number;
  /** Of the config: how often a tool may be carried out, by its name. */
  readonly max_calls_per_tool: Readonly<Partial<Record<string, number>>>;
};

export type Admission =
  /** `isRerun`: compaction destroyed the result of this very call, and it is made once more. */
  { readonly ok: true; readonly isRerun: boolean } | { readonly ok: false; readonly message: string };

type Made = {
  readonly call_id: string;
  /** The state of the workspace behind the call: a result from before a change is out of date. */
  readonly version: number;
  readonly wasRerun: boolean;
};

/** The calls of one run. It is told of each call that is asked for and of each that was carried out. */
export class CallLedger {
  private readonly asked = new Map<string, number>();
  private readonly carriedOut = new Map<string, number>();
  private readonly made = new Map<string, Made>();
  private readonly lost = new Set<string>();
  private readonly taken = new Set<string>();
  private version = 0;

  constructor(
    private readonly offered: readonly string[],
    private readonly caps: CallCaps,
  ) {}

  /** The tools that are still offered, in their order. */
  available(): readonly string[] {
    return this.offered.filter((name) => !this.taken.has(name));
  }

  /**
   * Judges a call of a known tool: is the tool there, was it called too often, was this very call made before. In this
   * order, so that a seat that is stuck on one call loses the tool.
   *
   * @param given the arguments, byte for byte
   */
  admit(name: string, given: string): Admission {
    if (!this.available().includes(name)) {
      return refused(`${name} is not available; available: ${this.available().join(", ")}`);
    }
    const count = (this.asked.get(name) ?? 0) + 1;
    this.asked.set(name, count);
    const cap = this.capOf(name);
    const limit = Object.hasOwn(this.caps.max_calls_per_tool, name) ? this.caps.max_calls_per_tool[name] : undefined;
    const isSpent = limit !== undefined && (this.carriedOut.get(name) ?? 0) >= limit;
    if (count > cap || isSpent) {
      this.taken.add(name);
      const most = isSpent ? limit : cap;
      return refused(`${name} may be called ${most} times and is no longer available; use the results you have`);
    }
    const before = this.made.get(keyOf(name, given));
    if (before === undefined || before.version !== this.version) return { ok: true, isRerun: false };
    if (this.lost.has(before.call_id) && !before.wasRerun) return { ok: true, isRerun: true };
    return refused("you made this very call before; use the result you have, or give the final answer");
  }

  /** A call was carried out, whatever came of it. `hasWritten`: results from before it may be out of date. */
  record(name: string, given: string, call: { call_id: string; hasWritten: boolean; isRerun: boolean }): void {
    if (call.hasWritten) this.version += 1;
    this.carriedOut.set(name, (this.carriedOut.get(name) ?? 0) + 1);
    const { call_id, isRerun } = call;
    this.made.set(keyOf(name, given), { call_id, version: this.version, wasRerun: isRerun });
  }

  /** These results are no longer whole in the conversation. */
  lose(call_ids: Iterable<string>): void {
    for (const id of call_ids) this.lost.add(id);
  }

  private capOf(name: string): number {
    const { same_tool, same_write_tool, documents } = this.caps;
    switch (name) {
      case "finish":
        return Number.POSITIVE_INFINITY;
      case "read_file":
        return Math.max(same_tool, 2 * documents);
      case "write_file":
      case "edit_file":
        return same_write_tool;
      default:
        return same_tool;
    }
  }
}

function refused(message: string): Admission {
  return { ok: false, message: `NOT performed: ${message}` };
}

function keyOf(name: string, given: string): string {
  return `${name}\n${given}`;
}
