/** A checkout that holds the worked example of plan check: a spec, a plan, and the files that they name. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Checkout, Checkouts } from "./checkout.ts";

const FOLDER = join(import.meta.dir, "..", "..", "fixtures", "plan", "passing");
export const SPEC = readFileSync(join(FOLDER, "spec.md"), "utf8");
export const PLAN = readFileSync(join(FOLDER, "plan.md"), "utf8");
export const SPEC_PATH = "doc/specs/2026-10-12-greeting-cache.md";
export const PLAN_PATH = "doc/plans/2026-10-12-greeting-cache.md";

/** The files that the plan expects, in the first commit. */
export const SOURCES = {
  "src/cli.ts": "export {};\n",
  "test/cli.test.ts": "import '../src/cli.ts';\nconst flag = 1;\nexport { flag };\n",
  "README.md": "# R\n",
  "CHANGELOG.md": "# C\n",
};

/** @param branch a branch behind main that adds spec and plan; main itself where it is null */
export function greetingCheckout(places: Checkouts, branch: string | null = null, plan = PLAN): Checkout {
  const checkout = places.repository("greeting", SOURCES);
  if (branch !== null) checkout.git("checkout", "-q", "-b", branch);
  checkout.write(SPEC_PATH, SPEC);
  checkout.write(PLAN_PATH, plan);
  checkout.commit("spec and plan");
  return checkout;
}
