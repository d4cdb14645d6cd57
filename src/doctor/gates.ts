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
    const { temporary } = world.places;
    const room = world.look(temporary);
    const bun = async () => {
      if (room?.kind !== "folder" || !room.isWritable) {
        const why =
          room === null ? "It is not there" : room.kind === "folder" ? "It cannot be written" : "It is no folder";
        return fail(temporary, `${why}: no gate can make its copies`, "Name a folder that is there with TMPDIR");
      }
      const version = await world.versionAsBun();
      return version === null
        ? fail(
            "bun",
            "This executable does not act as Bun: no proof by bun test can be run",
            "Install writ anew, and never strip it",
          )
        : pass("bun", `This executable acts as Bun ${version}`);
    };
    return [
      await bun(),
      ...PROGRAMS.map(({ program, purpose }) => {
        const path = world.which(program);
        return path === null ? skip(program, `It is not on PATH: ${purpose}`) : pass(program, path);
      }),
    ];
  },
};
