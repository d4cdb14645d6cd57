/** The world of a close: what the claims of a contract are held against, besides the store. */
import { valueRedactor } from "../core/record/redact.ts";
import type { CheckWorld, CloseWorld } from "../editor/finalize.ts";
import { programFinder } from "../host/program.ts";
import { changedAfter } from "../host/worktree.ts";
import { evidenceFolder } from "../store/blobs.ts";
import { openReadingWorld, openWorld, placesOf } from "./world.ts";

export function openCloseWorld(): CloseWorld {
  const { data, home } = placesOf();
  const evidence = evidenceFolder(data, home);
  return {
    ...openWorld(),
    ...checkMeans(data),
    resolveArtifact(path) {
      const artifact = evidence.resolveArtifactPath(path);
      return artifact.ok ? artifact.path : null;
    },
  };
}

/** The same for a verb that only looks. Where there is no store yet, a close would make one, and so does this. */
export function openCheckWorld(): CheckWorld {
  const { data } = placesOf();
  const reading = openReadingWorld();
  const { store } = reading;
  return { ...(store === null ? openWorld() : { ...reading, store }), ...checkMeans(data) };
}

function checkMeans(data: string): Pick<CheckWorld, "isProgram" | "changedAfter" | "values"> {
  return {
    isProgram: programFinder(process.env),
    changedAfter: (cwd, instant) => changedAfter(cwd, instant, { except: data }),
    values: valueRedactor(process.env),
  };
}
