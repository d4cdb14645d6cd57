/** Findings as a SARIF log: the form that editors and forges show beside the lines. */
import type { JsonObject } from "../json/value.ts";

export type SarifRule = { readonly id: string; readonly text: string; readonly help?: string };

export type SarifResult = {
  readonly rule: string;
  readonly level: "error" | "warning";
  readonly message: string;
  /** From 1; 0 is the whole file. */
  readonly line: number;
  /** In code units, from 1; null where it is not known. */
  readonly column: number | null;
  readonly properties?: JsonObject;
};

export type SarifRun = {
  readonly version: string;
  readonly rules: readonly SarifRule[];
  readonly results: readonly SarifResult[];
  /**
   * The file that was judged, and the absolute folder that it is named from, `/` between parts; null: it is named as it
   * is, from the root of the file system or from whatever folder the reader stands in.
   */
  readonly file: string;
  readonly root: string | null;
};

/**
 * Source: SARIF 2.1.0 (OASIS), sections 3.13, 3.14, 3.27 and 3.30
 */
export function sarifLog({ version, rules, results, file, root }: SarifRun): JsonObject {
  const artifact = root === null ? { uri: fileUri(file) } : { uri: encodePath(file), uriBaseId: "ROOT" };
  const run: JsonObject = {
    tool: {
      driver: {
        name: "writ",
        semanticVersion: version,
        rules: rules.map(({ id, text, help }) => ({
          id,
          shortDescription: { text },
          ...(help === undefined ? {} : { help: { text: help } }),
        })),
      },
    },
    ...(root === null ? {} : { originalUriBaseIds: { ROOT: { uri: `${fileUri(root)}/` } } }),
    columnKind: "utf16CodeUnits",
    results: results.map(({ rule, level, message, line, column, properties }) => ({
      ruleId: rule,
      ruleIndex: rules.findIndex(({ id }) => id === rule),
      level,
      message: { text: message },
      locations: [
        {
          physicalLocation: {
            artifactLocation: artifact,
            ...(line === 0 ? {} : { region: { startLine: line, ...(column === null ? {} : { startColumn: column }) } }),
          },
        },
      ],
      ...(properties === undefined ? {} : { properties }),
    })),
  };
  return { $schema: "https://json.schemastore.org/sarif-2.1.0.json", version: "2.1.0", runs: [run] };
}

/** A path with a drive, or from the root, is absolute; any other stays a relative reference. */
function fileUri(path: string): string {
  const drive = /^[A-Za-z]:(?=\/)/.exec(path)?.[0] ?? "";
  const rest = encodePath(path.slice(drive.length));
  if (drive !== "") return `file:///${drive}${rest}`;
  return path.startsWith("/") ? `file://${rest}` : rest;
}

function encodePath(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}
