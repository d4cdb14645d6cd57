/** Root keys that only writ writes, where an agent writes one of them. */
import { isObject } from "../json/value.ts";
import { isSystemKey } from "./envelope.ts";
import type { Mutation } from "./mutate.ts";
import { splitPath } from "./path.ts";

/** What an agent means who writes a root key of writ's own. */
const MEANT: Readonly<Record<string, string>> = {
  agent_state: "an agent's state is agent_status.agent_state",
  agent_name: "a name is given with writ dispatch --agent",
  agent_output_preview: "an agent's verdict is conclusion",
  conclusion_alias: "an agent's verdict is conclusion",
  content_checks: "an agent's claim is evidence_report.verification",
  harness_record: "an agent's list is evidence_report.commands_run",
  update_contracts_refused: "an agent's proposals are update_contracts",
};

/** One line for each root key that a write sets and that is writ's own: accepted, and most often not what was meant. */
export function systemKeyNotes(mutation: Mutation): readonly string[] {
  const keys =
    mutation.verb === "fill"
      ? isObject(mutation.patch)
        ? Object.keys(mutation.patch)
        : []
      : splitPath(mutation.field).slice(0, 1);
  return keys.filter(isSystemKey).map((key) => {
    const meant = Object.hasOwn(MEANT, key) ? MEANT[key] : "it is no field of an agent's";
    return `${key} at the root is a key of writ's own; ${meant}`;
  });
}
