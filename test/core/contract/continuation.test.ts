import { expect, test } from "bun:test";
import { continuationSeed } from "../../../src/core/contract/continuation.ts";
import { initialEnvelope } from "../../../src/core/contract/envelope.ts";
import { validate } from "../../../src/core/contract/validate.ts";
import { AGENT_ID } from "./arbitrary.ts";

test("a continuation starts from the initial envelope, the id it continues, and the birth keys", () => {
  const closed = {
    ...initialEnvelope(AGENT_ID),
    evidence_report: { key_outputs: ["old"] },
    conclusion: "old",
    born_at_dispatch: true,
    agent_name: "qa-verifier",
  };
  const seed = continuationSeed(AGENT_ID, "a0.t", closed);
  expect(seed).toEqual({
    ...initialEnvelope(AGENT_ID),
    continues_contract_id: "a0.t",
    born_at_dispatch: true,
    agent_name: "qa-verifier",
  });
  expect(validate(seed)).toEqual([]);
});

test("a closed envelope without birth keys hands none on", () => {
  for (const closed of [{}, null, "x", []])
    expect(continuationSeed(AGENT_ID, "a0.t", closed)).toEqual({
      ...initialEnvelope(AGENT_ID),
      continues_contract_id: "a0.t",
    });
});
