/** The check of the folder that delegation keeps its state in: a file is written, flushed, renamed and removed there. */
import { type Check, findingsOf } from "./check.ts";

export const stateFolder: Check = {
  name: "state folder",
  look(world) {
    const { pass, fail } = findingsOf("state folder");
    const { folder, fault } = world.stateFault();
    return fault === null
      ? [pass(folder, "A file was written, flushed, renamed and removed there")]
      : [fail(folder, fault, "Make it writable, or name another data folder with WRIT_DATA_DIR")];
  },
};
