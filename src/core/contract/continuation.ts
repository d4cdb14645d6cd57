/** The seed of the contract that follows a closed one. */
import { isObject, type JsonObject, type JsonValue, withKey } from "../json/value.ts";
import { initialEnvelope, withBirthKeys } from "./envelope.ts";

/**
 * The envelope that a continuation starts from: the initial one, the id of the contract it continues, and the birth
 * keys of that one. Nothing of its evidence comes along.
 *
 * @param closedEnvelope as the closed row holds it; anything but an object has no birth keys
 */
export function continuationSeed(agentId: string, closedId: string, closedEnvelope: JsonValue): JsonObject {
  const seed = withKey(initialEnvelope(agentId), "continues_contract_id", closedId);
  return isObject(closedEnvelope) ? withBirthKeys(seed, closedEnvelope) : seed;
}
