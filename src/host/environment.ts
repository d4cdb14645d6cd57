/** The facts of this machine that a turn is told at its dispatch. */
import type { Environment } from "../core/contract/kernel.ts";
import { listPrograms } from "./program.ts";

export function environmentFacts(environment: Readonly<Record<string, string | undefined>>, home: string): Environment {
  return {
    platform: process.platform,
    architecture: process.arch,
    writ: process.execPath,
    programs: listPrograms(environment, home),
  };
}
