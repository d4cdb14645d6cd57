/** What looking at the store needs of the world. */
import type { BoardStore } from "../core/board/repository.ts";

export type BoardWorld = {
  /** Opens the store for one answer; null when there is none. Errors: those of reading a store. */
  openStore(): BoardStore | null;
  /** The path of the store, to be told. */
  readonly database: string;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Lower-case hex SHA-256. */
  sha256(text: string): string;
};
