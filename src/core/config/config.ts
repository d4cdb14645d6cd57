/**
 * The shape of the config, once: the reader walks these schemas (`decode.ts`), the types come from them, and
 * `contracts/schemas/config.schema.json` is written from them (`scripts/schemas.ts`).
 *
 * What a schema cannot say (what two keys say of each other, addresses, tokens) stands in `rules.ts`.
 *
 * Source: delegation run, sections 0, 2.2 to 2.5
 */
import * as v from "valibot";
import { TOOL_SPECS, type ToolName } from "../seat/tool-specs.ts";
import { integerIn, pathOf, switchOf, variableName } from "./field.ts";
import { type Seat, SeatFields } from "./seat.ts";

/** A day, in seconds: the longest of the waits. */
const DAY = 86_400;
/** "Negative is without limit" needs a least number all the same. */
const MILLION = 1_000_000;

/** The variable that holds the bearer of this node and of this delegator, where no other is named. */
export const NODE_TOKEN = "WRIT_NODE_TOKEN";

export const RemoteFields = v.strictObject({
  url: v.pipe(v.string(), v.maxLength(2048), v.description("Base URL of the node")),
  token_env: variableName(NODE_TOKEN, "NAME of the variable that holds the bearer for this node; empty sends none"),
  ca_file: pathOf("Absolute path of the certificates that this node's is held against; empty: the system's"),
});

/** A remote place as it is used: `url` without a trailing `/`. */
export type Remote = Readonly<v.InferOutput<typeof RemoteFields>>;

export const NodeFields = v.strictObject({
  id: v.pipe(
    v.optional(v.string(), ""),
    v.description("What the node calls itself, formed as a seat's name and not local; empty: the host's name"),
  ),
  listen: v.pipe(v.optional(v.string(), "127.0.0.1:18811"), v.description("HOST:PORT; [HOST]:PORT for IPv6")),
  token_env: variableName(NODE_TOKEN, "NAME of the variable that holds the bearer that callers bring"),
  tls_cert: pathOf("Absolute path of the certificate; TLS where both are set"),
  tls_key: pathOf("Absolute path of its key"),
  max_running: integerIn(0, [-MILLION, MILLION], "Jobs at once; 0: the slots of all seats; negative: no limit"),
  max_queue: integerIn(
    0,
    [-MILLION, MILLION],
    "Jobs accepted and running; 0: twice max_running, 8 at least; negative: no limit",
  ),
  retain_hours: integerIn(24, [1, 8760], "How long a job is kept after its end, in hours"),
  poll_lease_sec: integerIn(
    120,
    [0, DAY],
    "An accepted job that nobody asks for is given up after it, in seconds; 0: off",
  ),
  drain_sec: integerIn(30, [0, 3600], "How long running jobs are waited for at the end, in seconds"),
  restart_reruns: integerIn(1, [0, 100], "How often a job is run anew that a crash interrupted"),
});

/** Legs in flight per call. */
export const WIDTH_RANGE = [1, 8] as const;

export const LimitFields = v.strictObject({
  width: integerIn(WIDTH_RANGE[1], WIDTH_RANGE, "Legs in flight per call"),
  contention_wait_sec: integerIn(90, [-1, DAY], "Wait for a seat that others keep busy, in seconds; -1: off"),
  admission_wait_sec: integerIn(300, [-1, DAY], "Wait for a model to be loaded, in seconds; -1: off"),
  slot_wait_sec: integerIn(1800, [1, DAY], "Wait in the line for a slot of a seat, in seconds"),
  capacity_wait_sec: integerIn(120, [-1, DAY], "Wait until any place has room, in seconds; -1: off"),
  orphan_grace_sec: integerIn(60, [1, DAY], "How long the node of an owned job may be silent, in seconds"),
  orphan_policy: v.pipe(
    v.optional(v.picklist(["replace", "wait"]), "replace"),
    v.description("A job whose node is silent for longer: offered elsewhere, or waited for"),
  ),
  call_deadline_sec: integerIn(1500, [1, DAY], "The whole call over MCP, in seconds"),
  mcp_wait_sec: integerIn(50, [0, DAY], "After it a call over MCP is answered with a handle, in seconds; 0: never"),
  same_tool: integerIn(8, [1, 1000], "Calls of one tool in a run; of read_file twice the documents, if that is more"),
  same_write_tool: integerIn(16, [1, 1000], "Calls of one tool that writes, in a run"),
});

export const QuarantineFields = v.strictObject({
  strikes: integerIn(2, [1, 1000], "Answers about the wrong documents that put a place into quarantine"),
  window_sec: integerIn(1800, [1, 30 * DAY], "They count within this time, in seconds"),
  duration_sec: integerIn(1800, [1, 30 * DAY], "How long the place is passed over, in seconds"),
});

const TOOLS = TOOL_SPECS.map(({ name }) => name);
const calls = v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MILLION)));
const CALLS_PER_TOOL = Object.fromEntries(TOOLS.map((name) => [name, calls])) as Record<ToolName, typeof calls>;

export const EnvRuleFields = v.strictObject({
  deny_tools: v.pipe(
    v.optional(v.pipe(v.array(v.picklist(TOOLS)), v.maxLength(64)), []),
    v.description("Tools that no seat is offered"),
  ),
  max_calls_per_tool: v.pipe(
    v.optional(v.strictObject(CALLS_PER_TOOL), {}),
    v.description("By tool, how often it may be called in a run"),
  ),
  max_observation_tokens: integerIn(0, [0, MILLION], "What one tool's result may take of the window; 0: no own limit"),
});

export const RunFields = v.strictObject({
  keep_days: integerIn(30, [0, 36_500], "How long records of past calls are kept, in days"),
  keep_contracts: switchOf(true, "Records hold the contracts as well"),
});

export const ConfigFile = v.pipe(
  v.strictObject({
    $schema: v.exactOptional(v.pipe(v.string(), v.description("For editors; ignored"))),
    delegation_enabled: switchOf(true, "false: writ delegate refuses every call"),
    remotes: v.pipe(
      v.optional(v.pipe(v.array(v.union([v.string(), RemoteFields])), v.maxLength(256)), []),
      v.description("Nodes that work may go to: a URL, or an object"),
    ),
    seats: v.pipe(
      v.optional(v.pipe(v.array(SeatFields), v.maxLength(64)), []),
      v.description("Model seats of this machine, in the order of preference among equals"),
    ),
    default_seat: v.pipe(
      v.optional(v.string(), ""),
      v.description("The seat that is taken first where it is eligible and free; empty: by rank"),
    ),
    agent_allow_write: switchOf(false, "The write door: contracts with a write_root may run here"),
    node: v.pipe(v.optional(NodeFields, {}), v.description("This machine as a node")),
    limits: v.pipe(v.optional(LimitFields, {}), v.description("Waits and caps of a call")),
    quarantine: v.pipe(v.optional(QuarantineFields, {}), v.description("When a remote place is passed over")),
    env_rules: v.pipe(
      v.optional(EnvRuleFields, {}),
      v.description("What tools may do here; they only narrow what a contract asks for"),
    ),
    runs: v.pipe(v.optional(RunFields, {}), v.description("Records of past calls")),
  }),
  v.title("writ config"),
  v.description("Where model seats and nodes are, and the limits of delegation on this machine"),
);

type Written = v.InferOutput<typeof ConfigFile>;

/** A value some of whose parts are wrong: those are `undefined`. */
type Loose<T> = T extends readonly (infer Item)[]
  ? readonly (Loose<Item> | undefined)[]
  : T extends object
    ? { readonly [Key in keyof T]?: Loose<T[Key]> | undefined }
    : T;

/** A config as it was read: what is wrong in it is `undefined`. */
export type LooseConfig = Loose<Written>;
export type LooseSeat = Loose<Written["seats"][number]>;

/** The config in effect: every key is there. */
export type Config = {
  readonly delegation_enabled: boolean;
  readonly remotes: readonly Remote[];
  readonly seats: readonly Seat[];
  /** "" or the name of one of `seats`. */
  readonly default_seat: string;
  readonly agent_allow_write: boolean;
  readonly node: Readonly<Written["node"]>;
  readonly limits: Readonly<Written["limits"]>;
  readonly quarantine: Readonly<Written["quarantine"]>;
  readonly env_rules: EnvRules;
  readonly runs: Readonly<Written["runs"]>;
};

export type EnvRules = {
  readonly deny_tools: readonly ToolName[];
  readonly max_calls_per_tool: Readonly<Partial<Record<ToolName, number>>>;
  /** 0: no limit of its own. */
  readonly max_observation_tokens: number;
};
