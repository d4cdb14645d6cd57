import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Address } from "../../../src/core/board/address.ts";
import { renderApprovals } from "../../../src/core/board/approvals-page.ts";
import { readClaims } from "../../../src/core/board/claims.ts";
import type { Setting } from "../../../src/core/board/frame.ts";
import { GROUPS } from "../../../src/core/board/groups.ts";
import { renderMessage } from "../../../src/core/board/message-page.ts";
import { renderList, renderOverview } from "../../../src/core/board/overview-page.ts";
import type { BoardApproval, BoardDetail, BoardRecord, BoardTurn, Moment } from "../../../src/core/board/repository.ts";
import { renderTurn } from "../../../src/core/board/turn-page.ts";
import type { RecordState, TurnAddress, TurnView } from "../../../src/core/board/turn-view.ts";
import type { Excerpt } from "../../../src/core/html/shown-text.ts";
import type { JsonObject } from "../../../src/core/json/value.ts";

const NOW = Date.parse("2026-01-01T00:10:00Z");
const AT = "2026-01-01T00:00:00Z";
const NO_FILTER = { workspace: null, text: null };

/** Text as somebody would write it who wants out of its place on the page. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "' onmouseover='x",
        "</title></textarea></pre></style>",
        "<!--",
        "]]>",
        "javascript:alert(1)",
        "&lt;b&gt;",
        "&#60;",
        "`$",
        "\u001b[31m",
        "\u001b]0;x\u0007",
        "\u202e",
        "\u2028",
        "\0",
        "\r\n",
        "\ud800",
      ),
      fc.string({ unit: "binary", maxLength: 8 }),
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.join(""));

/** What the store hands out as a plain string is short: it cuts the others to excerpts. */
function word(text: string): string {
  return text.slice(0, 400);
}

function excerpt(text: string): Excerpt {
  return { text, size_bytes: text.length };
}

function turnOf(text: string, more: Partial<BoardTurn> = {}): BoardTurn {
  return {
    id: 7,
    agent_name: excerpt(text),
    agent_id: excerpt(text),
    workspace: excerpt(text),
    goal: excerpt(text),
    conclusion: excerpt(text),
    agent_state: "BLOCKED",
    cut_reason: null,
    created_at: AT,
    closed_at: AT,
    continues_handoff_id: 3,
    changes: 4,
    records: 2,
    last_at: AT,
    last_run: { seq: 2, exit_code: null, signal: text === "" ? null : word(text), failed: true, ended_at: word(text) },
    advice: 1,
    skipped: 1,
    ...more,
  };
}

function recordOf(text: string, more: Partial<BoardRecord> = {}): BoardRecord {
  return {
    contract_id: word(text),
    seq: 1,
    source: "hook",
    harness: word(text),
    tool: "bash",
    tool_use_id: word(text),
    command: excerpt(text),
    argv: excerpt(text),
    path: excerpt(text),
    cwd: excerpt(text),
    exit_code: 1,
    signal: word(text),
    failed: false,
    exit_note: excerpt(text),
    started_at: word(text),
    ended_at: word(text),
    output: excerpt(text),
    tail: excerpt(text),
    output_bytes: 4000,
    output_sha256: word(text),
    truncated: true,
    ordered: false,
    prev_digest: word(text),
    digest: word(text),
    ...more,
  };
}

/** An envelope with the text as every value, and as names that nobody knows. */
function envelopeOf(text: string): JsonObject {
  const list = [text, { excerpt: text, command: text, evidence_id: 1, [text]: text }, [text], 5, null];
  return {
    agent_status: { agent_state: text, next_action: text, pending_steps: [text, { [text]: text }] },
    evidence_report: {
      key_outputs: list,
      verbatim_outputs: list,
      commands_run: list,
      files_checked: list,
      open_gaps: list,
      verification: {
        type: text,
        command: text,
        result: text,
        expect_exit: text,
        method: text,
        evidence_ids: [1],
        [text]: text,
      },
    },
    failure_report: { [text]: text },
    conclusion: text,
    [text]: text,
  };
}

function viewOf(text: string, more: Partial<TurnView> = {}): TurnView {
  const raw = JSON.stringify(envelopeOf(text));
  const checks = {
    bound: true,
    advice: [{ code: text, message: text, hint: text }, text],
    skipped: [{ check: text, path: text, reason: text, key: text }, 4],
  };
  const turn: BoardDetail = {
    ...turnOf(text),
    contract_id: excerpt(text),
    columns: [
      ["agent_id", excerpt(text)],
      ["created_at", excerpt(text)],
      ["parent_handoff_id", excerpt(text)],
    ],
    raw_handoff_json: excerpt(raw),
    content_checks: excerpt(JSON.stringify(checks)),
    update_contracts_refused: excerpt(text),
    record_head: word(text),
    record_count: 1,
    bound: true,
  };
  const change = {
    change_id: 1,
    at: word(text),
    pid: 1,
    verb: word(text),
    undoes: 1,
    entries: [
      { path: excerpt(text), before: excerpt(text), after: null },
      { path: excerpt(text), before: null, after: { text, size_bytes: 100_000 } },
    ],
    paths: 9,
  };
  const moments: readonly Moment[] = [
    { kind: "run", record: recordOf(text) },
    { kind: "run", record: recordOf(text, { tool: "edit", command: null, output: null }) },
    { kind: "write", change },
  ];
  return {
    turn,
    claims: readClaims(raw),
    claimedRun: { seq: 1, exit_code: 0, signal: null, failed: false, ended_at: word(text) },
    record: { state: "whole" },
    chain: [3, 7].map((id) => ({
      id,
      agent_state: word(text),
      cut_reason: word(text),
      created_at: word(text),
      conclusion: excerpt(text),
    })),
    children: [turnOf(text)],
    evidence: [
      {
        id: 1,
        brief: excerpt(text),
        ac_id: excerpt(text),
        type: word(text),
        polarity: word(text),
        text: excerpt(text),
        artifact_path: excerpt(text),
        size_bytes: 5,
        own: false,
        created_at: word(text),
      },
    ],
    approvals: [approvalOf(text)],
    moments,
    more: true,
    ...more,
  };
}

function approvalOf(text: string, payload?: string): BoardApproval {
  const readable = JSON.stringify({
    command_set: [{ command: text }],
    operation: text,
    risk_level: text,
    scope: [text],
  });
  return {
    id: excerpt(text),
    agent_id: excerpt(text),
    session_id: excerpt(text),
    status: word(text),
    payload: excerpt(payload ?? readable),
    created_at: word(text),
    decided_at: word(text),
    decided_by: excerpt(text),
    reason: excerpt(text),
    turn_id: 4,
  };
}

const TURN: TurnAddress = { page: "turn", id: 7, kinds: "all", part: 2 };

function setting(address: Address, text: string): Setting {
  return { address, now_ms: NOW, database: text, pending: 3 };
}

/** Every page there is, with the text in every place. */
function pagesOf(text: string): readonly string[] {
  const filter = { workspace: word(text), text: word(text) };
  const overview = { page: "overview", filter } as const;
  const list = { page: "list", group: null, filter, before: 9 } as const;
  const counts = new Map(GROUPS.map((group) => [group, 12]));
  const turns = GROUPS.map((group) =>
    turnOf(text, {
      agent_state: group === "CUT" ? word(text) : group,
      cut_reason: group === "CUT" ? word(text) : null,
    }),
  );
  const approvals = { page: "approvals" } as const;
  return [
    renderOverview(setting(overview, text), overview, {
      workspaces: [excerpt(word(text))],
      counts,
      turns: new Map(GROUPS.map((group, index) => [group, turns.slice(index, index + 1)])),
    }),
    renderList(setting(list, text), list, { workspaces: [excerpt(word(text))], counts, turns, more: true }),
    renderTurn(setting(TURN, text), TURN, viewOf(text)),
    renderTurn(setting(TURN, text), TURN, viewOf(text, { claims: readClaims(text), claimedRun: null })),
    renderApprovals(setting(approvals, text), approvals, {
      pending: [approvalOf(text)],
      waiting: 2,
      decided: [approvalOf(text, text)],
    }),
    renderMessage(setting(overview, text), word(text), text),
  ];
}

const TAGS =
  "html|head|meta|title|link|script|body|a|header|b|nav|span|p|button|main|footer|section|h1|h2|h3|div|form|label|input|" +
  "select|option|ul|ol|li|time|bdi|pre|code|dl|dt|dd|details|summary|del|ins|article";
const ATTRIBUTES =
  "lang|charset|name|content|rel|href|type|src|class|id|aria-label|aria-labelledby|aria-current|aria-pressed|aria-hidden|" +
  "role|method|action|value|maxlength|placeholder|autocomplete|title|datetime|dir|tabindex|data-part|data-group|data-status|" +
  "data-approval|data-key|data-bad";
const OWN_TAG = new RegExp(
  `<!DOCTYPE html>|</(?:${TAGS})>|<(?:${TAGS})(?: (?:(?:${ATTRIBUTES})="[^"<>]*"|defer|hidden|selected|open))*>`,
  "g",
);

/** What is left of a page without the tags that its templates write. */
function withoutTags(html: string): string {
  return html.replace(OWN_TAG, "");
}

describe("every page", () => {
  test("holds no markup but its own, whatever text stands in whatever field", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        for (const html of pagesOf(text)) {
          const rest = withoutTags(html);
          expect(rest).not.toMatch(/[<>]/);
          expect(rest).not.toMatch(/&(?!(?:amp|lt|gt|quot|#39|#96);)/);
        }
      }),
      { numRuns: 60 },
    );
  });

  test("holds no control and no invisible character, whatever text stands in whatever field", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        for (const html of pagesOf(text)) {
          expect(html).not.toMatch(
            /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/,
          );
        }
      }),
      { numRuns: 60 },
    );
  });

  test("leads only to addresses of the board, relative to itself", () => {
    for (const html of pagesOf("javascript:alert(1)")) {
      const places = [...html.matchAll(/ (?:href|src|action)="([^"]*)"/g)].map((match) => match[1] ?? "");
      expect(places.length).toBeGreaterThan(3);
      for (const place of places) expect(place).toMatch(/^(?:\.\.?\/|#)/);
    }
  });

  test("has a language, one first heading, one main part, and names for its parts", () => {
    for (const html of pagesOf("x")) {
      expect(html).toContain('<html lang="en">');
      expect(html.match(/<h1/g)).toHaveLength(1);
      expect(html.match(/<main /g)).toHaveLength(1);
      for (const [, part] of html.matchAll(/<section [^>]*aria-labelledby="([^"]*)"/g)) {
        expect(html).toContain(`<h2 id="${part}">`);
      }
      const ids = [...html.matchAll(/ id="([^"]*)"/g)].map((match) => match[1]);
      // The three moments of the made-up turn have two numbers.
      expect(ids.filter((id, index) => ids.indexOf(id) !== index && id !== "run-1")).toEqual([]);
    }
  });

  test("stays small when every text is a megabyte", () => {
    for (const html of pagesOf("<".repeat(1_000_000))) expect(html.length).toBeLessThan(600_000);
  });
});

function signsOf(record: RecordState, more: Partial<BoardDetail> = {}): string {
  const view = viewOf("x", { record });
  return withoutTags(renderTurn(setting(TURN, "x"), TURN, { ...view, turn: { ...view.turn, ...more } }));
}

describe("the checks of a turn", () => {
  test.each<[RecordState, Partial<BoardDetail>, string]>([
    [{ state: "whole" }, {}, "holds The chain of 2 records is whole"],
    [{ state: "broken", seq: 2 }, {}, "refuted The chain of records is broken at 2"],
    [
      { state: "broken", seq: null },
      {},
      "refuted The chain of records is broken: the head that the close stored is not there",
    ],
    [{ state: "unread" }, {}, "not known 2 records were not recomputed here"],
    [{ state: "empty" }, { records: 0 }, "not known The record is bound and empty"],
    [{ state: "empty" }, { records: 0, bound: false }, "not known There is no tool record"],
    [{ state: "whole" }, { content_checks: null }, "not known Not held against anything"],
    [{ state: "whole" }, { content_checks: excerpt("no json") }, "not known Not held against anything"],
    [{ state: "whole" }, { content_checks: excerpt('{"bound":false}') }, "not known Closed without a tool record"],
    [{ state: "whole" }, { content_checks: excerpt('{"bound":true}') }, "holds Closed: the record refutes nothing"],
  ])("of %j with %j say %s", (record, more, text) => {
    expect(signsOf(record, more)).toContain(text);
  });
});

describe("a run", () => {
  test.each<[Partial<BoardRecord>, string]>([
    [{ exit_code: 0, signal: null }, "exit 0"],
    [{ exit_code: 3, signal: null }, "exit 3"],
    [{ exit_code: null, signal: "SIGKILL" }, "killed by SIGKILL"],
    [{ exit_code: null, signal: null, failed: true }, "failed"],
    [{ exit_code: null, signal: null, failed: false }, "exit unknown"], // never 0
    [{ output: null, tail: null }, "Its output was not kept"],
    [{ output: excerpt(""), tail: null, output_bytes: 0 }, "It printed nothing"],
    [{ output: excerpt("ab"), tail: excerpt("yz"), output_bytes: 1004 }, "1,000 bytes here were not kept"],
    [{ output_bytes: null }, "something here was not kept"],
    [{ ordered: false }, "its two streams apart"],
  ])("with %j says %s", (more, text) => {
    const moments: readonly Moment[] = [{ kind: "run", record: recordOf("x", more) }];
    expect(withoutTags(renderTurn(setting(TURN, "x"), TURN, viewOf("x", { moments })))).toContain(text);
  });
});

test("the first page says so when nothing matches, and when there is nothing", () => {
  const empty = { workspaces: [], counts: new Map(), turns: new Map() };
  const of = (filter: { workspace: string | null; text: string | null }) => {
    const address = { page: "overview", filter } as const;
    return renderOverview(setting(address, "x"), address, empty);
  };
  expect(of(NO_FILTER)).toContain("There are no turns here yet");
  expect(of({ ...NO_FILTER, text: "y" })).toContain("No turn matches");
});
