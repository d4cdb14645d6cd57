/** The write root of a contract: a folder below the read root in which a seat may create and overwrite files. */
import { quote } from "../acceptance/quoting.ts";
import { deviceOf } from "./device-name.ts";
import type { Fault } from "./document.ts";

export type ReadWriteRoot = { readonly ok: true; readonly root: string } | ({ readonly ok: false } & Fault);

/**
 * Cleans a write root by words alone, the same on every platform.
 *
 * @param written not empty: the empty one means that no door is asked for
 * @returns       the cleaned path, `.` for the whole read root; or the first rule that it breaks
 * Errors:        none, whatever the text; time is linear in it
 */
export function readWriteRoot(written: string): ReadWriteRoot {
  const refused = (rule: string, hint: string | null = null): ReadWriteRoot => ({
    ok: false,
    message: `Write root ${quote(written)} ${rule}`,
    hint,
  });
  if (written.includes("\0")) return refused("contains NUL");
  if (/^[/\\]/.test(written) || written.includes(":")) {
    return refused("must be relative to the read root", 'Write a path such as "work", or "." for the whole read root');
  }
  const segments: string[] = [];
  let above = 0;
  for (const segment of written.replaceAll("\\", "/").split("/")) {
    if (segment === "" || segment === ".") continue;
    if (segment !== "..") segments.push(segment);
    else if (segments.pop() === undefined) above += 1;
  }
  if (above > 0) return refused("escapes the read root", 'Write a folder below it, or "." for all of it');
  for (const segment of segments) {
    if (/[ .]$/.test(segment)) {
      return refused(`has the segment ${quote(segment)}, which ends in a ${segment.endsWith(".") ? "dot" : "space"}`);
    }
    if (segment.toLowerCase() === ".git") return refused(`has the segment ${quote(segment)}, which is Git's own`);
    const device = deviceOf(segment);
    if (device !== null) return refused(`has the segment ${quote(segment)}, which names the device "${device}"`);
  }
  return { ok: true, root: segments.length === 0 ? "." : segments.join("/") };
}
