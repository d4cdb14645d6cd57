/** Every target by its name. `docs/fuzzing.md` says what each reads; a test holds the two against each other. */
import type { Target } from "./target.ts";
import { brief, ledger, legs, markdown, plan, tasks } from "./targets/brief.ts";
import { commands } from "./targets/commands.ts";
import { envelope, updates, write } from "./targets/contract.ts";
import { acceptance, contractFile, lint } from "./targets/delegation.ts";
import { approval, argv, boardAddress, context, mcpLine, pin, script } from "./targets/door.ts";
import { factPointer, fixtureSet, gateFile, gateReport, parallel, proofFile, testReport } from "./targets/gate.ts";
import { json } from "./targets/json.ts";
import { eventStream, health, jobView, route, submit } from "./targets/node.ts";
import { nodeHttp } from "./targets/node-http.ts";
import { patch, patchByGit, paths } from "./targets/patch.ts";
import { pattern, schema, search } from "./targets/pattern.ts";
import { command, hook, output, transcript } from "./targets/record.ts";
import { seat, seatHere } from "./targets/seat.ts";
import { answerBody, answerEvents, engine, modelText } from "./targets/seat-text.ts";
import { config, flow, harness } from "./targets/settings.ts";
import { attestation, intents, quarantine, rates, runRecord, slotTicket } from "./targets/state.ts";

export const LIGHT: readonly Target[] = [
  ...[json, envelope, write, updates, context, approval],
  ...[hook, transcript, command, output, attestation],
  ...[acceptance, contractFile, lint, pattern, search, schema],
  ...[patch, paths, runRecord, intents, rates, quarantine, slotTicket],
  ...[submit, jobView, health, route, eventStream],
  ...[answerBody, answerEvents, modelText, engine, script],
  ...[gateFile, factPointer, gateReport, testReport, proofFile, parallel, fixtureSet],
  ...[config, flow, harness],
  ...[brief, plan, ledger, markdown, legs, tasks],
  ...[mcpLine, argv, pin, boardAddress],
];

/** Those that start programs or open ports; the tests have other ways to run these. */
const HEAVY: readonly Target[] = [patchByGit, commands, nodeHttp, seat, seatHere];

export const TARGETS: readonly Target[] = [...LIGHT, ...HEAVY];
