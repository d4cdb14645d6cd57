/** Asking for consent. */
import type { ApprovalRow } from "../core/approval/repository.ts";
import { type ApprovalRequest, commandFault, type RenderedRequest, renderRequest } from "../core/approval/request.ts";
import { agentPart } from "../core/contract/envelope.ts";
import { WritError } from "../core/error.ts";
import type { World } from "./world.ts";

export type Asker = {
  /** Null: the agent of the turn at work. */
  readonly agent_id: string | null;
  readonly session_id: string | null;
};

export type Requested = {
  readonly approval: ApprovalRow;
  readonly request: RenderedRequest;
  /** False when the same request was pending already, and its id is the answer. */
  readonly created: boolean;
};

/**
 * Asks for consent to the commands, once: of two that ask the same, both get one id.
 *
 * Errors: `usage` for a command that is not one command; `store_busy`, `store_failed`.
 */
export function requestApproval(world: World, asked: ApprovalRequest, asker: Asker): Requested {
  checkCommands(asked.commands);
  const request = renderRequest(asked, world.sha256);
  return world.store.write((tables) => {
    const pending = tables.approvals.findPending(request.fingerprint);
    if (pending !== null) return { approval: pending, request, created: false };
    const id = world.mint.approvalId();
    tables.approvals.insert({
      id,
      agent_id: asker.agent_id ?? (world.contractId === null ? null : agentPart(world.contractId)),
      session_id: asker.session_id,
      fingerprint: request.fingerprint,
      payload: request.payload,
      created_at: world.clock.now(),
    });
    const approval = tables.approvals.find(id);
    if (approval === null) throw new Error(`The approval "${id}" is missing after its insert`);
    return { approval, request, created: true };
  });
}

/** What can be said before the store is opened. Errors: `usage`. */
export function checkCommands(commands: readonly string[]): void {
  if (commands.length === 0) throw notOne("Consent is asked to nothing: no command was given");
  for (const command of commands) {
    const fault = commandFault(command);
    if (fault !== null) throw notOne(`The command "${command}" ${fault}`);
  }
}

function notOne(message: string): WritError {
  return new WritError("usage", message, {
    path: "--command",
    hint: "Give one command a --command, as it will run; several commands are several --command",
  });
}
