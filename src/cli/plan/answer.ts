/** How the commands of the plan tracker read tasks and answer. */
import { trackPlan } from "../../brief/track.ts";
import { WritError } from "../../core/error.ts";
import { bodyFaultMessage, parseJson } from "../../core/json/parse.ts";
import { isArray, isObject, type JsonValue, valueAt } from "../../core/json/value.ts";
import type { PlanCall } from "../../core/tracker/plan-verbs.ts";
import { isTaskStatus, TASK_STATUSES, type Task } from "../../core/tracker/task.ts";
import { readBodyFile } from "../../host/named-file.ts";
import { readStdinText } from "../../host/stdin.ts";
import type { Output } from "../command.ts";
import { STORE_OPTION, trackerWorld } from "../flow-world.ts";
import { printTracked } from "../phase/answer.ts";

const LARGEST = 8 * 1024 * 1024;
/** More are no plan. */
const MOST_TASKS = 10_000;

export const PLAN_OPTIONS = {
  ...STORE_OPTION,
  json: { type: "boolean", description: "Print one JSON document" },
} as const;

export const TASKS_OPTION = {
  tasks: {
    type: "string",
    valueHint: "FILE",
    description: "A JSON list of names and {name, status} objects; - is standard input",
  },
} as const;

export const PLAN_EXITS = {
  0: "done",
  2: "something is missing",
  3: "the list forbids it, or git cannot read the repository",
  4: "the store is locked",
};

/** Carries out a call on the flow of the session checkout, and prints the answer. */
export function answerPlan(
  call: PlanCall,
  { store, json, out }: { readonly store: string | undefined; readonly json: boolean; readonly out: Output },
): number {
  const tracked = trackPlan(trackerWorld(store, out), call);
  const tasks = tracked.flow.tasks.map((task) => ({ ...task }));
  const text = tracked.answer.ok ? { text: tracked.answer.text } : {};
  return printTracked(tracked, { action: call.action, tasks, ...text }, json, out);
}

/**
 * The tasks of a call: its operands as pending ones, or those of a document.
 *
 * Errors: `usage`, `file_unreadable`, `body_too_large`
 */
export async function readTasks(names: readonly string[], file: string | undefined): Promise<readonly Task[]> {
  if (file === undefined) return names.map((name) => ({ name: taskName(name), status: "pending" }));
  if (names.length > 0) throw new WritError("usage", "Names and --tasks cannot be given together");
  return await readTaskList(file);
}

/** The tasks of a document. Errors: as `readTasks`. */
export async function readTaskList(file: string): Promise<readonly Task[]> {
  const text = file === "-" ? await readStdinText(LARGEST) : await readBodyFile(file, LARGEST);
  const what = file === "-" ? "the tasks" : `"${file}"`;
  const read = parseJson(text);
  if (!read.ok) throw new WritError("usage", bodyFaultMessage(read.fault, what).replace(/ The envelope body.*$/, ""));
  if (!isArray(read.value)) throw new WritError("usage", `Cannot read ${what}: it is no JSON list`);
  if (read.value.length > MOST_TASKS)
    throw new WritError("usage", `Cannot read ${what}: more than ${MOST_TASKS} tasks`);
  return read.value.map((each, index) => readTask(each, `${what}, entry ${index}`));
}

function readTask(value: JsonValue, what: string): Task {
  if (typeof value === "string") return { name: taskName(value), status: "pending" };
  const name = isObject(value) ? valueAt(value, "name") : undefined;
  const status = isObject(value) ? (valueAt(value, "status") ?? "pending") : undefined;
  if (typeof name !== "string" || typeof status !== "string") {
    throw new WritError("usage", `Cannot read ${what}: it is neither a name nor {"name": …, "status": …}`);
  }
  if (!isTaskStatus(status)) {
    throw new WritError("usage", `Cannot read ${what}: status is one of ${TASK_STATUSES.join(", ")}, not "${status}"`);
  }
  return { name: taskName(name), status };
}

/** A name that a status output can be read back by. Errors: `usage`. */
function taskName(name: string): string {
  if (/[\n\r]/.test(name))
    throw new WritError("usage", "task name must be one line", { hint: "Leave the line breaks out" });
  if (name.trim() === "") throw new WritError("usage", "task name must not be empty");
  return name;
}
