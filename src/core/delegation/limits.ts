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
} as const;
