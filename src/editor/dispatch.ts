/** `dispatch`: the birth of a turn: a row, a draft, and the kernel block that the turn is given. */
import { initialEnvelope } from "../core/contract/envelope.ts";
import { type ContextSection, type Environment, renderKernel } from "../core/contract/kernel.ts";
import type { Tables } from "../core/contract/repository.ts";
import { WritError } from "../core/error.ts";
import { compactJson, isObject, type JsonObject, valueAt } from "../core/json/value.ts";
import { type SweepWorld, sweepDrafts } from "./housekeeping.ts";
import { draftText, recordChange } from "./journal.ts";
import { Publication } from "./write.ts";

export type Dispatch = {
  readonly agent: string;
  readonly goal: string | null;
  readonly workspace: string;
  readonly project: string | null;
  readonly role: string | null;
  readonly surface: string | null;
  readonly kind: string | null;
  readonly plan_task_id: number | null;
  readonly plan_id: number | null;
  readonly parent_handoff_id: number | null;
  readonly brief_id: number | null;
  readonly session_id: string | null;
  readonly harness_agent_id: string | null;
  readonly can_read: readonly string[] | null;
  readonly can_write: readonly string[] | null;
  readonly consolidation: boolean;
};

export type BindingRejection = {
  readonly reason:
    | "task_execution_requires_plan_task_id"
    | "plan_task_id_unresolved"
    | "plan_task_id_not_dispatchable"
    | "verifier_requires_parent_handoff_id"
    | "parent_handoff_id_unresolved";
  readonly attempted_plan_task_id: number | null;
  readonly attempted_parent_handoff_id: number | null;
};

export type Dispatched = {
  readonly contract_id: string;
  readonly agent_id: string;
  readonly handoff_id: number;
  readonly created: boolean;
  readonly kind: string;
  readonly plan_task_id: number | null;
  readonly parent_handoff_id: number | null;
  readonly binding_rejection: BindingRejection | null;
  readonly kernel: string;
  readonly warnings: readonly string[];
};

type DispatchWorld = SweepWorld & {
  /** What the `# Environment` line of the kernel block says. */
  environment(): Environment;
};

/**
 * Births one turn. A binding that fails is no failed birth: the row is born unbound and says why.
 *
 * Errors: `store_busy`, `store_failed`.
 */
export function dispatchTurn(world: DispatchWorld, dispatch: Dispatch): Dispatched {
  const agent_id = world.mint.agentId();
  const contract_id = `${agent_id}.${world.mint.token()}`;
  const kind = dispatch.kind ?? kindOf(dispatch);
  const publication = new Publication(world);
  let unwritten: readonly string[] = [];
  let born: Omit<Dispatched, "warnings" | "kernel"> & {
    readonly kernelOf: (environment: Environment) => string;
    readonly unknown: readonly string[];
  };
  try {
    born = world.store.write((tables) => {
      publication.discard();
      tables.workspaces.ensure(dispatch.workspace, world.clock.now());
      const project = resolveProject(tables, dispatch);
      const binding = bind(tables, kind, dispatch);
      const brief_id = known(dispatch.brief_id, (id) => tables.tasks.briefExists(id));
      const plan_id = known(dispatch.plan_id, (id) => tables.tasks.planExists(id));
      const birthMark: JsonObject = {
        agent_state: "DISPATCHED",
        born_at_dispatch: true,
        agent_name: dispatch.agent,
        ...(binding.rejection === null ? {} : { binding_rejection: { ...binding.rejection } }),
      };
      const { id, created } = tables.handoffs.insertBirth({
        contract_id,
        agent_id,
        agent_name: dispatch.agent,
        workspace: dispatch.workspace,
        session_id: dispatch.session_id,
        harness_agent_id: dispatch.harness_agent_id,
        kind,
        brief_id,
        plan_id,
        plan_task_id: binding.plan_task_id,
        parent_handoff_id: binding.parent_handoff_id,
        continues_handoff_id: null,
        goal: dispatch.goal,
        role: dispatch.role,
        surface: dispatch.surface,
        project: project.name,
        project_path: project.path,
        goal_project_token: project.token,
        can_read: dispatch.can_read === null ? null : JSON.stringify(dispatch.can_read),
        can_write: dispatch.can_write === null ? null : JSON.stringify(dispatch.can_write),
        consolidation: dispatch.consolidation ? 1 : 0,
        raw_handoff_json: compactJson(birthMark),
        created_at: world.clock.now(),
      });
      const envelope = initialEnvelope(agent_id);
      if (world.drafts.read(contract_id) === null) {
        unwritten = stageDraft(publication, contract_id, envelope);
        recordChange(world, tables, { draft_id: contract_id, verb: "dispatch", before: null, after: envelope });
      }
      const gates = binding.plan_task_id === null ? [] : tables.tasks.listGates(binding.plan_task_id);
      const sections = project.name === null ? null : readSections(tables, dispatch);
      return {
        contract_id,
        agent_id,
        handoff_id: id,
        created,
        kind,
        plan_task_id: binding.plan_task_id,
        parent_handoff_id: binding.parent_handoff_id,
        binding_rejection: binding.rejection,
        unknown: [
          ...(kind === "verifier" && dispatch.plan_task_id !== null
            ? [`A verifier is bound by its parent alone: plan task ${dispatch.plan_task_id} was dropped`]
            : []),
          ...(brief_id === dispatch.brief_id
            ? []
            : [`There is no brief ${dispatch.brief_id}: the turn is born without one`]),
          ...(plan_id === dispatch.plan_id
            ? []
            : [`There is no plan ${dispatch.plan_id}: the turn is born without one`]),
        ],
        kernelOf: (environment) =>
          renderKernel({
            contract_id,
            agent_id,
            goal: dispatch.goal,
            role: dispatch.role,
            surface: dispatch.surface,
            project: project.name === null ? null : { name: project.name, path: project.path },
            workflow: project.workflow,
            plan_task_id: binding.plan_task_id,
            parent_handoff_id: binding.parent_handoff_id,
            can_read: dispatch.can_read,
            can_write: dispatch.can_write,
            acceptance: gates,
            environment,
            context: sections,
            workspace: dispatch.workspace,
          }),
      };
    });
  } catch (error) {
    publication.discard();
    throw error;
  }
  const { kernelOf, unknown, ...rest } = born;
  const warnings = [...unknown, ...unwritten, ...publication.publish(), ...sweepDrafts(world)];
  return { ...rest, kernel: kernelOf(world.environment()), warnings };
}

/** The row is the birth: a draft that cannot be written is a warning, and the first write adopts the row. */
function stageDraft(publication: Publication, contractId: string, envelope: JsonObject): readonly string[] {
  try {
    publication.stage(contractId, draftText(envelope));
    return [];
  } catch (error) {
    if (!(error instanceof WritError)) throw error;
    return [`The draft of "${contractId}" could not be written, and is made by its first write: ${error.message}`];
  }
}

function kindOf(dispatch: Dispatch): string {
  if (/verifier/i.test(dispatch.agent)) return "verifier";
  return dispatch.plan_task_id === null ? "investigation" : "task_execution";
}

type Binding = {
  readonly plan_task_id: number | null;
  readonly parent_handoff_id: number | null;
  readonly rejection: BindingRejection | null;
};

/** A verifier is bound by its parent alone: a task of its own would send its close back for verification for ever. */
function bind(tables: Tables, kind: string, dispatch: Dispatch): Binding {
  const isVerifier = kind === "verifier";
  const planTaskId = isVerifier ? null : dispatch.plan_task_id;
  const reason = refusal(tables, kind, planTaskId, dispatch.parent_handoff_id);
  if (reason === null) {
    return { plan_task_id: planTaskId, parent_handoff_id: dispatch.parent_handoff_id, rejection: null };
  }
  return {
    plan_task_id: null,
    parent_handoff_id: null,
    rejection: {
      reason,
      attempted_plan_task_id: dispatch.plan_task_id,
      attempted_parent_handoff_id: dispatch.parent_handoff_id,
    },
  };
}

function refusal(
  tables: Tables,
  kind: string,
  planTaskId: number | null,
  parentId: number | null,
): BindingRejection["reason"] | null {
  if (kind === "task_execution" && planTaskId === null) return "task_execution_requires_plan_task_id";
  if (planTaskId !== null) {
    const task = tables.tasks.find(planTaskId);
    if (task === null) return "plan_task_id_unresolved";
    if (kind === "task_execution" && task.status !== "pending") return "plan_task_id_not_dispatchable";
  }
  if (kind === "verifier" && parentId === null) return "verifier_requires_parent_handoff_id";
  if (parentId !== null && tables.handoffs.findById(parentId) === null) return "parent_handoff_id_unresolved";
  return null;
}

function known(id: number | null, exists: (id: number) => boolean): number | null {
  return id !== null && exists(id) ? id : null;
}

type Project = {
  readonly name: string | null;
  readonly path: string | null;
  readonly workflow: string | null;
  /** What the goal or the flag called a project, where nothing resolved it. */
  readonly token: string | null;
};

/** `_` and `-` count as the same in a project's name; the stored spelling is the one that is kept. */
function resolveProject(tables: Tables, dispatch: Dispatch): Project {
  const identity = tables.context.get(dispatch.workspace, "project_identity");
  if (dispatch.project !== null) {
    const names = identity === null ? [] : Object.keys(identity);
    const { project: wanted } = dispatch;
    // The exact spelling wins where both are stored.
    const key = names.find((name) => name === wanted) ?? names.find((name) => fold(name) === fold(wanted));
    if (identity === null || key === undefined)
      return { name: null, path: null, workflow: null, token: dispatch.project };
    const facts = valueAt(identity, key);
    const text = (name: string) => {
      const value = isObject(facts) ? valueAt(facts, name) : undefined;
      return typeof value === "string" ? value : null;
    };
    return { name: key, path: text("path"), workflow: text("workflow"), token: null };
  }
  const keys = new Set(
    tables.context.listWorkspaces("project_identity").flatMap(({ payload }) => Object.keys(payload).map(fold)),
  );
  const token = (dispatch.goal ?? "").split(/[^\p{L}\p{N}_-]+/u).find((word) => word !== "" && keys.has(fold(word)));
  return { name: null, path: null, workflow: null, token: token ?? null };
}

function fold(name: string): string {
  return name.replaceAll("_", "-");
}

/** The dispatch project's readable sections that are stored; null when none is, or the read fails. */
function readSections(tables: Tables, dispatch: Dispatch): readonly ContextSection[] | null {
  const sections = (dispatch.can_read ?? []).flatMap((section) => {
    const payload = tables.context.get(dispatch.workspace, section);
    return payload === null ? [] : [{ section, payload }];
  });
  return sections.length === 0 ? null : sections;
}
