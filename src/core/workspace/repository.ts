/** The table `workspaces`: the scope that every other fact belongs to. */
export type WorkspaceTable = {
  /** Makes it where it is missing. */
  ensure(name: string, at: string): void;
};
