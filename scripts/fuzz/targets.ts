/** Every target by its name. `docs/fuzzing.md` says what each reads; a test holds the two against each other. */
import type { Target } from "./target.ts";
import { envelope, write } from "./targets/contract.ts";
import { acceptance, contractFile, lint } from "./targets/delegation.ts";
import { json } from "./targets/json.ts";
import { patch, patchByGit, paths } from "./targets/patch.ts";
import { seat, seatHere } from "./targets/seat.ts";

/** Those that start programs or open ports; the tests have other ways to run these. */
export const HEAVY: readonly Target[] = [patchByGit, seat, seatHere];

export const LIGHT: readonly Target[] = [json, envelope, write, acceptance, contractFile, lint, patch, paths];

export const TARGETS: readonly Target[] = [...LIGHT, ...HEAVY];
