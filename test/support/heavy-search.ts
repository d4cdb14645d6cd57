/** Searches for the tests of what bounds them. */
import type { SearchRequest } from "../../src/core/pattern/search.ts";

export const QUICK: SearchRequest = {
  pattern: "^t",
  files: [{ path: "a", text: "one\ntwo\n" }],
  most: 9,
  by: "line",
};

/** Linear, and still a minute of work: the places where a match could begin are as many as the program is long. */
export function heavySearch(): SearchRequest {
  let seed = 7;
  let text = "y";
  for (let at = 0; at < 2_000_000; at += 1) {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
    text += seed > 0x3fffffff ? "a" : "b";
  }
  return { ...QUICK, pattern: "a[ab]{500}[xy]$", files: [{ path: "a", text }] };
}
