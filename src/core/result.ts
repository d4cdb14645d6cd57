/** One thing wrong in a document. Many may be found at once; they are returned, never thrown. */
export type Issue = {
  /** Stable; what programs match on. */
  readonly code: string;
  /** Where, spelled as `contract set` takes it; null when it is about the whole. */
  readonly path: string | null;
  /** One sentence for a person; no promise to programs. */
  readonly message: string;
  /** The next command to type, or the values that would do. */
  readonly hint: string | null;
};

export type Result<T, E = readonly Issue[]> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly issues: E };
