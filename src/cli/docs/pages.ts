/** The pages that somebody who uses writ reads, as they stand in the repository, for where the executable is alone. */
import acceptance from "../../../docs/acceptance.md" with { type: "text" };
import board from "../../../docs/board.md" with { type: "text" };
import briefs from "../../../docs/briefs.md" with { type: "text" };
import configuration from "../../../docs/configuration.md" with { type: "text" };
import context from "../../../docs/context.md" with { type: "text" };
import delegating from "../../../docs/delegating.md" with { type: "text" };
import delegationContracts from "../../../docs/delegation-contracts.md" with { type: "text" };
import gates from "../../../docs/gates.md" with { type: "text" };
import glossary from "../../../docs/glossary.md" with { type: "text" };
import guideAgents from "../../../docs/guide-agents.md" with { type: "text" };
import guideOperators from "../../../docs/guide-operators.md" with { type: "text" };
import guideOrchestrators from "../../../docs/guide-orchestrators.md" with { type: "text" };
import hooks from "../../../docs/hooks.md" with { type: "text" };
import mcp from "../../../docs/mcp.md" with { type: "text" };
import operating from "../../../docs/operating.md" with { type: "text" };
import commands from "../../../docs/reference/commands.md" with { type: "text" };
import errors from "../../../docs/reference/errors.md" with { type: "text" };
import tools from "../../../docs/reference/tools.md" with { type: "text" };
import scriptedSeat from "../../../docs/scripted-seat.md" with { type: "text" };
import security from "../../../docs/security.md" with { type: "text" };

export type Page = { readonly name: string; readonly title: string; readonly text: string };

/** In the order in which they are listed: guides, then what is looked up. Files of one name do not occur. */
const TEXTS: Readonly<Record<string, string>> = {
  "guide-agents": guideAgents,
  "guide-orchestrators": guideOrchestrators,
  "guide-operators": guideOperators,
  delegating,
  "delegation-contracts": delegationContracts,
  acceptance,
  "scripted-seat": scriptedSeat,
  gates,
  configuration,
  operating,
  hooks,
  mcp,
  context,
  board,
  security,
  briefs,
  glossary,
  commands,
  errors,
  tools,
};

/** A line of a page that speaks to whoever tests it, and shows nowhere. */
const COMMENT = /^<!--.*-->\n+/gm;

export const PAGES: readonly Page[] = Object.entries(TEXTS).map(([name, page]) => {
  const text = page.replaceAll(COMMENT, "");
  return { name, title: /^# (.+)$/m.exec(text)?.[1] ?? name, text };
});
