/** Which workspace a verb works in. */

/** The workspace of whoever names none. */
export const DEFAULT_WORKSPACE = "me";

/** Blank is "not given", and so is null. */
type Given = {
  /** `--workspace`. */
  readonly option: string | null;
  /** `WRIT_WORKSPACE`. */
  readonly environment: string | null;
  /** The workspace of the row that is addressed: of the turn that `WRIT_CONTRACT_ID` names. */
  readonly row: string | null;
};

/** The option, else the environment, else the row's, else "me". */
export function resolveWorkspace({ option, environment, row }: Given): string {
  return [option, environment, row].map((name) => name?.trim() ?? "").find((name) => name !== "") ?? DEFAULT_WORKSPACE;
}
