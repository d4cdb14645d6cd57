/** Every tool, by its name, in the order in which clients list them. Nothing is loaded until it is listed or called. */
import type { Tool } from "./tool.ts";

type Entry = {
  readonly load: () => Promise<{ readonly tool: Tool }>;
  /** It is there only where delegation is enabled. */
  readonly delegates?: true;
  /** Calls of these are carried out one after the other, as they came: each builds on what the one before has written. */
  readonly inTurn?: true;
};

export type Tools = Readonly<Record<string, Entry>>;

export const TOOLS: Tools = {
  agent_delegate: { load: () => import("./agent-delegate.ts"), delegates: true },
  delegation_lint: { load: () => import("./delegation-lint.ts") },
  delegation_template: { load: () => import("./delegation-template.ts") },
  delegation_grade: { load: () => import("./delegation-grade.ts") },
  delegation_result: { load: () => import("./delegation-result.ts"), delegates: true },
  delegation_cancel: { load: () => import("./delegation-cancel.ts"), delegates: true },
  fleet_status: { load: () => import("./fleet-status.ts"), delegates: true },
  contract_init: { load: () => import("./contract-init.ts"), inTurn: true },
  contract_set: { load: () => import("./contract-set.ts"), inTurn: true },
  contract_add: { load: () => import("./contract-add.ts"), inTurn: true },
  contract_fill: { load: () => import("./contract-fill.ts"), inTurn: true },
  contract_view: { load: () => import("./contract-view.ts"), inTurn: true },
  contract_validate: { load: () => import("./contract-validate.ts"), inTurn: true },
  contract_list: { load: () => import("./contract-list.ts"), inTurn: true },
  contract_show: { load: () => import("./contract-show.ts"), inTurn: true },
  contract_chain: { load: () => import("./contract-chain.ts"), inTurn: true },
  contract_finalize: { load: () => import("./contract-finalize.ts"), inTurn: true },
};

/** The tools of a server: with delegation switched off it is as if those that delegate had never been made. */
export function toolsOf(isDelegationEnabled: boolean): Tools {
  return Object.fromEntries(Object.entries(TOOLS).filter(([, { delegates }]) => isDelegationEnabled || !delegates));
}
