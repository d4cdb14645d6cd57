import { expect, test } from "bun:test";
import fc from "fast-check";
import { checkAllowance, checkLedger } from "../../../src/core/ledger/check.ts";
import { isLedger, LEDGER_MARK, parseLedger } from "../../../src/core/ledger/ledger-file.ts";
import { refreshTasks } from "../../../src/core/ledger/refresh.ts";
import { restoreRowName } from "../../../src/core/ledger/row-name.ts";
import { tasksOf } from "../../support/flow.ts";

const LEDGER = `${LEDGER_MARK}

**Spec:** \`doc/specs/x.md\`
**Allowance:** 3

## Rows

| row | status | tries | requirement |
|---|---|---|---|
| row 1 | complete | 1 | parse |
| row 2 (red) | in_progress | 2 | print |
| row 3 | pending | 0 |  |

## Decisions

- row 1 accepted
- row 2 split | again
text
`;
const SPEC = { path: "/w/doc/specs/x.md", isReadable: true };

test("a ledger is known by its first line to the letter", () => {
  expect(isLedger(LEDGER)).toBe(true);
  expect(isLedger(LEDGER.replaceAll("\n", "\r\n"))).toBe(true);
  expect(isLedger(`${LEDGER_MARK} `)).toBe(false);
  expect(isLedger(`\n${LEDGER_MARK}`)).toBe(false);
});

test("a ledger is read whole", () => {
  const ledger = parseLedger(LEDGER);
  expect(ledger.spec).toBe("doc/specs/x.md");
  expect(ledger.allowance).toBe(3);
  expect(ledger.lastDecision).toBe("row 2 split | again");
  expect(ledger.pending).toBeNull();
  expect(ledger.rows.map(({ line, row }) => [line, row?.id, row?.status, row?.tries, row?.requirement])).toEqual([
    [10, "row 1", "complete", 1, "parse"],
    [11, "row 2 (red)", "in_progress", 2, "print"],
    [12, "row 3", "pending", 0, ""],
  ]);
  expect(checkLedger(ledger, SPEC)).toEqual({ findings: [], count: 0 });
});

test.each([
  { what: "no spec line", text: LEDGER.replace("**Spec:**", "Spec"), spec: null, findings: ["no-spec-header 0"] },
  { what: "no spec", text: LEDGER, spec: { ...SPEC, isReadable: false }, findings: ["spec-unreadable 0"] },
  { what: "no allowance", text: LEDGER.replace("** 3", "** x"), spec: SPEC, findings: ["ledger-allowance 0"] },
  { what: "no rows", text: LEDGER.replace("## Rows", "## Other"), spec: SPEC, findings: ["ledger-no-rows 0"] },
  {
    what: "a row of an unknown status",
    text: LEDGER.replace("| pending", "| open"),
    spec: SPEC,
    findings: ["ledger-row 12"],
  },
  {
    what: "a row with no number of tries",
    text: LEDGER.replace("| 2 |", "| two |"),
    spec: SPEC,
    findings: ["ledger-row 11"],
  },
  { what: "a row of three cells", text: LEDGER.replace(" 0 |  |", " 0 |"), spec: SPEC, findings: ["ledger-row 12"] },
  {
    what: "a row given twice",
    text: LEDGER.replace("| row 3", "| row 1"),
    spec: SPEC,
    findings: ["ledger-duplicate 12"],
  },
  { what: "too many tries", text: LEDGER.replace("| 2 |", "| 4 |"), spec: SPEC, findings: ["ledger-tries 11"] },
  { what: "many tries of what is settled", text: LEDGER.replace("| 1 |", "| 9 |"), spec: SPEC, findings: [] },
])("checkLedger() of a ledger with $what", ({ text, spec, findings }) => {
  const report = checkLedger(parseLedger(text), spec);
  expect(report.findings.map(({ class: name, line }) => `${name} ${line}`)).toEqual([...findings]);
});

test("the allowance is looked at by itself before a ledger is continued", () => {
  const ledger = parseLedger(LEDGER.replace("| 2 |", "| 4 |"));
  expect(checkAllowance(ledger).findings.map(({ reason }) => reason)).toEqual(['row "row 2 (red)" spent 4 of 3 tries']);
});

test("a pending return is a line outside of fences", () => {
  expect(parseLedger(`${LEDGER}Pending: home return\n`).pending).toBe("Pending: home return");
  expect(parseLedger(`${LEDGER}\`\`\`\nPending: x\n\`\`\`\n`).pending).toBeNull();
});

test("a refresh puts the rows where the first of them was, and keeps every other task", () => {
  const before = tasksOf("W1: a=complete", "row 9 | 1/1: gone=complete", "G1: gap=skipped", "2/5: row 1=complete", "Z");
  const found = refreshTasks(before, parseLedger(LEDGER));
  expect(found).toEqual({
    ok: false,
    message: "ledger refresh breaks the task order",
    details: ['3 "row 3 | 0/3: -"'],
  });
  const settled = parseLedger(LEDGER.replace("| row 3 | pending", "| row 3 | failed"));
  expect(refreshTasks(before, settled)).toEqual({
    ok: true,
    tasks: tasksOf(
      "W1: a=complete",
      "row 1 | 1/3: parse=complete",
      "row 2 (red) | 2/3: print=in_progress",
      "row 3 | 0/3: -=failed",
      "G1: gap=skipped",
      "Z",
    ),
  });
});

test("a refresh of a list without rows puts them first, and is the same the second time", () => {
  const ledger = parseLedger(LEDGER);
  const once = refreshTasks(tasksOf("G1: gap"), ledger);
  if (!once.ok) throw new Error(once.message);
  expect(once.tasks.map(({ name }) => restoreRowName(name))).toEqual(["row 1", "row 2 (red)", "row 3", "G1: gap"]);
  expect(refreshTasks(once.tasks, ledger)).toEqual(once);
});

test("a name that was restored is restored", () => {
  fc.assert(
    fc.property(
      fc.string({ maxLength: 30 }),
      fc.nat(),
      fc.string({ minLength: 1, maxLength: 20 }),
      (name, row, label) => {
        expect(restoreRowName(restoreRowName(name))).toBe(restoreRowName(name));
        if (!label.includes("\n")) expect(restoreRowName(`row ${row} | ${label}`)).toBe(`row ${row}`);
      },
    ),
  );
});

test("parseLedger() returns on any text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
      expect(parseLedger(`${LEDGER_MARK}\n## Rows\n${text}`).lines.length).toBeGreaterThan(1);
    }),
  );
});
