/**
 * The scripted llama.cpp held against the real one: its texts are the specification's, and what a client makes of an
 * answer has to be the same for both.
 */
import { expect, test } from "bun:test";
import { type ErrorName, namedError } from "../../../src/core/scripted/named-error.ts";
import { judgeAnswer } from "../../../src/core/seat/judge-answer.ts";
import { captureOf } from "../../support/llama-capture.ts";

const COUNTS = { prompt_tokens: 1231, ctx_tokens: 512, column: 15 };

test.each<{ name: ErrorName; capture: string }>([
  { name: "loading", capture: "chat-loading" },
  { name: "no_slot", capture: "slots-no-slot" },
  { name: "too_long", capture: "too-long" },
  { name: "too_long", capture: "too-long-stream" },
  { name: "bad_arguments", capture: "history-arguments" },
  { name: "grammar_with_tools", capture: "grammar-with-tools" },
  { name: "bad_schema", capture: "bad-grammar" },
  { name: "bad_schema", capture: "bad-schema" },
  { name: "unauthorized", capture: "unauthorized" },
])("$name is taken as the real $capture is", ({ name, capture }) => {
  const { status, text } = captureOf(capture).response;
  const scripted = namedError(name, "llama.cpp", COUNTS);
  const judge = (code: number, body: string) => {
    const { message, ...judged } = judgeAnswer({
      status: code,
      body,
      retry_after_sec: null,
      engine: "llama.cpp",
      mode: name === "bad_schema" ? "grammar" : null,
    });
    return judged;
  };
  expect(judge(scripted.status, JSON.stringify(scripted.body))).toEqual(judge(status, text));

  const real = JSON.parse(text).error;
  const { error } = JSON.parse(JSON.stringify(scripted.body));
  expect([scripted.status, error.type]).toEqual([status, real.type]);
  expect(Object.keys(real)).toEqual(expect.arrayContaining(Object.keys(error)));
});
