/**
 * The checks of the remotes: whether each node answers, speaks our protocol, takes our token, and takes writes.
 *
 * Source: delegation run, sections 2.6, 7.2, 7.3
 */
import type { Remote } from "../core/config/config.ts";
import { silenceHint } from "../core/node/silence-hint.ts";
import { PROTOCOL, SCHEMA_VERSION } from "../core/placement/eligibility.ts";
import { readHealth } from "../core/placement/health.ts";
import type { PlaceRecord } from "../core/placement/place.ts";
import { type Check, type Finding, findingsOf } from "./check.ts";
import type { World } from "./world.ts";

/** The form of a job's id, and nobody's. */
const IMPOSSIBLE_JOB = `wrt-${"0".repeat(24)}`;

const ASK_MS = 5_000;

export const remotes: Check = {
  name: "remote",
  async *look(world) {
    const look = await world.config();
    const { skip } = findingsOf("remote");
    if (look.kind === "invalid") return yield skip("remotes", "The config is not valid");
    const { seats } = look.config;
    const alone = seats.length === 0 ? "There is none" : "There is none: legs can only run here";
    if (look.config.remotes.length === 0) return yield skip("remotes", alone);
    for (const remote of look.config.remotes) yield* remoteFindings(world, remote);
  },
};

async function* remoteFindings(world: World, remote: Remote): AsyncGenerator<Finding> {
  const { pass, warn, fail } = findingsOf(`remote ${remote.url}`);
  const hasToken = remote.token_env !== "" && world.isSet(remote.token_env);
  const node = world.openNode(remote);
  const health = await node.health(world.deadline(ASK_MS));
  const hint = silenceHint(remote.url, health);
  if (health.kind !== "answer") return yield fail("health", health.why, hint);
  if (health.status !== 200)
    return yield fail("health", `It answers with HTTP ${health.status}, as no node does`, hint);
  const read = readHealth(health.text);
  if (read.kind === "unreadable") return yield fail("health", `What it answers is no health record: ${read.why}`, hint);
  if (read.kind === "reduced") {
    return yield hasToken
      ? fail(
          "token",
          `It does not take the token in ${remote.token_env}`,
          "Set the token that the node was started with",
        )
      : fail(
          "token",
          `It wants a token, and ${remote.token_env || "token_env"} is not set`,
          "Name its variable in token_env",
        );
  }
  const { record } = read;
  yield record.draining
    ? warn("health", `Node ${record.node_id} is draining: it takes nothing new`)
    : pass("health", `Node ${record.node_id}: ${seatsOf(record)}; ${record.running} running, ${record.queued} queued`);
  if (record.protocol !== PROTOCOL || !record.schema_versions.includes(SCHEMA_VERSION)) {
    const spoken = `protocol ${record.protocol}, contracts of version ${record.schema_versions.join(", ") || "none"}`;
    return yield fail(
      "protocol",
      `It speaks ${spoken}; this writ ${PROTOCOL} and ${SCHEMA_VERSION}`,
      "Bring both to one release",
    );
  }
  yield pass("protocol", `It speaks protocol ${PROTOCOL}`);
  const passed = world.passedOver(record.node_id, remote.url);
  if (passed !== null) {
    const why = `It answered about other documents: delegations from here pass it over until ${passed.until_at}`;
    yield warn("quarantine", why, `When that is mended: ${passed.ends}`);
  }

  const job = await node.poll(IMPOSSIBLE_JOB, null, 0, world.deadline(ASK_MS));
  if (job.kind !== "answer") yield fail("token", job.why);
  else if (job.status === 404) {
    yield pass("token", hasToken ? `It takes the token in ${remote.token_env}` : "It asks for no token");
  } else if (job.status === 401 || job.status === 403) {
    yield fail(
      "token",
      `It does not take the token in ${remote.token_env}`,
      "Set the token that the node was started with",
    );
  } else yield warn("token", `A job that nobody has is answered with HTTP ${job.status} in place of 404`);

  yield pass(
    "write door",
    record.accepts_write ? "It is open" : "It is closed: contracts with a write_root go elsewhere",
  );
}

function seatsOf({ seats }: PlaceRecord): string {
  if (seats.length === 0) return "no seat";
  return seats
    .map(({ name, served }) =>
      served === true ? name : `${name} (${served === null ? "not looked at yet" : "not served"})`,
    )
    .join(", ");
}
