/** `set`, `add` and `fill`: one mutation of one draft. */
import { type Mutation, mutate } from "../core/contract/mutate.ts";
import { WritError } from "../core/error.ts";
import { type Address, resolveTarget } from "./target.ts";
import type { World } from "./world.ts";
import { editDraft, type Written } from "./write.ts";

/** Errors: those of `editDraft`, and `empty_path`, `path_through_list`, `not_a_list`, `not_an_object`, `list_overwrite`. */
export function mutateDraft(world: World, address: Address, mutation: Mutation): Written {
  return editDraft(world, {
    target: resolveTarget(world, address),
    verb: mutation.verb,
    strict: false,
    change(envelope, _tables, draftId) {
      const result = mutate(envelope, mutation);
      if (result.ok) return { envelope: result.envelope };
      const { error } = result;
      throw new WritError(error.code, error.message, {
        path: error.path,
        hint: error.hint,
        status: error.status,
        issues: error.issues,
        details: { draft_id: draftId, ...error.details },
        lines: error.lines,
      });
    },
  });
}
