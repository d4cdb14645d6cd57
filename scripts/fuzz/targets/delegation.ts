/** Delegation contracts: their files, their checks, their schemas, and what is graded by them. */
import { closedAt } from "../../../src/core/acceptance/authority.ts";
import { evaluateChecks } from "../../../src/core/acceptance/evaluate.ts";
import { isHonestAbsence } from "../../../src/core/acceptance/fingerprint.ts";
import { parseCheck } from "../../../src/core/acceptance/parse.ts";
import { VERBS } from "../../../src/core/acceptance/verbs.ts";
import { canonicalContract, readContractBytes, readContracts } from "../../../src/core/delegation/contract.ts";
import { JUDGES } from "../../../src/core/delegation/judges.ts";
import { lintContract } from "../../../src/core/delegation/lint.ts";
import { speedTerm } from "../../../src/core/delegation/speed.ts";
import { issueLines } from "../../../src/core/issue-text.ts";
import { parseJson } from "../../../src/core/json/parse.ts";
import { isObject } from "../../../src/core/json/value.ts";
import { asJson, filesBelow, short, textsAt, valuesAt, vectors } from "../corpus.ts";
import { hold, oneLineEach, reading, same } from "../target.ts";

const FIELDS = ["goal", "context", "context_paths", "output_schema", "acceptance", "profile", "thinking", "max_steps", "timeout_sec", "write_root", "schema_version", "name", "text"]; // biome-ignore format: a list
const CHECK_WORDS = [
  ...Object.keys(VERBS).map((verb) => `${verb}:`),
  "@grounded:",
  "@final:",
  "not_",
  ":1",
  ":",
  "|",
  "contains:a|b",
];

const checkLines = () =>
  short([
    ...textsAt(vectors("delegation-acceptance-eval", "delegation-acceptance-parse", "delegation-speed-scan"), "check"),
    ...valuesAt(vectors("delegation-lint", "delegation-acceptance-closedat"), "acceptance").flat().map(String),
  ]);

export const acceptance = reading({
  name: "acceptance",
  parts: ["check", "output", "structured result", "document"],
  corpus: () => {
    const cases = vectors<{
      readonly check: string;
      readonly output: string;
      readonly structured: string | null;
      readonly docs: readonly { readonly text: string }[];
    }>("delegation-acceptance-eval");
    return cases.map(({ check, output, structured, docs }) => [check, output, structured ?? "", docs[0]?.text ?? ""]);
  },
  words: CHECK_WORDS,
  read: ({ text: check }, { text: output }, { text: structured }, { text: document }) => {
    const parsed = parseCheck(check);
    if (parsed.ok) same("a check keeps its line", parsed.check.line, check);
    else hold("a refusal has a code and a sentence", parsed.error.code.length > 0 && parsed.error.message.length > 0);
    speedTerm(check);
    isHonestAbsence(structured);
    for (const kept of [structured, null]) {
      const documents = document === "" ? [] : [{ name: "docs/a.md", text: document }];
      const outcomes = evaluateChecks([check, check], {
        output,
        structured: kept,
        diff_files: ["src/a.ts"],
        documents,
      });
      const [one, other] = outcomes;
      same("the same check ends the same", one, other);
      hold(
        "a reason is one line",
        !/[\r\n]/.test(one !== undefined && "reason" in one ? String(one.reason ?? "") : ""),
        one,
      );
      hold("what does not parse is a fail", parsed.ok || one?.outcome === "fail", one);
      closedAt(outcomes);
    }
  },
});

export const contractFile = reading({
  name: "contract-file",
  parts: ["file"],
  corpus: () => [
    ...textsAt(vectors("delegation-contract"), "file_text"),
    ...asJson(valuesAt(vectors("delegation-lint", "delegation-fingerprint"), "contract")),
    ...filesBelow("contracts/templates", ".json"),
    ...filesBelow("contracts/write-door", ".json"),
    ...YAML,
  ],
  words: [...FIELDS, ...CHECK_WORDS, "goal: x\n", "acceptance:\n  - contains:a\n", "---\n"],
  read: ({ bytes }) => {
    const read = readContractBytes(bytes, JUDGES);
    hold("a file has subtasks or issues", read.issues.length > 0 || read.subtasks.length > 0, read);
    oneLineEach(read.issues.flatMap((issue) => issueLines(issue)));
    for (const { path, contract, isComplete } of read.subtasks) {
      hold("a subtask has a place in the file", read.places.includes(path), path);
      const canonical = canonicalContract(contract);
      const again = readContracts(JSON.stringify(canonical), JUDGES);
      if (isComplete && contract.goal.isWellFormed())
        same(
          "the canonical contract reads as itself",
          again.issues.length > 0 ? again.issues : again.subtasks.map((each) => canonicalContract(each.contract)),
          [canonical],
        );
      lintContract({ ...contract, output_schema: contract.output_schema });
    }
  },
});

/** What a person may write who takes contracts for YAML. */
const YAML = [
  "goal: Find the port\nacceptance:\n  - contains:8080\n",
  "---\n# a contract\ngoal: >\n  Find\n  the port\ncontext_paths: [src/port.go]\n",
  "- goal: a\n- goal: b\n",
];

export const lint = reading({
  name: "lint",
  parts: ["contract"],
  corpus: () => asJson(valuesAt(vectors("delegation-lint"), "contract")),
  words: [...FIELDS, ...CHECK_WORDS],
  read: ({ text }) => {
    const parsed = parseJson(text);
    if (!parsed.ok || !isObject(parsed.value)) return;
    const { subtasks } = readContracts(text, JUDGES);
    for (const { contract } of subtasks) {
      const all = lintContract(contract);
      const some = lintContract(contract, { documents: "some" });
      const told = new Set(all.map((warning) => JSON.stringify([warning.code, warning.path])));
      hold(
        "what is said with some documents is said with all",
        some.every(({ code, path }) => told.has(JSON.stringify([code, path]))),
        all,
        some,
      );
    }
  },
});

export const CHECK_LINES = checkLines;
