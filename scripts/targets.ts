/** The platforms that writ is built for, by the names that Bun has for them. */
export const TARGETS = [
  "linux-x64",
  "linux-arm64",
  "linux-x64-musl",
  "linux-arm64-musl",
  "darwin-x64",
  "darwin-arm64",
  "windows-x64",
] as const;

export type Target = (typeof TARGETS)[number];

/** Where the artefact of a target lies, below `dist/`. */
export function artefactOf(target: Target): string {
  return `${target}/${target.startsWith("windows") ? "writ.exe" : "writ"}`;
}
