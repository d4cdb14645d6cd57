/** All checks of the doctor, in the order in which they are made and told. */
import type { Check, Finding } from "./check.ts";
import { hooks } from "./hooks.ts";
import { recording } from "./recording.ts";
import { dataFolder, store } from "./storage.ts";
import type { World } from "./world.ts";

export const CHECKS: readonly Check[] = [dataFolder, store, hooks, recording];

/** Makes every check. Errors: none that a check foresees; a check that breaks is a defect. */
export async function examine(world: World): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const check of CHECKS) findings.push(...(await check.look(world)));
  return findings;
}
