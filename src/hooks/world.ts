/** What the set-up of a harness needs of the world. */
export type World = {
  readonly settings: SettingsFiles;
  /** The words that start this writ: its own absolute path, or Bun and the sources. */
  readonly program: readonly string[];
};

export type SettingsFiles = {
  /**
   * The text of a settings file; null where there is none.
   * Errors: `settings_refused` for what writ may not change, `file_unreadable`
   */
  read(path: string): string | null;
  /**
   * Changes a file, making it and its folder where they are missing. The change is given the text as it lies on disk
   * and is called again when somebody else was quicker. Nothing is written when it answers what it was given.
   *
   * Errors: those of `read`; `file_unwritable`, `settings_busy`; what the change throws, and then nothing was written
   */
  change<T extends { readonly text: string | null }>(path: string, change: (text: string | null) => T): T;
};
