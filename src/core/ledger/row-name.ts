/** The names of ledger rows. A row's identity is its canonical name; the rest of a task's name is display text. */

const CANONICAL = /^row \d+(?: \(\S+\))?$/;
/** A label behind the first canonical name. */
const LABELLED = /^(row \d+(?: \(\S+\))?) \| .+$/s;
/** The older form of a label: a prefix. */
const PREFIXED = /^\d+\/\d+: /;

export function isCanonicalRow(name: string): boolean {
  return CANONICAL.test(name);
}

/**
 * The name of a task without its ledger label; every other name byte for byte.
 *
 * Source: flow state, section 9.1
 */
export function restoreRowName(name: string): string {
  const labelled = LABELLED.exec(name)?.[1];
  if (labelled !== undefined) return labelled;
  const prefix = PREFIXED.exec(name)?.[0];
  const rest = prefix === undefined ? name : name.slice(prefix.length);
  return isCanonicalRow(rest) ? rest : name;
}
