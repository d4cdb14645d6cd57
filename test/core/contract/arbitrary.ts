/** Generators of JSON and of envelopes: from anything at all to nearly valid. */
import fc from "fast-check";
import {
  AGENT_KEYS,
  CAPITAL_LISTS,
  EVIDENCE_KEYS,
  EVIDENCE_LISTS,
  initialEnvelope,
  STATES,
  STATUS_KEYS,
  SYSTEM_KEYS,
} from "../../../src/core/contract/envelope.ts";
import {
  assignKey,
  isObject,
  type JsonObject,
  type JsonValue,
  valueAt,
  withKey,
} from "../../../src/core/json/value.ts";

export const AGENT_ID = "a0123456789abcdef";

const text = fc.oneof(fc.string({ maxLength: 8, unit: "grapheme" }), fc.constantFrom("", " ", "done", "pass", "PASS "));

const scalar: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.integer({ min: -9, max: 9 }),
  fc
    .double({ noNaN: true, noDefaultInfinity: true })
    // -0 is read as 0, and what prints as a long integer is refused.
    .map((value) => (Number.isInteger(value) && !Number.isSafeInteger(value) ? 0.5 : value + 0)),
  text,
);

/** Keys that trip: prototypes, dots, emptiness, numbers, neighbours of declared ones. */
const oddKey = fc.constantFrom("__proto__", "constructor", "prototype", "", ".", "a.b", "0", "10", "files_checkd", "a");

function objectOf(
  keys: fc.Arbitrary<string>,
  values: fc.Arbitrary<JsonValue>,
  maxLength: number,
): fc.Arbitrary<JsonObject> {
  return fc.array(fc.tuple(keys, values), { maxLength }).map((members) => {
    const object: Record<string, JsonValue> = {};
    for (const [key, value] of members) assignKey(object, key, value);
    return object;
  });
}

/** Any JSON value. */
export const anyJson: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    scalar,
    fc.array(tie("value"), { maxLength: 4 }),
    objectOf(fc.oneof(oddKey, text), tie("value"), 4),
  ),
})).value;

const reference = fc.oneof(
  fc.record({ path: text, commit: fc.constantFrom("ABCDEF1", " a1b2c3d ", "HEAD", "") }),
  objectOf(fc.constantFrom("path", "commit", "line", "__proto__"), scalar, 3),
  text,
);

const verification: fc.Arbitrary<JsonValue> = objectOf(
  fc.constantFrom("type", "command", "requires_human", "reviewed", "result", "method"),
  fc.oneof(scalar, fc.constantFrom("command", "Self-Review", "none", "--", " PASS", "semantic", "other")),
  5,
);

const declared = fc.constantFrom<readonly string[]>(
  ...[...AGENT_KEYS, ...SYSTEM_KEYS].map((key) => [key]),
  ...STATUS_KEYS.map((key) => ["agent_status", key]),
  ...[...EVIDENCE_KEYS, ...CAPITAL_LISTS].map((key) => ["evidence_report", key]),
);

const fitting: fc.Arbitrary<readonly [readonly string[], JsonValue]> = fc.oneof(
  fc
    .constantFrom<JsonValue>(...STATES, "complete.", "nope")
    .map((state) => [["agent_status", "agent_state"], state] as const),
  fc.constantFrom<JsonValue>("done", "Done ", "x").map((next) => [["agent_status", "next_action"], next] as const),
  fc.array(reference, { maxLength: 4 }).map((files) => [["evidence_report", "files_checked"], files] as const),
  fc.array(reference, { maxLength: 2 }).map((files) => [["evidence_report", "FILES_CHECKED"], files] as const),
  verification.map((value) => [["evidence_report", "verification"], value] as const),
  fc
    .tuple(fc.constantFrom(...EVIDENCE_LISTS), fc.array(text, { maxLength: 3 }))
    .map(([name, list]) => [["evidence_report", name], list] as const),
  fc
    .record({
      attempted: text,
      symptom: text,
      evidence: fc.array(text),
      severity: fc.constantFrom("Info ", "error", "bad"),
    })
    .map((report) => [["failure_report"], report] as const),
);

const wild: fc.Arbitrary<readonly [readonly string[], JsonValue]> = fc.tuple(
  fc.oneof(
    declared,
    oddKey.map((key) => [key]),
    oddKey.map((key) => ["agent_status", key]),
    oddKey.map((key) => ["evidence_report", key]),
    fc.constantFrom("key_outputs", "agent_id", "conclusion").map((key) => ["agent_status", key]),
  ),
  anyJson,
);

function put(object: JsonObject, [key = "", ...rest]: readonly string[], value: JsonValue): JsonObject {
  if (rest.length === 0) return withKey(object, key, value);
  const inner = valueAt(object, key);
  return withKey(object, key, put(isObject(inner) ? inner : {}, rest, value));
}

function envelopeWith(
  edits: fc.Arbitrary<readonly (readonly [readonly string[], JsonValue])[]>,
): fc.Arbitrary<JsonObject> {
  return edits.map((list) =>
    list.reduce((envelope, [path, value]) => put(envelope, path, value), initialEnvelope(AGENT_ID)),
  );
}

/** The initial envelope with values that often fit; mostly valid or nearly so. */
export const likelyEnvelope = envelopeWith(fc.array(fitting, { maxLength: 5 }));

/** The initial envelope with anything written anywhere. */
export const anyEnvelope = envelopeWith(fc.array(fc.oneof(fitting, wild), { maxLength: 6 }));

/** A patch over fields of the vocabulary. */
export const anyPatch: fc.Arbitrary<JsonObject> = fc
  .array(fc.oneof(fitting, wild), { maxLength: 4 })
  .map((edits) => edits.reduce<JsonObject>((patch, [path, value]) => put(patch, path, value), {}));
