/** What is wrong with a call of writ that a page shows, by the command tree alone: nothing is run. */
import { parseArguments } from "../../src/cli/arguments.ts";
import { route } from "../../src/cli/route.ts";
import { MISPLACED, TOPICS, TREE } from "../../src/cli/tree.ts";
import { WritError } from "../../src/core/error.ts";

/** Of a call that is only mentioned, what it needs besides may be left out. */
const LEFT_OUT = /^(?:Missing o|Option "[^"]*" needs a value)/;

/**
 * @param words behind `writ`
 * @param form  a whole call, as it is typed; or a mention of one in running text, such as `writ contract set`
 * @returns     what writ would say of the words, or null
 */
export async function faultOf(words: readonly string[], form: "whole" | "mention"): Promise<string | null> {
  try {
    const found = route({ tree: TREE, misplaced: MISPLACED, topics: TOPICS }, words);
    if (found.wanted === "group") return form === "mention" ? null : `"writ ${words.join(" ")}" stops at a group`;
    if (found.wanted !== "run" || found.node?.load === undefined) return null;
    parseArguments(
      (await found.node.load()).command,
      found.argv.filter((word) => word !== "--debug"),
    );
    return null;
  } catch (error) {
    if (!(error instanceof WritError)) throw error;
    if (form === "mention" && LEFT_OUT.test(error.message)) return null;
    return error.message;
  }
}
