/** The check of what gates run: this executable as Bun, and the programs that some proofs need. */
import { type Check, findingsOf } from "./check.ts";

/** Programs that a gate may need, and for what. */
const PROGRAMS = [
  { program: "go", purpose: "proofs by go test are inconclusive without it" },
  { program: "bwrap", purpose: "proofs run without a sandbox of their own" },
] as const;

export const gates: Check = {
  name: "gates",
  async look(world) {
    const { pass, fail, skip } = findingsOf("gates");
    const version = await world.versionAsBun();
    return [
      version === null
        ? fail(
            "bun",
            "This executable does not act as Bun: no proof by bun test can be run",
            "Install writ anew, and never strip it",
          )
        : pass("bun", `This executable acts as Bun ${version}`),
      ...PROGRAMS.map(({ program, purpose }) => {
        const path = world.which(program);
        return path === null ? skip(program, `It is not on PATH: ${purpose}`) : pass(program, path);
      }),
    ];
  },
};
