/** Putting the present digests of the sets into the manifest, and touching nothing else in it. */
import { mapJson, nodeOf, replaceValue } from "../json/edit.ts";
import type { SetReport } from "./fixtures.ts";

export type PinLine = { readonly file: string; readonly old: string; readonly new: string };

/**
 * @param text a manifest that was read, with these sets in this order
 * @returns    one line for each set, and the text with the present sums
 * Errors: none
 */
export function pinManifest(
  text: string,
  sets: readonly SetReport[],
): { readonly lines: readonly PinLine[]; readonly text: string } {
  let pinned = text;
  const lines: PinLine[] = [];
  for (const [index, { file, sha256, pinned: old }] of sets.entries()) {
    lines.push({ file, old, new: sha256 ?? old });
    if (sha256 === null || sha256 === old) continue;
    // The places move with every change, so they are looked for anew.
    const node = nodeOf(mapJson(pinned), ["digest_sets", index, "sha256"]);
    if (node !== null) pinned = replaceValue(pinned, node, sha256);
  }
  return { lines, text: pinned };
}
