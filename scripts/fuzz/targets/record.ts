/** What harnesses, commands and their outputs say. */
import { isAllowlisted, isSingleCommand, isTierZero, targetsOf } from "../../../src/core/context/read-only-command.ts";
import type { JsonValue } from "../../../src/core/json/value.ts";
import { relocate } from "../../../src/core/prove/relocate.ts";
import { adviseRun } from "../../../src/core/record/advice.ts";
import { keepOutput, OutputKeeper } from "../../../src/core/record/capture.ts";
import { findExcerpt, parseExcerpt, plainText } from "../../../src/core/record/excerpt.ts";
import { HARNESSES, readHook, toCapture } from "../../../src/core/record/hook.ts";
import { redact, valueRedactor } from "../../../src/core/record/redact.ts";
import { isRunnable } from "../../../src/core/record/runnable.ts";
import { readOperators } from "../../../src/core/record/shell-operators.ts";
import { readTranscript } from "../../../src/core/record/transcript.ts";
import { isVerdict, verdictTokens } from "../../../src/core/record/verdict.ts";
import { quoteWords, splitWords } from "../../../src/core/record/words.ts";
import { escapeControls, stripControls, stripSequences } from "../../../src/core/terminal.ts";
import { filesBelow, short, textsAt, vectors } from "../corpus.ts";
import { hold, reading, same } from "../target.ts";

export const hook = reading({
  name: "hook",
  parts: ["payload"],
  corpus: () => [
    ...filesBelow("fixtures/hooks", ".json"),
    '{"tool":"bash","command":"make","exit_code":0}',
    '[{"tool":"read","path":"a"}]',
  ],
  words: ["hook_event_name", "PostToolUse", "SubagentStop", "tool_name", "tool_response", "interrupted", "stdout", "Bash", "Edit", "agent_id", "backgroundTaskId", "persistedOutputPath", "duration_ms"], // biome-ignore format: a list
  read: ({ text }) => {
    // The command reads it leniently: the payload is the harness's.
    const payload = looseJson(text);
    if (payload === undefined) return;
    for (const harness of HARNESSES)
      for (const stop of [false, true]) {
        const event = readHook(payload, harness, stop);
        if (stop) same("a stop is one whatever the payload says", event.kind, "stop");
        if (event.kind !== "captures") continue;
        for (const each of event.captures) {
          const kept =
            each.outputText === null ? null : { ...keepOutput(each.outputText), output_bytes: 0, output_sha256: "0" };
          const capture = toCapture(each, {
            redactCommand: (raw) => redact(raw, "command"),
            output: kept,
            readFrom: "payload",
            started_at: null,
            ended_at: null,
          });
          hold(
            "a capture is a record that a store takes",
            JSON.stringify(capture).length > 0 && (capture.command ?? "").isWellFormed(),
            capture,
          );
        }
      }
  },
});

function looseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

export const transcript = reading({
  name: "transcript",
  parts: ["lines"],
  corpus: () => [
    [
      '{"type":"user","message":{"role":"user","content":"go"}}',
      '{"type":"assistant","message":{"role":"assistant","stop_reason":"tool_use","content":[{"type":"tool_use","name":"Bash","input":{"command":"bun test"}},{"type":"tool_use","name":"Read","input":{"file_path":"/a"}}]}}',
      '{"type":"assistant","message":{"role":"assistant","stop_reason":"max_tokens","content":[{"type":"text","text":"done"}]}}',
    ].join("\n"),
    ...filesBelow("fixtures/hooks", ".json").map((text) => text.replaceAll("\n", " ")),
  ],
  words: ["assistant", "message", "content", "tool_use", "input", "Bash", "command", "stop_reason"],
  read: ({ text }) => {
    const { commands, paths } = readTranscript(text.split("\n"));
    hold(
      "what is recovered can be stored",
      [...commands, ...paths].every((each) => each.isWellFormed() && each.trim() !== ""),
    );
  },
});

const commands = () =>
  short([
    ...textsAt(vectors("content-checks", "contract-record", "contract-drift"), "command"),
    ...textsAt(vectors("contract-record"), "text"),
    'FOO=1 bun test 2>&1 | tail -n 3 && echo "a b" || true; git log --oneline -5 &',
    "cat <<'EOF' > x\n$(rm) `y` $" + '{z:-"a\'b"}\nEOF',
    'kubectl get pods -n shop --context "prod" -o json',
    "gcloud run services describe api --project=shop --region europe-west1",
  ]);

export const command = reading({
  name: "command",
  parts: ["command"],
  corpus: commands,
  words: ["$(", "${", "`", "'", '"', "\\\n", "| tee", "&&", "||", "<<EOF", ">|", "&>", "#", "FOO=", "git log", "password=hunter2", "cd /work/app && ", "/work/app", "Bearer abc"], // biome-ignore format: a list
  read: ({ text }) => {
    const words = splitWords(text);
    if (words !== null) same("words that are quoted are split as they were", splitWords(quoteWords(words)), words);
    const { operators, end } = readOperators(text);
    let from = 0;
    for (const { start, end: behind, text: operator } of operators) {
      hold("operators stand one behind the other", start >= from && text.slice(start, behind) === operator, operators);
      from = behind;
    }
    hold("the end is in the text", end >= 0 && end <= text.length, end);
    isRunnable(text, (word) => word === "git");
    isTierZero(text);
    if (isAllowlisted(text)) hold("what may run unasked is one command", isSingleCommand(text), text);
    targetsOf(text);
    const moves = [
      { from: "/work/app", to: "/tmp/copy" },
      { from: "/", to: "/x" },
    ];
    const moved = relocate(text, moves);
    same("what was moved is moved", relocate(moved, moves), moved);
    redact(text, "command");
    adviseRun({ command: text, argv: null, output: "", tail: null });
  },
});

const values = valueRedactor({ API_TOKEN: "s3cr3t-token-value-1234567890", HOME: "/root" });

export const output = reading({
  name: "output",
  parts: ["output", "excerpt"],
  corpus: () => {
    const outputs = short([
      ...textsAt(vectors("content-checks"), "output"),
      ...textsAt(vectors("contract-record"), "text"),
    ]);
    const excerpts = short(
      textsAt(vectors("content-checks"), "excerpt").concat(
        textsAt(vectors("content-checks"), "content"),
        "12 pass\n...\n0 fail",
      ),
    );
    return outputs.map((text, at) => [text, excerpts[at % excerpts.length] ?? ""]);
  },
  words: ["\u001b[31m", "\u001b]0;x\u0007", "\u009b1m", "-----BEGIN PRIVATE KEY-----\n", "-----END PRIVATE KEY-----\n", "Authorization: Bearer abcdefghijklmnop", "https://u:p@h/", "password=x", "…", "[...]", "s3cr3t-token-value-1234567890", "AKIAABCDEFGHIJKLMNOP", "ghp_0123456789012345678901234567890123456789"], // biome-ignore format: a list
  read: ({ text }, { text: excerpt }) => {
    const redacted = redact(text, "output", values);
    hold("no secret of the environment stays", !redacted.includes("s3cr3t-token-value-1234567890"), redacted);
    const whole = keepOutput(redacted);
    hold("both ends are bounded", (whole.output?.length ?? 0) <= 1100 && (whole.tail?.length ?? 0) <= 1100, whole);
    const stripped = stripControls(text);
    hold(
      "nothing that steers a terminal is left",
      !/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/.test(stripped),
      stripped,
    );
    same("what is stripped stays", stripControls(stripped), stripped);
    stripSequences(text);
    const json = JSON.stringify({ text });
    same("escaped JSON is the same value", JSON.stringify(JSON.parse(escapeControls(json))), json);
    plainText(text);
    findExcerpt(excerpt, { output: text, tail: null, truncated: false, ordered: true });
    if (parseExcerpt(text).fragments.length > 0)
      same(
        "a whole output stands in itself",
        findExcerpt(text, { output: text, tail: null, truncated: false, ordered: true }),
        "found",
      );
    verdictTokens(text);
    isVerdict(text);
    const plain = text.toWellFormed();
    const keeper = new OutputKeeper((window) => window);
    for (let from = 0; from < plain.length; ) {
      const isSplit = /[\udc00-\udfff]/.test(plain[from + 997] ?? "");
      const to = from + 997 + (isSplit ? 1 : 0);
      keeper.push(plain.slice(from, to));
      from = to;
    }
    const { output: head, tail, truncated } = keeper.finish();
    same("what comes in pieces is kept as what comes whole", { output: head, tail, truncated }, keepOutput(plain));
  },
});
