/** Plan check of a ledger: the few tests that it has to pass. */
import type { CheckReport } from "../plan/check.ts";
import { Findings } from "../plan/finding.ts";
import type { LedgerFile } from "./ledger-file.ts";

/**
 * @param spec where the spec was looked for, and whether it can be read; null where the ledger names none
 * Source: flow state, section 9.3
 */
export function checkLedger(
  ledger: LedgerFile,
  spec: { readonly path: string; readonly isReadable: boolean } | null,
): CheckReport {
  const findings = new Findings(ledger.lines);
  if (spec === null) {
    findings.add("input", "no-spec-header", "no path-only **Spec:** header line found in ledger");
  } else if (!spec.isReadable) findings.add("input", "spec-unreadable", `spec file unreadable at ${spec.path}`);
  if (ledger.allowance === null) {
    findings.add("input", "ledger-allowance", "no **Allowance:** header line found in ledger");
  }
  if (ledger.rows.length === 0) findings.add("input", "ledger-no-rows", "no ledger rows found");
  const seen = new Set<string>();
  for (const { line, row } of ledger.rows) {
    if (row === null) {
      findings.add("input", "ledger-row", "malformed ledger row", { line });
      continue;
    }
    if (seen.has(row.id)) {
      findings.add("input", "ledger-duplicate", `duplicate ledger row "${row.id}"`, { line, about: row.id });
    }
    seen.add(row.id);
    addTries(findings, ledger, line, row);
  }
  return { findings: findings.list, count: findings.count };
}

/** The rows that spent more tries than they are allowed and are not settled. */
export function checkAllowance(ledger: LedgerFile): CheckReport {
  const findings = new Findings(ledger.lines);
  for (const { line, row } of ledger.rows) if (row !== null) addTries(findings, ledger, line, row);
  return { findings: findings.list, count: findings.count };
}

function addTries(
  findings: Findings,
  { allowance }: LedgerFile,
  line: number,
  { id, tries, status }: NonNullable<LedgerFile["rows"][number]["row"]>,
): void {
  if (allowance === null || tries <= allowance || status === "complete" || status === "skipped") return;
  findings.add("input", "ledger-tries", `row "${id}" spent ${tries} of ${allowance} tries`, { line, about: id });
}
