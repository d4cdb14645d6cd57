import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { renderErrors } from "../../scripts/reference.ts";
import { ERROR_CODES, EXIT } from "../../src/core/error.ts";

describe("the reference of errors", () => {
  test("has each code once, with the status it ends in and when it comes", () => {
    const page = renderErrors();
    for (const [code, [exit, text]] of Object.entries(ERROR_CODES)) {
      expect(page.split(`| \`${code}\` | ${EXIT[exit]} | ${text} |`)).toHaveLength(2);
    }
  });
});

describe("the reference pages", () => {
  test("are what the declarations say: else run bun scripts/reference.ts", () => {
    const script = join(import.meta.dir, "..", "..", "scripts", "reference.ts");
    const ran = Bun.spawnSync([process.execPath, script, "--check"]);
    expect({ exit: ran.exitCode, stderr: ran.stderr.toString() }).toEqual({ exit: 0, stderr: "" });
  });
});
