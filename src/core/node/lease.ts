/**
 * Who still asks for a job. An accepted job that nobody asked for during its lease is not started; after another lease it
 * is given up. Asking again within that time gives it a new lease.
 *
 * Source: delegation run, section 7.5
 */

export type LeaseState = "held" | "lapsed" | "over";

export class LeaseBook {
  readonly #renewed = new Map<string, number>();

  /** @param lease_ms 0: every job is held for ever */
  constructor(private readonly lease_ms: number) {}

  /** A job whose lease begins. */
  enter(job_id: string, now_ms: number): void {
    if (this.lease_ms > 0) this.#renewed.set(job_id, now_ms);
  }

  /** Somebody asks; a job that is not in the book stays out of it. */
  renew(job_id: string, now_ms: number): void {
    if (this.#renewed.has(job_id)) this.#renewed.set(job_id, now_ms);
  }

  /** A job that is not in the book was never asked for. */
  stateOf(job_id: string, now_ms: number): LeaseState {
    if (this.lease_ms <= 0) return "held";
    const renewed = this.#renewed.get(job_id);
    const age = renewed === undefined ? Number.POSITIVE_INFINITY : now_ms - renewed;
    if (age < this.lease_ms) return "held";
    return age < 2 * this.lease_ms ? "lapsed" : "over";
  }

  forget(job_id: string): void {
    this.#renewed.delete(job_id);
  }
}
