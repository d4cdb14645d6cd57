/**
 * What must hold of a call, whatever its seat answered: read off standard output, the exit status, the state folder and
 * the requests that were sent. It shares no rule with the code that it judges.
 *
 * Source: delegation run, sections 1.2, 1.3, 3, 5.1, 5.4 (history), 8.3
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { checkJson } from "../../../src/core/json/parse.ts";
import { checksOf, type HostileCall, hasSchema } from "./call.ts";

export type Ended = {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
  /** `<data>/run` */
  readonly state: string;
  /** Bodies of the chat requests. */
  readonly bodies: readonly string[];
};

type Value = { readonly [key: string]: unknown };

const TOP = ["ok", "schema_version", "run_id", "summary", "results", "writ_version", "started_at", "wall_ms"];
const BUCKETS = ["succeeded", "deferred", "failed_verification", "failed"];
const SUMMARY = [
  ...BUCKETS,
  "infrastructure",
  "fleet_unreachable",
  "retried",
  "retry_recovered",
  "replaced",
  "replacement_recovered",
  "waited",
  "orphaned",
  "quarantined",
  "canceled",
  "telemetry_lost",
  "telemetry_attempted",
];
/** The members of a leg in their order, and what each may be. */
const LEG: Readonly<Record<string, (value: unknown) => boolean>> = {
  index: isCount,
  status: (value) => BUCKETS.includes(value as string),
  node: isText,
  seat: isText,
  scripted: isTrue,
  placement: isText,
  route: (value) => ["auto", "local", "remote", "spread"].includes(value as string),
  route_asked: isText,
  pin_reason: isText,
  job_id: (value) => value === "" || /^wrt-[0-9a-f]{24}$/.test(String(value)),
  output: isFilled,
  structured: isObject,
  deferred: (value) => typeof value === "boolean",
  reason: isLine,
  defer_class: (value) => CLASSES.includes(value as string),
  failed: isTrue,
  acceptance_failures: isTexts,
  acceptance: isList,
  acceptance_authority: (value) => ["answer", "field", "grounded"].includes(value as string),
  acceptance_note: isFilled,
  acceptance_lint: isTexts,
  diff: isFilled,
  diff_files: isTexts,
  write_note: isFilled,
  steps: isCount,
  max_steps: isCount,
  stop_reason: (value) => STOPS.includes(value as string),
  stop_note: isLine,
  forced_final: isTrue,
  output_truncated: isTrue,
  repack: isObject,
  tokens: isObject,
  wall_ms: isCount,
  node_wall_ms: isCount,
  capacity_wait_sec: isNumber,
  retry_after_sec: isCount,
  queue_wait_sec: isNumber,
  admission_wait_sec: isNumber,
  admission_note: isLine,
  contention_wait_sec: isNumber,
  seat_down_wait_sec: isNumber,
  timings: isObject,
  trace: isList,
  attempts: isList,
  retried_on: isFilled,
  retry_note: isFilled,
  replacements: isCount,
  replacement_note: isFilled,
  contract_sha256: (value) => /^[0-9a-f]{64}$/.test(String(value)),
  seat_pin: isObject,
};
const OPTIONAL = new Set(
  Object.keys(LEG).filter(
    (key) =>
      ![
        "index",
        "status",
        "node",
        "seat",
        "placement",
        "route",
        "job_id",
        "deferred",
        "max_steps",
        "wall_ms",
        "attempts",
        "contract_sha256",
      ].includes(key),
  ),
);
const ATTEMPT = [
  "n",
  "kind",
  "node",
  "seat",
  "job_id",
  "status",
  "http",
  "code",
  "reason",
  "defer_class",
  "wall_ms",
  "steps",
  "tokens",
];
const CLASSES = ["abstention", "budget", "infrastructure", "config", "contract", "capacity", "write", "canceled"];
const STOPS = [
  "done",
  "finish",
  "forced_final",
  "budget",
  "wall",
  "empty",
  "reasoning_starved",
  "tool_call_cut",
  "unparsed_tool_call",
  "repetition",
  "context",
  "error",
  "canceled",
];
/** What reasons begin with, of those that a seat of this machine can cause. */
const PREFIXES = [
  "wall timeout after ",
  "step budget exhausted (",
  "empty final answer",
  "output failed schema",
  "structured step unreachable",
  "agent loop",
  "seat contended",
  "seat busy",
  "seat loading",
  "seat down",
  "seat incoherent",
  "stalled",
  "write door closed",
  "write cap exceeded",
  "no eligible place",
  "context window exhausted",
  "seat window smaller than configured",
  "answer too large",
  "model not served",
  "tools not supported",
];

/** A structured result is published as the place wrote it, with its numbers and its halves of pairs. */
const AS_PUBLISHED = { numbers: "as_written", surrogates: "keep" } as const;

/** Everything that does not hold; none where all is well. */
export function faultsOf(call: HostileCall, ended: Ended): readonly string[] {
  return [
    ...documentFaults(call, ended),
    ...talkFaults(ended),
    ...stateFaults(ended),
    ...ended.bodies.flatMap(requestFaults),
  ];
}

function documentFaults(call: HostileCall, { stdout, exit }: Ended): readonly string[] {
  if (!stdout.startsWith("{") || !stdout.endsWith("}\n")) return [`standard output is no document: ${head(stdout)}`];
  const fault = checkJson(stdout, AS_PUBLISHED);
  if (fault !== null) return [`the document is not strict JSON: ${fault.message}: ${around(stdout, fault.at)}`];
  const document = JSON.parse(stdout) as Value;
  const summary = document.summary as Value;
  const legs = document.results as readonly Value[];
  if (!isList(legs) || !isObject(summary)) return ["the document has no results, or no summary"];
  const faults: string[] = [];
  const say = (holds: boolean, fault: string) => {
    if (!holds) faults.push(fault);
  };
  say(same(Object.keys(document), TOP), `the document has the members ${Object.keys(document)}`);
  say(isInOrder(Object.keys(summary), SUMMARY), `the summary has the members ${Object.keys(summary)}`);
  say(Object.values(summary).every(isCount), "a count of the summary is none");
  say(/^run-[0-9a-f]{24}$/.test(String(document.run_id)), "run_id");
  say(
    !Number.isNaN(Date.parse(String(document.started_at))) && String(document.started_at).endsWith("Z"),
    "started_at",
  );
  say(isCount(document.wall_ms), "wall_ms of the call");
  const count = (holds: (leg: Value) => boolean) => legs.filter(holds).length;
  for (const bucket of BUCKETS)
    say(summary[bucket] === count(({ status }) => status === bucket), `the bucket ${bucket}`);
  const blamed = count(
    ({ status, defer_class }) =>
      status === "deferred" && (defer_class === "infrastructure" || defer_class === "config"),
  );
  say(summary.infrastructure === blamed, "infrastructure");
  say((summary.telemetry_lost ?? 0) === 0, "a run record was lost");
  say(legs.length === call.legs.length, `${legs.length} results of ${call.legs.length} legs`);
  const wanted =
    Number(summary.failed) > 0 ? 1 : blamed > 0 ? 4 : call.strict && Number(summary.succeeded) < legs.length ? 1 : 0;
  say(exit === wanted, `the status is ${exit} where ${wanted} is due`);
  say(document.ok === (exit === 0), "ok");
  for (const [index, leg] of legs.entries()) {
    for (const each of legFaults(call, leg, index)) faults.push(`leg ${index}: ${each}`);
  }
  return faults;
}

function legFaults(call: HostileCall, leg: Value, index: number): readonly string[] {
  const faults: string[] = [];
  const say = (holds: boolean, fault: string) => {
    if (!holds) faults.push(fault);
  };
  const keys = Object.keys(leg);
  say(isInOrder(keys, Object.keys(LEG)), `has the members ${keys}`);
  for (const key of Object.keys(LEG)) {
    if (!(key in leg)) say(OPTIONAL.has(key), `${key} is missing`);
    else say(LEG[key]?.(leg[key]) ?? false, `${key} is ${head(JSON.stringify(leg[key]) ?? "")}`);
  }
  const { structured, ...rest } = leg;
  const broken = textsIn(rest).find((text) => !text.isWellFormed());
  say(broken === undefined, `half a pair stands in ${head(broken ?? "")}`);
  const { status, reason, defer_class, deferred, acceptance, output } = leg;
  say(leg.index === index, "its index");
  say(deferred === (status === "deferred"), "deferred mirrors no status");
  say((defer_class !== undefined) === (status === "deferred"), "its class");
  say((leg.failed === true) === (status === "failed"), "failed mirrors no status");
  say((reason === undefined) === (status === "succeeded"), "its reason");
  // No seat can make the delegator lose sight of its own work.
  say(status !== "failed", `it failed: ${head(String(reason))}`);
  if (status === "deferred")
    say(
      PREFIXES.some((prefix) => String(reason).startsWith(prefix)),
      `its reason begins with none of the prefixes: ${head(String(reason))}`,
    );
  const checks = checksOf(call, index);
  if (status === "succeeded" || status === "failed_verification") {
    const outcomes = (acceptance ?? []) as readonly Value[];
    say(
      same(
        outcomes.map(({ check }) => String(check)),
        checks,
      ),
      "its checks are not those of the contract",
    );
    const passed = outcomes.filter(({ outcome }) => outcome === "pass").length;
    say((status === "succeeded") === (passed === checks.length), `${passed} of ${checks.length} checks pass`);
    for (const { check, outcome } of outcomes) {
      const [verb, text = ""] = String(check).split(":");
      const isThere = `${output ?? ""}${JSON.stringify(structured ?? "")}`.includes(text);
      if (verb === "contains" && outcome === "pass") say(isThere, `${check} passes, and the text is nowhere`);
    }
    say(hasSchema(call, index) ? structured !== undefined : output !== undefined, "it has no answer");
  } else say(acceptance === undefined, "checks were evaluated of what was not completed");
  if (structured !== undefined) {
    const { summary, count, items } = structured as Value;
    say(hasSchema(call, index) && isText(summary), "its structured result does not fit the schema");
    say(count === undefined || count === null || Number.isInteger(count), "structured.count");
    say(items === undefined || isTexts(items), "structured.items");
  }
  const pinned = textsIn(leg.seat_pin ?? {});
  say(
    pinned.every((text) => text.length <= 200),
    "seat_pin holds as much as the server liked",
  );
  const files = (leg.diff_files ?? []) as readonly string[];
  say((leg.diff !== undefined) === files.length > 0, "a diff without files, or files without a diff");
  say(
    files.every((file) => file.startsWith("src/") && !file.includes("..")),
    `it writes ${files}`,
  );
  for (const counted of Object.values((leg.tokens ?? {}) as Value))
    say(typeof counted === "boolean" || isCount(counted), `tokens: ${counted}`);
  for (const timed of Object.values((leg.timings ?? {}) as Value)) say(isNumber(timed), `timings: ${timed}`);
  for (const entry of (leg.trace ?? []) as readonly Value[]) {
    const { note = "", tool } = entry;
    say(
      Buffer.byteLength(String(note)) <= 160 && isText(tool) && isCount(entry.step) && isCount(entry.obs_chars),
      `the trace has ${head(JSON.stringify(entry))}`,
    );
  }
  const attempts = leg.attempts as readonly Value[];
  for (const [at, attempt] of attempts.entries()) {
    say(
      attempt.n === at + 1 &&
        isInOrder(Object.keys(attempt), ATTEMPT) &&
        isCount(attempt.tokens) &&
        isCount(attempt.steps),
      `its attempt ${head(JSON.stringify(attempt))}`,
    );
  }
  return faults;
}

/** Nothing of a stack, of a runtime that broke, or of more than one kind of line. */
function talkFaults({ stderr }: Ended): readonly string[] {
  return stderr
    .split("\n")
    .flatMap((line) => (line === "" || line.startsWith("writ: ") ? [] : [`standard error says ${head(line)}`]));
}

function stateFaults({ state }: Ended): readonly string[] {
  const faults: string[] = [];
  for (const name of namesIn(join(state, "work"))) faults.push(`the job folder ${name} is still there`);
  for (const seat of namesIn(join(state, "slots"))) {
    for (const name of namesIn(join(state, "slots", seat)))
      if (/^(?:\d|q-|dead-)/.test(name)) faults.push(`the slot file ${name} is still there`);
  }
  for (const name of namesIn(join(state, "runs"))) {
    if (!/^run-[0-9a-f]{24}\.json$/.test(name)) faults.push(`${name} is left among the records`);
    else if (checkJson(readFileSync(join(state, "runs", name), "utf8"), AS_PUBLISHED) !== null)
      faults.push(`the record ${name} is not strict JSON`);
  }
  const rates = join(state, "rates.json");
  if (existsSync(rates) && checkJson(readFileSync(rates, "utf8")) !== null)
    faults.push("rates.json is not strict JSON");
  for (const name of namesIn(state))
    if (name.includes(".broken") || name.includes(".tmp")) faults.push(`${name} is left in the state folder`);
  return faults;
}

/** A request is strict JSON, and its history is one that every server takes back. */
function requestFaults(body: string): readonly string[] {
  const fault = checkJson(body);
  if (fault !== null) return [`a request is not strict JSON: ${fault.message}: ${around(body, fault.at)}`];
  const { messages, tools, grammar, response_format } = JSON.parse(body) as Value;
  const faults: string[] = [];
  if (tools !== undefined && (grammar !== undefined || response_format !== undefined))
    faults.push("a request asks for a form beside tools");
  const open: unknown[] = [];
  for (const message of messages as readonly Value[]) {
    if (message.role === "tool") {
      if (open.shift() !== message.tool_call_id) faults.push("a result in a history belongs to no call");
      continue;
    }
    if (open.length > 0) faults.push("a call in a history has no result");
    for (const call of (message.tool_calls ?? []) as readonly Value[]) {
      const { name, arguments: given } = call.function as Value;
      if (!/^[A-Za-z0-9_-]{1,64}$/.test(String(name))) faults.push(`a history has a call of ${head(String(name))}`);
      if (checkJson(String(given)) !== null || !String(given).trimStart().startsWith("{"))
        faults.push(`a history has the arguments ${head(String(given))}`);
      open.push(call.id);
    }
  }
  return faults;
}

/** Every text in a value, keys included. */
function textsIn(value: unknown): readonly string[] {
  if (isText(value)) return [value];
  if (typeof value !== "object" || value === null) return [];
  return [...Object.keys(value), ...Object.values(value).flatMap(textsIn)];
}

function namesIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

/** True where the names come in their order and none is unknown. */
function isInOrder(names: readonly string[], order: readonly string[]): boolean {
  const places = names.map((name) => order.indexOf(name));
  return places.every((place, at) => place >= 0 && place > (places[at - 1] ?? -1));
}

function same(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((each, at) => each === right[at]);
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isNumber(value: unknown): boolean {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isFilled(value: unknown): boolean {
  return isText(value) && value !== "";
}

function isLine(value: unknown): boolean {
  return isFilled(value) && !/[\r\n]/.test(value as string);
}

function isTrue(value: unknown): boolean {
  return value === true;
}

function isList(value: unknown): boolean {
  return Array.isArray(value);
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every(isText);
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function around(text: string, at: number): string {
  return text.slice(Math.max(0, at - 200), at + 20);
}

function head(text: string): string {
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
