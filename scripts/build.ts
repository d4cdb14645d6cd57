/**
 * Compiles writ into one executable.
 *
 * Run: bun scripts/build.ts         dist/writ, for this machine
 *      bun scripts/build.ts --all   dist/<target>/writ[.exe] for every target, and dist/SHA256SUMS
 *
 * The same sources give the same bytes, as long as the executable's own name stays the same: it is part of them.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { BUNDLE, EXECUTABLE, WORKERS } from "./executable.ts";
import { judgeSignature, signAdHoc } from "./signature.ts";
import { artefactOf, TARGETS, type Target } from "./targets.ts";

const ROOT = join(import.meta.dir, "..");
const DIST = join(ROOT, "dist");

/**
 * Builds one executable.
 *
 * @param target null for this machine, whose own Bun is the base; the base of another comes from the package
 *               registry once and is kept in Bun's cache
 * @returns      its path, or why it could not be built
 */
async function build(target: Target | null): Promise<{ readonly path: string } | { readonly problem: string }> {
  const path = join(DIST, target === null ? "writ" : artefactOf(target));
  const folder = join(DIST, ".building");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const made = join(folder, path.endsWith(".exe") ? "writ.exe" : "writ");
  try {
    const result = await Bun.build({
      ...BUNDLE,
      entrypoints: [join(ROOT, "src", "main.ts"), ...WORKERS],
      compile: {
        ...EXECUTABLE,
        ...(target === null ? {} : { target: `bun-${target}` as const }),
        outfile: made,
        // The contracts that writ ships are read from inside the executable (src/host/contracts.ts).
        assets: [join(ROOT, "contracts")],
      },
    });
    if (!result.success) return { problem: result.logs.map(String).join("\n") };
    if ((target ?? process.platform).startsWith("darwin")) mendSignature(made);
    mkdirSync(dirname(path), { recursive: true });
    renameSync(made, path);
    return { path };
  } catch (error) {
    return { problem: error instanceof AggregateError ? error.errors.map(String).join("\n") : String(error) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The builder signs anew what it changed for arm64 alone; macOS ends a program whose signature does not fit. */
function mendSignature(path: string): void {
  const bytes = readFileSync(path);
  if (judgeSignature(bytes) === "does not fit") writeFileSync(path, signAdHoc(bytes, "writ"));
}

async function main(argv: readonly string[]): Promise<number> {
  if (argv.some((word) => word !== "--all")) {
    console.error("Usage: bun scripts/build.ts [--all]");
    return 2;
  }
  const targets: readonly (Target | null)[] = argv.length === 0 ? [null] : TARGETS;
  const sumsPath = join(DIST, "SHA256SUMS");
  rmSync(sumsPath, { force: true });
  const sums: string[] = [];
  let failed = 0;
  for (const target of targets) {
    // What cannot be built now is not there: one of earlier sources would be taken for it.
    if (target !== null) rmSync(join(DIST, artefactOf(target)), { force: true });
    const result = await build(target);
    if ("problem" in result) {
      failed += 1;
      console.error(`Error: Cannot build ${target ?? "for this machine"}: ${result.problem}`);
      if (/failed to download/i.test(result.problem)) {
        console.error("The base executable of another machine comes from the package registry: is it within reach?");
      }
      continue;
    }
    const bytes = readFileSync(result.path);
    const digest = new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
    sums.push(`${digest}  ${relative(DIST, result.path).replaceAll("\\", "/")}`);
    console.log(`${relative(ROOT, result.path)}  ${(bytes.length / 1e6).toFixed(1)} MB  sha256 ${digest}`);
  }
  // A list of sums that leaves a target out would read as a whole release.
  if (argv.includes("--all") && failed === 0) writeFileSync(sumsPath, `${sums.join("\n")}\n`);
  return failed === 0 ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
