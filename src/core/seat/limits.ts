/**
 * The numbers of the agent loop, each once. What a config may change is not here; it is handed in.
 *
 * Source: delegation run, sections 0, 5 and 8
 */
export const LOOP_LIMITS = {
  /** Of one turn; what is above gets a refusal, and past the second number is not even answered. */
  calls_per_turn: 8,
  answered_calls_per_turn: 64,
  /** Requests that are sent again with a note on what was wrong, in one run. */
  corrections: 2,
  /** Times that a seat may go down under one run. */
  recoveries: 2,
  /** Steps in a row in which no call was carried out; then the answer is demanded. */
  idle_steps: 3,
  /** Writes in a row that fail by the disk; then the place is at fault and not the work. */
  failed_writes: 2,
  tool_timeout_ms: 30_000,

  /** Lines of `read_file` without a limit, characters of one line, bytes of the whole. */
  read_lines: 2_000,
  line_characters: 2_000,
  read_bytes: 256 * 1024,
  matches: 100,
  /** Real lines that a failed edit is answered with. */
  near_lines: 7,

  /** What stays at either end of a result that is cut to make room. */
  kept_ends: 600,
  /** A tool result keeps at least so many characters, however small the window. */
  least_observation: 1_024,
  trace_note_bytes: 160,

  /** Sleeps between busy answers without a hint, in seconds; the last one repeats. */
  busy_ladder_sec: [1, 2, 4, 8, 15],
  ready_poll_ms: 2_000,
  /** Starts of a model's load that are asked of a proxy in one wait. */
  warm_ups: 3,
  /** Before the one plain re-issue of a request that died. */
  reissue_after_ms: 2_000,
  probe_tokens: 96,

  /** Reading speed of a seat that was never measured, in tokens a second: a processor without an accelerator. */
  presumed_prefill_tok_s: 20,
  decoding_allowance_ms: 60_000,
  /** What a final answer is expected to take at least, in tokens. */
  least_final_tokens: 512,
} as const;
