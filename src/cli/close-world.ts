/** The world of a close: what the claims of a contract are held against, besides the store. */
import { valueRedactor } from "../core/record/redact.ts";
import type { CloseWorld } from "../editor/finalize.ts";
import { programFinder } from "../host/program.ts";
import { changedAfter } from "../host/worktree.ts";
import { evidenceFolder } from "../store/blobs.ts";
import { openWorld, placesOf } from "./world.ts";

export function openCloseWorld(): CloseWorld {
  const { data, home } = placesOf();
  const evidence = evidenceFolder(data, home);
  return {
    ...openWorld(),
    isProgram: programFinder(process.env),
    changedAfter: (cwd, instant) => changedAfter(cwd, instant, { except: data }),
    values: valueRedactor(process.env),
    resolveArtifact(path) {
      const artifact = evidence.resolveArtifactPath(path);
      return artifact.ok ? artifact.path : null;
    },
  };
}
