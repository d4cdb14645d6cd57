/** The check of the environment: variables that load something into writ, or open a debugger in it. */
import { type Check, findingsOf } from "./check.ts";

/** What Bun or the system does with a variable before or below writ, which writ cannot keep it from doing. */
const RISKS: readonly { readonly name: string; readonly does: string }[] = [
  { name: "BUN_INSPECT_PRELOAD", does: "The file that it names runs in writ before writ does" },
  { name: "BUN_INSPECT", does: "Every call of writ opens a debugger" },
  { name: "BUN_INSPECT_CONNECT_TO", does: "Every call of writ lets a debugger in" },
  { name: "LD_PRELOAD", does: "The libraries that it names run in writ" },
  { name: "DYLD_INSERT_LIBRARIES", does: "The libraries that it names run in writ" },
];

export const environment: Check = {
  name: "environment",
  look(world) {
    const { pass, warn } = findingsOf("environment");
    const found = RISKS.filter(({ name }) => world.variable(name) !== "");
    if (found.length === 0) return [pass("variables", "None of them changes what writ is")];
    return found.map(({ name, does }) => warn(name, does, `If you did not set it, see who did. Type: unset ${name}`));
  },
};
