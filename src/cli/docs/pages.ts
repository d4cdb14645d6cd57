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
import documents from "../../../docs/reference/documents.md" with { type: "text" };
import errors from "../../../docs/reference/errors.md" with { type: "text" };
import tools from "../../../docs/reference/tools.md" with { type: "text" };
import scriptedSeat from "../../../docs/scripted-seat.md" with { type: "text" };
import security from "../../../docs/security.md" with { type: "text" };

export type Page = {
  readonly name: string;
  readonly title: string;
  /** What somebody finds in it: one line, no full stop. */
  readonly about: string;
  readonly text: string;
};

/** In the order in which they are listed: guides, then what is looked up. Files of one name do not occur. */
const TEXTS: Readonly<Record<string, { readonly text: string; readonly about: string }>> = {
  "guide-agents": { text: guideAgents, about: "A turn, call by call, and each refusal on the way" },
  "guide-orchestrators": {
    text: guideOrchestrators,
    about: "Handing out, reading, verifying, consenting, proving",
  },
  "guide-operators": { text: guideOperators, about: "A fleet of nodes and its faults, typed out on one machine" },
  delegating: { text: delegating, about: "Sending contracts to models, and reading the result" },
  "delegation-contracts": {
    text: delegationContracts,
    about: "The contract file: fields, lint, grade, templates, fixtures",
  },
  acceptance: { text: acceptance, about: "Each check of a delegation contract, to the letter" },
  "scripted-seat": { text: scriptedSeat, about: "A seat without a model, that plays what its script says" },
  gates: { text: gates, about: "Proving what a place hands back, and applying a diff" },
  configuration: { text: configuration, about: "The config file: every key, and what writ doctor tries" },
  operating: { text: operating, about: "Running a node: service, token, TLS, what survives what" },
  hooks: { text: hooks, about: "Putting writ into the settings of a harness" },
  mcp: { text: mcp, about: "writ's tools for a client of the Model Context Protocol" },
  context: { text: context, about: "What a workspace knows, and what turns propose to it" },
  board: { text: board, about: "A page in a browser about the turns of the store" },
  security: { text: security, about: "What is promised, what enforces it, and what is not promised" },
  briefs: { text: briefs, about: "Flows: phases, tasks, plan check, handing off and resuming" },
  glossary: { text: glossary, about: "One word for one thing" },
  commands: { text: commands, about: "Every command with its options and exit statuses" },
  documents: { text: documents, about: "What --json prints: every member of every document" },
  errors: { text: errors, about: "Exit statuses, error codes, and the codes inside documents" },
  tools: { text: tools, about: "The tools of writ mcp with their arguments" },
};

/** A line of a page that speaks to whoever tests it, and shows nowhere. */
const COMMENT = /^<!--.*-->\n+/gm;

export const PAGES: readonly Page[] = Object.entries(TEXTS).map(([name, { text: page, about }]) => {
  const text = page.replaceAll(COMMENT, "");
  return { name, title: /^# (.+)$/m.exec(text)?.[1] ?? name, about, text };
});
