/** A diff that came back from a place: nobody's word for it is taken. */
import { quote } from "../acceptance/quoting.ts";
import type { Document } from "../delegation/document.ts";
import { utf8Length } from "../utf8.ts";
import { planPatch } from "./apply.ts";
import { checkCaps } from "./caps.ts";
import { parsePatch, refusalText } from "./parse.ts";

export type ReturnedDiff =
  /** `diff_files` as the diff has them, whatever the place said. */
  { readonly ok: true; readonly diff_files: readonly string[] } | { readonly ok: false; readonly reason: string };

/**
 * Holds a returned diff against what a place may hand back: the format, paths below the write root, the caps, no file
 * that goes, and the documents that the place was sent, which it must fit.
 *
 * @param diff "" where nothing was written
 * @param sent `write_root` "" on a contract that opens no door
 * @returns    its files in the order of its sections; or why it cannot be published
 * Errors:     none, whatever the text
 * Source:     delegation run, sections 6.1, 6.4, 7.7 and 11
 */
export function readReturnedDiff(
  diff: string,
  sent: { readonly write_root: string; readonly documents: readonly Document[] },
): ReturnedDiff {
  if (diff === "") return { ok: true, diff_files: [] };
  if (sent.write_root === "") return refused("the contract opens no write door");
  if (!diff.isWellFormed()) return refused("it holds half of a character");
  // Before it is read: what is far too large costs no more than its length.
  const diff_bytes = utf8Length(diff);
  const tooLarge = checkCaps({ files: 0, added_bytes: 0, opaque_files: 0, diff_bytes });
  if (tooLarge !== null) return refused(tooLarge);
  const encoder = new TextEncoder();
  const parsed = parsePatch(encoder.encode(diff), sent.write_root);
  if (!parsed.ok) return refused(refusalText(parsed.refusal));
  const { files, size } = parsed.patch;
  const passed = checkCaps(size);
  if (passed !== null) return refused(passed);
  const gone = files.find(({ kind }) => kind === "deleted");
  if (gone !== undefined) return refused(`${quote(gone.path)} is deleted, which the write door does not grant`);
  const documents = new Map(sent.documents.map(({ name, text }) => [name, text]));
  const plan = planPatch(parsed.patch, (path) => {
    const text = documents.get(path);
    return text === undefined ? { kind: "absent" } : { kind: "file", bytes: encoder.encode(text) };
  });
  const [misfit] = plan.ok ? [] : plan.refusals;
  if (misfit !== undefined) return refused(`it does not fit the documents: ${refusalText(misfit)}`);
  return { ok: true, diff_files: files.map(({ path }) => path) };
}

function refused(reason: string): ReturnedDiff {
  return { ok: false, reason };
}
