/** The limits of the write door, each once. Source: delegation run, section 0. */
export const WRITE_LIMITS = {
  /** Distinct paths that one run writes, and files of a diff. */
  files: 8,
  /** What the seat authored over all its writes; and the added lines of a diff, without their signs. */
  written_bytes: 64 * 1024,
  diff_bytes: 192 * 1024,
  /** A patch that is larger is not read, whoever made it. */
  patch_bytes: 8 * 1024 * 1024,
  /** A larger file is opaque in a snapshot. */
  text_bytes: 1024 * 1024,
  /** Past so many line edits, what lies between the first and the last becomes one replaced block. */
  line_edits: 5000,
  /** Lines around a change that a hunk shows. */
  context_lines: 3,
} as const;
