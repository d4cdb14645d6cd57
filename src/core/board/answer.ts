/** What the board answers a request with; how it travels is `wire/board.ts`. */

export type Ask = {
  /** Behind the token and its slash, without a slash in front; as it was sent, so percent signs are still there. */
  readonly path: string;
  /** Without its question mark. */
  readonly query: string;
};

export type Answer = {
  /** An HTTP status. */
  readonly status: number;
  /** A media type. */
  readonly type: string;
  readonly body: string;
};
