/** What a look at a store tells, without using it. */
export type StoreFacts =
  | { readonly kind: "absent" }
  | {
      readonly kind: "read";
      readonly layout: number;
      /** The layout that this writ makes. */
      readonly known: number;
      readonly journal_mode: string;
      /** What `quick_check` complains of, at most ten; empty when it is content. */
      readonly complaints: readonly string[];
    }
  /** It cannot be opened, so that nothing is known of what it holds; or it is no regular file. */
  | { readonly kind: "shut"; readonly isFile: boolean; readonly reason: string }
  /** `isBroken`: the file is wrong; else it could not be looked at now. */
  | { readonly kind: "failed"; readonly isBroken: boolean; readonly reason: string };
