/** `writ dispatch`: births a turn and prints what the turn is given. */
import { homedir } from "node:os";
import { WritError } from "../core/error.ts";
import type { JsonObject } from "../core/json/value.ts";
import { type BindingRejection, dispatchTurn } from "../editor/dispatch.ts";
import { environmentFacts } from "../host/environment.ts";
import { readBodyFile } from "../host/named-file.ts";
import { readStdinText } from "../host/stdin.ts";
import { scratchFolder } from "../store/scratch.ts";
import { defineCommand } from "./command.ts";
import { JSON_SWITCH, wholeNumber } from "./contract/address.ts";
import { BODY_LIMIT } from "./contract/body.ts";
import { inWorld, openWorld, placesOf, sessionOf, workspaceOf } from "./world.ts";

export const command = defineCommand({
  meta: { name: "dispatch", description: "Birth a turn: its row, its draft, and the block it is given" },
  args: {
    agent: { type: "string", required: true, valueHint: "NAME", description: "The name of the agent" },
    goal: { type: "string", valueHint: "TEXT", description: "What the turn is for" },
    "goal-file": { type: "string", valueHint: "PATH|-", description: "Read the goal from a file; - is standard input" },
    source: { type: "positional", required: false, description: "- reads the goal from standard input" },
    workspace: { type: "string", valueHint: "W", description: "The workspace (default: WRIT_WORKSPACE, else me)" },
    project: { type: "string", valueHint: "NAME", description: "The project, by its name in the workspace" },
    role: { type: "string", valueHint: "R", description: "The role of the turn" },
    surface: { type: "string", valueHint: "S", description: "The surface it works on" },
    kind: { type: "string", valueHint: "K", description: "The kind of turn (default: from the other options)" },
    "plan-task-id": { type: "string", valueHint: "N", description: "The plan task to work on" },
    "plan-id": { type: "string", valueHint: "N", description: "The plan it belongs to" },
    "parent-handoff-id": {
      type: "string",
      valueHint: "N",
      description:
        "The turn that this one verifies or follows: the number that finalize printed, or of writ contract list",
    },
    "brief-id": { type: "string", valueHint: "N", description: "The brief whose evidence it may cite" },
    "session-id": { type: "string", valueHint: "ID", description: "The session of the harness" },
    "harness-id": { type: "string", valueHint: "ID", description: "The harness's own id of the agent" },
    "can-read": { type: "string", valueHint: "A,B", description: "Sections of project context to read" },
    "can-write": { type: "string", valueHint: "A,B", description: "Sections of project context to propose to" },
    consolidation: { type: "boolean", description: "The close needs a consolidation report" },
    ...JSON_SWITCH,
  },
  examples: [
    "writ dispatch --agent backend-dev --goal 'Find why the checkout test fails and fix it'",
    'export "$(writ dispatch --agent backend-dev --goal-file goal.md | tail -n 1)"',
  ],
  notes: ["The last line is what the harness puts into the environment of the turn: WRIT_CONTRACT_ID=..."],
  exits: { 0: "born; also with a binding that failed, which the row says" },
  async run({ args, json, out }) {
    const goal = await goalOf(args.goal, args["goal-file"], args.source);
    const { scratch } = placesOf();
    const options = {
      agent: named(args.agent, "--agent"),
      goal,
      workspace: workspaceOf(args.workspace),
      project: args.project ?? null,
      role: args.role ?? null,
      surface: args.surface ?? null,
      kind: args.kind ?? null,
      plan_task_id: wholeNumber(args["plan-task-id"], "--plan-task-id", 1),
      plan_id: wholeNumber(args["plan-id"], "--plan-id", 1),
      parent_handoff_id: wholeNumber(args["parent-handoff-id"], "--parent-handoff-id", 1),
      brief_id: wholeNumber(args["brief-id"], "--brief-id", 1),
      session_id: sessionOf(args["session-id"]),
      harness_agent_id: args["harness-id"] ?? null,
      can_read: listOf(args["can-read"]),
      can_write: listOf(args["can-write"]),
      consolidation: args.consolidation,
    };
    const world = {
      ...openWorld(),
      environment: () => environmentFacts(process.env, homedir()),
      limits: {
        graceHours: numberOf(process.env.WRIT_DRAFTS_GRACE_HOURS, 24),
        maxDays: numberOf(process.env.WRIT_DRAFTS_MAX_DAYS, 7),
      },
      scratch: scratchFolder(scratch),
    };
    const born = inWorld(world, (open) => dispatchTurn(open, options));
    const { kernel, warnings, ...facts } = born;
    const isBlank = goal === null && [args.goal, args["goal-file"], args.source].some((given) => given !== undefined);
    if (isBlank) out.talk("Warning: the goal is blank: the turn is born without one");
    for (const warning of warnings) out.talk(`Warning: ${warning}`);
    if (born.binding_rejection !== null) {
      out.talk(
        `Warning: the binding was refused (${born.binding_rejection.reason}): the turn is born unbound; ${bindingAdvice(born.binding_rejection)}`,
      );
    }
    if (json) {
      const { binding_rejection, ...plain } = facts;
      const rejection: JsonObject | null = binding_rejection === null ? null : { ...binding_rejection };
      out.document({ ok: true, status: "dispatched", ...plain, binding_rejection: rejection, kernel });
    } else {
      out.line(kernel);
      out.line("");
      out.line(`WRIT_CONTRACT_ID=${born.contract_id}`);
    }
    return 0;
  },
});

async function goalOf(
  goal: string | undefined,
  file: string | undefined,
  operand: string | undefined,
): Promise<string | null> {
  if (operand !== undefined && operand !== "-") {
    throw new WritError("usage", `dispatch takes no operand but -, not "${operand}"`, {
      hint: "Give the goal as --goal TEXT, --goal-file PATH, or -",
    });
  }
  if ([goal, file, operand].filter((source) => source !== undefined).length > 1) {
    throw new WritError("usage", "The goal was given more than once", {
      hint: "Give one of --goal TEXT, --goal-file PATH, and -",
    });
  }
  const text =
    file === "-" || operand === "-"
      ? await readStdinText(BODY_LIMIT)
      : file !== undefined
        ? await readBodyFile(file, BODY_LIMIT)
        : goal;
  return text === undefined || text.trim() === "" ? null : text.trimEnd();
}

/** What was wrong with a binding, and what to do: the turn itself cannot be bound any more. */
function bindingAdvice(rejection: BindingRejection): string {
  const { attempted_plan_task_id: task, attempted_parent_handoff_id: parent } = rejection;
  switch (rejection.reason) {
    case "plan_task_id_unresolved":
      return `there is no task ${task}: find it with writ task list --brief NAME, and dispatch again`;
    case "parent_handoff_id_unresolved":
      return `there is no turn ${parent}: find its id with writ contract list, and dispatch again`;
    case "plan_task_id_not_dispatchable":
      return `task ${task} is not pending: writ task set ${task} pending, and dispatch again`;
    case "task_execution_requires_plan_task_id":
      return "name the task with --plan-task-id N (writ task list --brief NAME), and dispatch again";
    case "verifier_requires_parent_handoff_id":
      return "name the turn to verify with --parent-handoff-id N (writ contract list), and dispatch again";
    default:
      return rejection.reason satisfies never;
  }
}

function named(name: string, option: string): string {
  if (name.trim() !== "") return name.trim();
  throw new WritError("usage", `${option} is blank`, { hint: `For example: ${option} backend-dev` });
}

function listOf(text: string | undefined): readonly string[] | null {
  if (text === undefined) return null;
  const names = text.split(",").map((name) => name.trim());
  return [...new Set(names.filter((name) => name !== ""))];
}

/** A malformed or negative value means the default. */
function numberOf(text: string | undefined, otherwise: number): number {
  return text !== undefined && /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : otherwise;
}
