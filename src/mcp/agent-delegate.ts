/**
 * `agent_delegate`: `writ delegate` for contracts that are at hand. A call that takes longer than clients wait is answered
 * with a handle, and goes on.
 *
 * Source: delegation run, section 9
 */
import { sha256 } from "../cli/delegate-world.ts";
import { quote } from "../core/acceptance/quoting.ts";
import type { Config } from "../core/config/config.ts";
import { readBaseUrl } from "../core/config/url.ts";
import { readLegs } from "../core/delegation/legs.ts";
import { pointerTo } from "../core/delegation/pointer.ts";
import { ROUTES, type Route } from "../core/delegation/result.ts";
import { nearest } from "../core/near-miss.ts";
import { type Routing, readRouting } from "../core/placement/pin.ts";
import type { DelegateWorld } from "../delegate/world.ts";
import { type ArgumentIssue, badInput, type Parameters, readArguments, schemaOf, type ValuesOf } from "./arguments.ts";
import { tellProgress } from "./call-progress.ts";
import { badContracts, READ_ROOT, readContractsIn, SUBTASKS } from "./contracts.ts";
import { delegationOf } from "./delegation.ts";
import { readRootOf } from "./read-root.ts";
import { answerOfEnded, answerOfLive } from "./run-answer.ts";
import type { Tool, ToolAnswer, ToolCall } from "./tool.ts";

const PARAMETERS = {
  subtasks: SUBTASKS,
  route: { kind: "text", choices: ROUTES, default: "auto" },
  pin_reason: { kind: "text" },
  remotes: { kind: "texts" },
  seat: { kind: "text" },
  read_root: READ_ROOT,
  fingerprint: { kind: "flag" },
  wait_sec: { kind: "number", description: "answer with a handle after this many seconds; default 50" },
  deadline_sec: { kind: "number" },
} as const satisfies Parameters;

export const tool: Tool = {
  name: "agent_delegate",
  description:
    "Hand 1 to 8 subtasks to model seats on this machine or on configured nodes, and have what comes back graded by the acceptance checks of each. A subtask is a delegation contract: a goal, the documents it needs (context_paths below the read root, or context), an output_schema (nodes take no contract without one), and acceptance checks, which the seat never sees. Read summary first: succeeded, failed_verification, deferred (honestly not done, defer_class says why), failed. A diff is returned and never applied. A call that takes longer than wait_sec is answered with a run_id and goes on: delegation_result waits for it. delegation_lint checks the subtasks beforehand.",
  inputSchema: schemaOf(PARAMETERS),
  reads: false,
  reachesOut: true,
  run: delegateCall,
};

async function delegateCall(call: ToolCall): Promise<ToolAnswer> {
  const { config, calls, world } = delegationOf(call);
  const values = readArguments(PARAMETERS, call.arguments);
  const asked = judge(values, config);
  const root = readRootOf(values.read_root, call.server);
  const read = readContractsIn("subtasks", values.subtasks, root);
  const taken = readLegs([{ name: "subtasks", read }], { fingerprint: values.fingerprint === true, sha256 });
  if (!taken.ok) throw badContracts(taken.issues);

  const base = await world();
  const { clock } = base;
  const { legs } = taken;
  const { routing, route, seat, remotes, deadline_sec, wait_sec } = asked;
  const answered = new AbortController();
  const onEvent =
    call.progress === null
      ? undefined
      : tellProgress({ clock, legs: legs.length, inLine: calls.ahead }, call.progress, answered.signal);
  const argv = ["writ", "mcp", "agent_delegate"];
  const width = config.limits.width;
  const live = await calls.begin(
    narrowed(base, config, seat, remotes),
    { legs, route, routing, seat, width, retries: true, argv },
    deadline_sec,
    onEvent,
  );

  // A client that takes the request back, and the end of the server, end the call; behind the handle they do not.
  const cancel = () => live.cancel();
  call.signal.addEventListener("abort", cancel, { once: true });
  if (call.signal.aborted) cancel();
  try {
    const patience = wait_sec === null ? new Promise<never>(() => {}) : clock.sleep(wait_sec * 1000, answered.signal);
    const ended = await Promise.race([live.ended, patience.then(() => null)]);
    if (ended !== null) return answerOfEnded(ended);
    return call.signal.aborted ? answerOfEnded(await live.ended) : answerOfLive(live);
  } finally {
    answered.abort();
    call.signal.removeEventListener("abort", cancel);
  }
}

type Asked = {
  readonly route: Route;
  readonly routing: Routing;
  readonly seat: string;
  /** Base URLs in place of all of the config's; null: all. */
  readonly remotes: readonly string[] | null;
  readonly deadline_sec: number;
  /** Null: the answer is held to the end. */
  readonly wait_sec: number | null;
};

/** What the arguments mean besides the contracts. Errors: `bad_input` with every issue of them */
function judge(values: ValuesOf<typeof PARAMETERS>, config: Config): Asked {
  const issues: ArgumentIssue[] = [];
  const tell = (path: string, message: string, hint: string | null) =>
    void issues.push({ code: "bad_argument", path, message, hint });
  const route = (values.route ?? "auto") as Route;
  const routing = readRouting(route, values.pin_reason ?? null);
  if (!routing.ok) tell("/pin_reason", routing.message, routing.hint);
  const seat = seatOf(values.seat, route, config, tell);
  const remotes = values.remotes === undefined ? null : remotesOf(values.remotes, config, tell);
  const { call_deadline_sec, mcp_wait_sec } = config.limits;
  const deadline_sec =
    secondsOf("deadline_sec", values.deadline_sec, [1, call_deadline_sec], tell) ?? call_deadline_sec;
  const asked_sec = secondsOf("wait_sec", values.wait_sec, [0, call_deadline_sec], tell);
  if (issues.length > 0 || !routing.ok) throw badInput(issues);
  const wait_sec = asked_sec ?? (mcp_wait_sec === 0 ? null : mcp_wait_sec);
  return { route, routing: routing.routing, seat, remotes, deadline_sec, wait_sec };
}

type Tell = (path: string, message: string, hint: string | null) => void;

function secondsOf(
  name: string,
  given: number | undefined,
  [least, most]: readonly [number, number],
  tell: Tell,
): number | null {
  if (given === undefined) return null;
  if (given >= least && given <= most) return given;
  tell(`/${name}`, `${quote(name)} is a whole number of seconds from ${least} to ${most}, not ${given}`, null);
  return null;
}

function seatOf(named: string | undefined, route: Route, { seats }: Config, tell: Tell): string {
  const names = seats.map(({ name }) => name);
  if (named === undefined || named === "" || route !== "local" || names.includes(named)) return named ?? "";
  const near = nearest(named, names);
  const hint = near === null ? `There is ${names.join(", ") || "none"}` : `Did you mean ${quote(near)}?`;
  tell("/seat", `No seat here is called ${quote(named)}`, hint);
  return named;
}

/** A call chooses among the nodes of the config: it does not say to whom documents are sent. */
function remotesOf(given: readonly string[], { remotes }: Config, tell: Tell): readonly string[] {
  const urls = new Set(remotes.map(({ url }) => url));
  return given.flatMap((text, index) => {
    const read = readBaseUrl(text);
    if (read.ok && urls.has(read.url)) return [read.url];
    // What was given may hold a password, and is not said again.
    const hint = urls.size === 0 ? "No node is configured" : `The nodes of the config are ${[...urls].join(", ")}`;
    tell(pointerTo("/remotes", index), "A call may only name nodes that are in the config", hint);
    return [];
  });
}

/** The world of one call: its seat, and the nodes that it chose, in its order. */
function narrowed(
  world: DelegateWorld,
  { seats }: Config,
  seat: string,
  chosen: readonly string[] | null,
): DelegateWorld {
  const isHere = seat === "" || seats.some(({ name }) => name === seat);
  const remotes =
    chosen === null
      ? world.remotes
      : [...new Set(chosen)].flatMap((url) => world.remotes.filter((remote) => remote.url === url));
  return { ...world, local: isHere ? world.local : null, remotes };
}
