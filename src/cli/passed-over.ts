/** Whether delegations of this user pass a node over, for whoever looks at it. */
import { quarantinedPlaces } from "../core/placement/quarantine.ts";
import { quoteWords } from "../core/record/words.ts";
import type { PassedOver } from "../doctor/world.ts";
import { openQuarantine } from "../host/quarantine-file.ts";
import { stateFolder } from "../host/state-folder.ts";
import { instant, placesOf } from "./world.ts";

/**
 * Null: it is not passed over. A node that shares its id with another is known by where it is, too.
 *
 * Errors: none; a file that cannot be read passes nobody over
 */
export function passedOver(node_id: string, url: string): PassedOver | null {
  const marks = openQuarantine(stateFolder(placesOf().data)).read();
  const names = [node_id, `${node_id}@${new URL(url).host}`];
  const found = [...quarantinedPlaces(marks, Date.now())].find((name) => names.includes(name));
  const until = found === undefined ? null : (marks[found]?.until ?? null);
  if (found === undefined || until === null) return null;
  return { name: found, until_at: instant(until), ends: `writ node quarantine clear ${quoteWords([found])}` };
}
