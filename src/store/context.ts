/** The tables `context_sections` and `context_history`: stored project knowledge, and what each change replaced. */
import type { Database } from "bun:sqlite";
import type { ContextTable, StoredSection } from "../core/context/repository.ts";
import { isObject, type JsonObject, type JsonValue } from "../core/json/value.ts";

const PUT = `
  INSERT INTO context_sections (workspace, section, payload, updated_at, updated_by)
  VALUES ($workspace, $section, $payload, $at, $by)
  ON CONFLICT (workspace, section) DO UPDATE SET payload = $payload, updated_at = $at, updated_by = $by`;

const REMEMBER = `
  INSERT INTO context_history (workspace, section, before, after, proposal_id, changed_by, changed_at)
  VALUES ($workspace, $section, $before, $after, $proposal_id, $by, $at)`;

export function contextTable(db: Database): ContextTable {
  const textOf = (workspace: string, section: string): string | null =>
    db
      .query<{ payload: string }, { workspace: string; section: string }>(
        "SELECT payload FROM context_sections WHERE workspace = $workspace AND section = $section",
      )
      .get({ workspace, section })?.payload ?? null;
  return {
    find: (workspace, section) => {
      const text = textOf(workspace, section);
      return text === null ? undefined : readPayload(text);
    },
    get: (workspace, section) => {
      const text = textOf(workspace, section);
      const payload = text === null ? null : readPayload(text);
      return payload !== null && isObject(payload) ? payload : null;
    },
    list: (workspace) =>
      db
        .query<StoredSection, { workspace: string }>(
          "SELECT section, updated_at, updated_by FROM context_sections WHERE workspace = $workspace ORDER BY section",
        )
        .all({ workspace }),
    listWorkspaces: (section) =>
      db
        .query<{ workspace: string; payload: string }, { section: string }>(
          "SELECT workspace, payload FROM context_sections WHERE section = $section ORDER BY workspace",
        )
        .all({ section })
        .flatMap(({ workspace, payload }) => {
          const read = readPayload(payload);
          return isObject(read) ? [{ workspace, payload: read }] : [];
        }),
    put(workspace, section, payload: JsonObject, { at, by, proposal_id }) {
      const before = textOf(workspace, section);
      const after = JSON.stringify(payload);
      db.query<never, Record<string, string | null>>(PUT).run({ workspace, section, payload: after, at, by });
      db.query<never, Record<string, string | number | null>>(REMEMBER).run({
        workspace,
        section,
        before,
        after,
        proposal_id,
        by,
        at,
      });
    },
  };
}

/** A section that was edited by hand into something that is no JSON is its text: it is there, and it is no object. */
function readPayload(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}
