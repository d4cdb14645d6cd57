/** The limits of a delegation contract, each once; those of its schema stand in `core/schema/`. Sizes are bytes of UTF-8. */
export const CONTRACT_LIMITS = {
  /** A contract file whole. */
  file_bytes: 16 * 1024 * 1024,
  /** Levels of containers in it. */
  depth: 64,
  subtasks: 8,
  /** Inline documents and those of `context_paths` together. */
  documents: 16,
  /** One file of `context_paths`; exactly so many are allowed. */
  document_bytes: 128 * 1024,
  /** Names and texts of all documents of a subtask. */
  documents_bytes: 256 * 1024,
  name_bytes: 1024,
  segment_bytes: 255,
  checks: 64,
  check_bytes: 4096,
  /**
   * Instructions of the patterns of all checks, times bytes of what they are held against: goal and documents, at least
   * `pattern_text_bytes`. A search takes each for each, 40 ns at the very worst; without a bound the 64 checks may have
   * 25 million instructions, and a grade takes days.
   */
  pattern_work: 2 ** 31,
  pattern_text_bytes: 64 * 1024,
} as const;
