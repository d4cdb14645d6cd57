import { expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { planFiles } from "../../src/host/plan-files.ts";
import { openCheckouts } from "../support/checkout.ts";

test("paths and patterns are of the checkout, and of nothing else", () => {
  using places = openCheckouts();
  const checkout = places.repository("r", { "src/a.ts": "", "src/b c/ü.ts": "", ".ci/run": "", "x[1].md": "" });
  symlinkSync("..", join(checkout.path, "up"));
  const files = planFiles(checkout.path);
  const paths = (pattern: string) => {
    const found = files.expand(pattern);
    return found.ok ? found.paths : found.error;
  };
  expect(["src/a.ts", "src", "./src/a.ts", "src/b c/ü.ts"].map((path) => files.exists(path))).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect(["", "src/none", "../r/src/a.ts", `${checkout.path}/src`, "a\0b"].map((path) => files.exists(path))).toEqual([
    false,
    false,
    false,
    false,
    false,
  ]);
  expect(paths("src/**/*.ts")).toEqual(["src/a.ts", "src/b c/ü.ts"]);
  expect(paths("./src/?.ts")).toEqual(["src/a.ts"]);
  expect(paths("{src,no}/[ab].ts")).toEqual(["src/a.ts"]);
  expect(paths("x\\[1].md")).toEqual(["x[1].md"]);
  expect(paths("**/HEAD")).toEqual([]);
  expect(paths("up/**")).toEqual([]);
  expect(paths("src/{a,b")).toBe("a { is never closed");
  expect(paths("src/[ab")).toBe("a [ is never closed");
  expect(paths("[]]")).toEqual([]);
  expect(paths("../*")).toBe("it leads out of the checkout");
  expect(paths("/etc/*")).toBe("it leads out of the checkout");
  expect(paths("*".repeat(2_000))).toBe("it is longer than 1000 characters");
});
