/** What model servers answer and what models write, read without a server. */

import { ENGINES } from "../../../src/core/config/seat.ts";
import { seatWith } from "../../../src/core/config/seat-with.ts";
import { docAnchorOf } from "../../../src/core/delegation/docanchor.ts";
import { listFidelityNotes } from "../../../src/core/delegation/list-fidelity.ts";
import { parseJson } from "../../../src/core/json/parse.ts";
import { readArguments } from "../../../src/core/seat/arguments.ts";
import { findBalanced, isUnterminated, lastWholeElement } from "../../../src/core/seat/balanced.ts";
import { degenerateRun } from "../../../src/core/seat/degenerate.ts";
import { AnswerReader } from "../../../src/core/seat/deltas.ts";
import { planEdit } from "../../../src/core/seat/edit.ts";
import { splitThinking, withoutFence } from "../../../src/core/seat/final-text.ts";
import { judgeAnswer, refusedParameter, retryAfterSec } from "../../../src/core/seat/judge-answer.ts";
import { callsInText } from "../../../src/core/seat/markup.ts";
import { findLoop, trimmedLoop } from "../../../src/core/seat/repetition.ts";
import { isRunaway } from "../../../src/core/seat/runaway.ts";
import { linesOf, renderLines } from "../../../src/core/seat/tool-results.ts";
import { TOOL_SPECS } from "../../../src/core/seat/tool-specs.ts";
import type { Ask, Said } from "../../../src/llm/dialect.ts";
import { llamaCpp } from "../../../src/llm/llama-cpp.ts";
import { behindSwap } from "../../../src/llm/llama-swap.ts";
import { ollama } from "../../../src/llm/ollama.ts";
import { openai } from "../../../src/llm/openai.ts";
import { vllm } from "../../../src/llm/vllm.ts";
import { captureNames, captureOf } from "../../../test/support/llama-capture.ts";
import { filesBelow, short, textsAt, vectors } from "../corpus.ts";
import { hold, reading, same } from "../target.ts";

const CALLS = [
  '<tool_call>\n{"name": "read_file", "arguments": {"path": "docs/a.md"}}\n</tool_call>',
  '[TOOL_CALLS][{"name":"finish","arguments":{"answer":"412"}}]',
  '<function=read_file>{"path":"docs/a.md"}</function>',
  "<think>hm, let me see\n</think>\nThere are 412 pallets.",
  'Here it is:\n```json\n{"summary":"412 pallets","items":["a","b"]}\n```\n',
  "- a\n- b\n".repeat(40),
  '{"name":"search_files","arguments":{"pattern":"(?i)pallets","path":"."}}',
];
const WORDS = ["<tool_call>", "</tool_call>", "<function=", "</function>", "[TOOL_CALLS]", "<|tool_call", "<think>", "</think>", "```json\n", "```\n", '{"name":"', '"arguments":{', '"path":"a"', "read_file", "finish", "!", "same line\n"]; // biome-ignore format: a list

export const modelText = reading({
  name: "model-text",
  parts: ["text", "file"],
  corpus: () => {
    const texts = short([
      ...CALLS,
      ...textsAt(vectors("delegation-acceptance-eval", "delegation-fingerprint"), "output"),
    ]);
    const files = filesBelow("contracts/write-door", ".ts");
    return texts.map((text, at) => [text, files[at % files.length] ?? ""]);
  },
  words: WORDS,
  read: ({ text }, { text: file }) => {
    const names = TOOL_SPECS.map(({ name }) => name);
    const calls = callsInText(text, names);
    if (calls.kind === "calls")
      hold(
        "calls have names, and arguments that are JSON",
        calls.calls.every(({ name, arguments: given }) => name !== "" && typeof given === "string"),
        calls,
      );
    for (const spec of TOOL_SPECS)
      for (const isCut of [false, true]) {
        const read = readArguments(text, spec, isCut);
        if (read.kind === "cut") continue;
        const sent = parseJson(read.sent);
        hold(
          "what stands in a history is an object",
          sent.ok && typeof sent.value === "object" && !Array.isArray(sent.value),
          read.sent,
        );
        if (read.kind === "ok")
          same(
            "what was read reads as itself",
            (readArguments(read.sent, spec, isCut) as typeof read).values,
            read.values,
          );
      }
    splitThinking(text);
    withoutFence(text);
    degenerateRun(text);
    isRunaway(text.slice(-4096));
    isUnterminated(text);
    lastWholeElement(text);
    const found = findBalanced(text, "{");
    if (found !== null)
      hold(
        "what is balanced begins and ends with a bracket",
        text[found.start] === "{" && /[}\]]/.test(text[found.end - 1] ?? ""),
        found,
      );
    for (const isCut of [false, true]) {
      const loop = findLoop(text, isCut);
      if (loop !== null)
        hold(
          "a loop is trimmed to less",
          loop.kept.length < text.length && text.startsWith(loop.kept) && trimmedLoop(loop).length > 0,
          loop.trimmed,
        );
    }
    const old = text.slice(0, 200);
    const edited = planEdit(file, old, `${old}!`, "a.ts");
    if (edited.ok) hold("what was edited is other", edited.text !== file);
    if (old !== "" && !file.includes(old)) {
      const whole = planEdit(`${file}\n${old}`, old, "new", "a.ts");
      hold(
        "a snippet that is there once is replaced",
        (whole.ok && whole.text === `${file}\nnew`) ||
          (!whole.ok && `${file}\n${old}`.indexOf(old) !== file.length + 1),
        whole,
      );
    }
    const lines = linesOf(text);
    hold("a line has no end", !lines.some((line) => line.includes("\n")));
    same("lines are all of the text", lines.join("\n").replaceAll("\r", "").trim(), text.replaceAll("\r", "").trim());
    hold("a page of lines is bounded", renderLines(text, { offset: 3, limit: 5 }, 2000).length < 4000);
    docAnchorOf(text, [{ name: "a.md", text: file }]);
    listFidelityNotes(text, file, "lossless");
  },
});

const bodies = () => captureNames().map((name) => captureOf(name).response.text);

export const answerBody = reading({
  name: "answer-body",
  parts: ["body"],
  corpus: () => bodies().filter((text) => !text.startsWith("data:")),
  words: ["error", "message", "choices", "delta", "tool_calls", "function", "usage", "prompt_tokens", "content", "reasoning_content", "finish_reason", "n_ctx", "exceed_context_size_error", "Loading model", "insufficient_quota", "param", "retry-after", "completion_tokens_details"], // biome-ignore format: a list
  read: ({ text }) => {
    for (const status of [200, 400, 404, 408, 429, 500, 501, 503])
      for (const engine of ENGINES) {
        const judged = judgeAnswer({ status, body: text, retry_after_sec: null, engine, mode: "grammar" });
        hold(
          "a message is one line that is not too long",
          judged.message.length <= 420 && !/[\r\n]/.test(judged.message),
          judged,
        );
      }
    refusedParameter(400, text, { max_tokens: 5, seed: 1, temperature: 0, stream_options: {} });
    const wait = retryAfterSec(() => text.slice(0, 40));
    hold("a wait is one", wait === null || (wait >= 0 && wait < 1e7), wait);
    const reader = new AnswerReader();
    reader.takeWhole(text);
    lawful(reader);
  },
});

export const answerEvents = reading({
  name: "answer-events",
  parts: ["data lines"],
  corpus: () =>
    bodies()
      .filter((text) => text.startsWith("data:"))
      .map((text) =>
        text
          .split("\n")
          .flatMap((line) => (line.startsWith("data: ") ? [line.slice(6)] : []))
          .join("\n"),
      ),
  words: [
    "[DONE]",
    '"index":0',
    '"index":-1',
    '"id":""',
    '"tool_calls":[{',
    '"function":{"name":"',
    '"arguments":"',
    "null",
    '"delta":{}',
    '"prompt_progress":{',
    '"processed":1e9',
    '"error":{',
  ],
  read: ({ text }) => {
    const reader = new AnswerReader();
    for (const line of text.split("\n")) {
      const taken = reader.takeEvent(line);
      if (taken.kind === "taken")
        hold("pieces are counted", taken.deltas >= 0 && (taken.prefilled === null || taken.prefilled >= 0), taken);
      if (taken.kind !== "taken") break;
    }
    lawful(reader);
  },
});

const SAID = ["props", "slots", "health", "tokenize", "slots-busy"];
const MODELS = [
  captureOf("models").response.text,
  '{"data":[{"id":"m","aliases":["a"],"max_model_len":4096,"meta":{"llamaswap":{"aliases":["m2"]}}}],"running":[{"model":"m","state":"ready"}],"models":[{"name":"m:latest","context_length":4096}],"version":"0.5.1"}',
];

/** What the engines and the proxy say of themselves: the list of models, and whatever else is asked for. */
export const engine = reading({
  name: "engine",
  parts: ["models", "other answers"],
  corpus: () => SAID.flatMap((name) => MODELS.map((models) => [models, captureOf(name).response.text])),
  words: ["data", "id", "aliases", "running", "state", "starting", "n_ctx", "total_slots", "is_processing", "chat_template_caps", "supports_tools", "tokens", "max_model_len", "build_info", "meta", "llamaswap"], // biome-ignore format: a list
  read: async ({ text: models }, { text: other }) => {
    const [listed, said] = [models, other].map((text) => {
      return { status: 200, body: parseLoosely(text), text, isGone: false, message: "HTTP 200" };
    });
    const ask: Ask = async (path) => (/models|running|api/.test(path) ? listed : said) as Said;
    const seat = seatWith({ name: "s", base_url: "http://127.0.0.1:1", model: "m", engine: "llama.cpp" });
    for (const dialect of [llamaCpp, vllm, ollama, openai, behindSwap(llamaCpp)]) {
      const { state, busy_slots, total_slots } = await dialect.look(ask, seat);
      const counts = [
        busy_slots,
        total_slots,
        await dialect.windowTokens(ask, seat),
        await dialect.loadedWindowTokens(ask, seat),
        await dialect.totalSlots(ask),
        await dialect.countTokens(ask, other),
      ];
      hold(
        "a seat has a state",
        ["ready", "loading", "stopped", "not_served", "unknown", "gone"].includes(state),
        state,
      );
      hold(
        "a count is one, or is not known",
        counts.every((count) => count === null || (Number.isSafeInteger(count) && count >= 0)),
        counts,
      );
      await dialect.hasFreeSlot(ask);
      await dialect.takesTools(ask, seat);
      await dialect.build(ask, seat);
    }
  },
});

function parseLoosely(text: string): Said["body"] {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function lawful(reader: AnswerReader): void {
  const { content, reasoning, calls, usage } = reader.received();
  hold(
    "texts are texts of UTF-8",
    content.isWellFormed() &&
      reasoning.isWellFormed() &&
      calls.every((call) => call.name.isWellFormed() && call.arguments.isWellFormed()),
  );
  for (const count of Object.values(usage ?? {}))
    hold("counts are counts", typeof count !== "number" || (Number.isSafeInteger(count) && count >= 0), usage);
}
