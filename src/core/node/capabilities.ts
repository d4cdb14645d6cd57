/** What a node can, for those who send it contracts: `GET /writ/v1/capabilities`. */
import { VERB_NAMES } from "../acceptance/verbs.ts";
import { CONTRACT_LIMITS } from "../delegation/limits.ts";
import { BUDGETS } from "../delegation/schema.ts";
import { WRITE_LIMITS } from "../patch/limits.ts";
import { PROTOCOL, SCHEMA_VERSION } from "../placement/eligibility.ts";
import { PROFILE_NAMES, TOOL_SPECS } from "../seat/tool-specs.ts";
import { LONGEST_WAIT_SEC } from "./route.ts";
import { MAX_DEPTH, SUBMIT_BYTES } from "./submit.ts";

/** Optional behaviour of the protocol that this node has. */
const FEATURES = ["sse", "withdraw", "write"] as const;

/** Source: delegation run, sections 0, 7.3 */
export function capabilitiesOf(node: { readonly version: string; readonly acceptsWrite: boolean }) {
  return {
    protocol: PROTOCOL,
    schema_versions: [SCHEMA_VERSION],
    writ_version: node.version,
    limits: {
      submit_bytes: SUBMIT_BYTES,
      depth: MAX_DEPTH,
      max_steps: BUDGETS.max_steps.most,
      timeout_sec: BUDGETS.timeout_sec.most,
      documents: CONTRACT_LIMITS.documents,
      documents_bytes: CONTRACT_LIMITS.documents_bytes,
      checks: CONTRACT_LIMITS.checks,
      check_bytes: CONTRACT_LIMITS.check_bytes,
      write_files: WRITE_LIMITS.files,
      written_bytes: WRITE_LIMITS.written_bytes,
      diff_bytes: WRITE_LIMITS.diff_bytes,
      wait_sec: LONGEST_WAIT_SEC,
    },
    tools: TOOL_SPECS.map(({ name }) => name),
    profiles: [...PROFILE_NAMES],
    acceptance_verbs: [...VERB_NAMES],
    features: [...FEATURES],
    accepts_write: node.acceptsWrite,
  };
}
