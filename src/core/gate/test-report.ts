/**
 * A JUnit report as `bun test` writes it: which tests there were in which file, and how each ended.
 *
 * It is read strictly and its own counts are held against what it lists, since what it is about may have tried to write
 * it.
 */
import { parseXml, XmlElement } from "@rgrove/parse-xml";

export type TestCase = {
  /** The file as the report names it. */
  readonly file: string;
  /** With the names of the groups around it: `outer > inner`. */
  readonly name: string;
  readonly outcome: "passed" | "failed" | "skipped";
  /** What the failure said; "" for a test that did not fail. */
  readonly message: string;
};

export type ReadReport =
  | { readonly ok: true; readonly cases: readonly TestCase[] }
  | { readonly ok: false; readonly reason: string };

/** Groups within groups; the runner's own limit is not known. */
const MAX_DEPTH = 64;

/**
 * Reads a report.
 *
 * Errors: none is thrown, whatever the text
 * Source: the JUnit form that Bun 1.4 writes
 */
export function readTestReport(text: string): ReadReport {
  let root: XmlElement | null;
  try {
    root = parseXml(text).root;
  } catch (error) {
    return { ok: false, reason: `it does not parse: ${firstLine(error)}` };
  }
  if (root?.name !== "testsuites") return { ok: false, reason: "it has no testsuites" };
  const cases: TestCase[] = [];
  for (const suite of elementsOf(root)) {
    const file = suite.name === "testsuite" ? suite.attributes.file : undefined;
    if (file === undefined) return { ok: false, reason: `it has a ${suite.name} that is of no file` };
    const fault = collect(suite, file, [], cases);
    if (fault !== null) return { ok: false, reason: fault };
  }
  const { tests, failures, skipped } = root.attributes;
  const counted = {
    tests: cases.length,
    failures: cases.filter(({ outcome }) => outcome === "failed").length,
    skipped: cases.filter(({ outcome }) => outcome === "skipped").length,
  };
  for (const [what, said] of Object.entries({ tests, failures, skipped })) {
    const is = counted[what as keyof typeof counted];
    if (said !== String(is)) return { ok: false, reason: `it counts ${said ?? "no"} ${what} and lists ${is}` };
  }
  return { ok: true, cases };
}

/** Collects the tests of a suite; null, or what is wrong in it. */
function collect(suite: XmlElement, file: string, groups: readonly string[], into: TestCase[]): string | null {
  if (groups.length > MAX_DEPTH) return "its groups are nested too deep";
  for (const element of elementsOf(suite)) {
    const { name } = element.attributes;
    if (name === undefined) return `it has a ${element.name} without a name`;
    if (element.name === "testsuite") {
      const fault = collect(element, file, [...groups, name], into);
      if (fault !== null) return fault;
    } else if (element.name === "testcase") into.push(caseOf(element, file, [...groups, name].join(" > ")));
    else return `it has an element ${element.name}`;
  }
  return null;
}

function caseOf(element: XmlElement, file: string, name: string): TestCase {
  const inside = elementsOf(element);
  const faults = inside.filter((each) => each.name === "failure" || each.name === "error");
  if (faults.length > 0) {
    const message = faults.map((each) => `${each.attributes.message ?? ""}\n${each.text}`).join("\n");
    return { file, name, outcome: "failed", message };
  }
  const outcome = inside.some((each) => each.name === "skipped") ? "skipped" : "passed";
  return { file, name, outcome, message: "" };
}

function elementsOf(element: XmlElement): readonly XmlElement[] {
  return element.children.filter((child) => child instanceof XmlElement);
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n", 1)[0] ?? "";
}
