/** The table `context_sections`: stored project knowledge, one section a row. */
import type { Database } from "bun:sqlite";
import type { Tables } from "../core/contract/repository.ts";
import { isObject, type JsonObject, type JsonValue } from "../core/json/value.ts";

export function contextTable(db: Database): Tables["context"] {
  return {
    get: (workspace, section) =>
      readPayload(
        db
          .query<{ payload: string }, { workspace: string; section: string }>(
            "SELECT payload FROM context_sections WHERE workspace = $workspace AND section = $section",
          )
          .get({ workspace, section })?.payload ?? null,
      ),
    listNames: (workspace) =>
      db
        .query<{ section: string }, { workspace: string }>(
          "SELECT section FROM context_sections WHERE workspace = $workspace ORDER BY section",
        )
        .all({ workspace })
        .map((row) => row.section),
    listWorkspaces: (section) =>
      db
        .query<{ workspace: string; payload: string }, { section: string }>(
          "SELECT workspace, payload FROM context_sections WHERE section = $section ORDER BY workspace",
        )
        .all({ section })
        .flatMap(({ workspace, payload }) => {
          const read = readPayload(payload);
          return read === null ? [] : [{ workspace, payload: read }];
        }),
  };
}

function readPayload(text: string | null): JsonObject | null {
  if (text === null) return null;
  try {
    const value = JSON.parse(text) as JsonValue;
    return isObject(value) ? value : null;
  } catch {
    return null; // edited by hand into something that is no JSON: there is no section to read
  }
}
