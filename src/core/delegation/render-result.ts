/**
 * The result document as JSON text: its members in their fixed order, and each structured result exactly as the place
 * wrote it.
 *
 * Source: delegation run, section 3.1
 */
import type { LegResult, ResultDocument } from "./result.ts";

/** @returns one JSON text; it spans lines only where a structured result does */
export function renderResultDocument(document: ResultDocument): string {
  return renderParts(document, document.results.map(renderLegResult));
}

/** The same around results that are rendered already. */
export function renderParts(document: Omit<ResultDocument, "results">, results: readonly string[]): string {
  const { schema_version, run_id, summary, writ_version, started_at, wall_ms } = document;
  return object([
    ["schema_version", JSON.stringify(schema_version)],
    ["run_id", JSON.stringify(run_id)],
    ["summary", JSON.stringify(summary)],
    ["results", `[${results.join(",")}]`],
    ["writ_version", JSON.stringify(writ_version)],
    ["started_at", JSON.stringify(started_at)],
    ["wall_ms", JSON.stringify(wall_ms)],
  ]);
}

/** The same as it is printed: `ok`, true where the command ends in 0, comes first. */
export function renderPrinted(document: string, ok: boolean): string {
  return `{"ok":${ok},${document.slice(1)}`;
}

export function renderLegResult(leg: LegResult): string {
  return object(
    Object.entries(leg)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => [key, key === "structured" ? String(value) : JSON.stringify(value)]),
  );
}

function object(members: readonly (readonly [string, string])[]): string {
  return `{${members.map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(",")}}`;
}
