/** All checks of the doctor, in the order in which they are made and told. */
import type { Check, Finding } from "./check.ts";
import { config } from "./config.ts";
import { environment } from "./environment.ts";
import { gates } from "./gates.ts";
import { hooks } from "./hooks.ts";
import { nodeListener } from "./node.ts";
import { recording } from "./recording.ts";
import { remotes } from "./remotes.ts";
import { seats } from "./seats.ts";
import { stateFolder } from "./state-folder.ts";
import { dataFolder, store } from "./storage.ts";
import type { World } from "./world.ts";

export const CHECKS: readonly Check[] = [
  environment,
  dataFolder,
  store,
  hooks,
  recording,
  config,
  stateFolder,
  nodeListener,
  gates,
  seats,
  remotes,
];

/** What is looked at where one seat or one remote is asked for. */
const ONLY = { seat: [config, seats], remote: [config, remotes] } as const;

/**
 * Makes every check that was asked for.
 *
 * @param tell gets each finding as soon as it is made
 * Errors: none that a check foresees; a check that breaks is a defect
 */
export async function examine(world: World, tell: (finding: Finding) => void = () => {}): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const { only } = world.asked;
  for (const check of only === null ? CHECKS : ONLY[only.kind]) {
    const found = await check.look(world);
    for await (const finding of found) {
      findings.push(finding);
      tell(finding);
    }
  }
  return findings;
}
