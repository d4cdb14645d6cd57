/**
 * The paths of the write door: what a seat may name in a tool call, and what a diff may name that comes back from a
 * stranger. By words alone; whether a link stands on the way, the walk on the real folder says.
 */
import { quote } from "../acceptance/quoting.ts";
import { pathNameFault } from "../delegation/path-name.ts";
import { utf8Length } from "../utf8.ts";

/** `reason` is one sentence about the path, for a seat and for a person. */
export type ReadPath = { readonly ok: true; readonly path: string } | { readonly ok: false; readonly reason: string };

const PATH_BYTES = 1024;

/**
 * Reads the path of a tool call: relative to the job's root, `\` taken as `/`, empty and `.` segments left out.
 *
 * @returns the normalised path, `.` for the root; or the first rule that it breaks
 * Errors:  none, whatever the text; time is linear in it
 * Source:  delegation run, section 5.3
 */
export function readToolPath(written: string): ReadPath {
  if (written === "") return refused(written, 'is empty; "." is the root');
  if (written.includes("\0")) return refused(written, "contains NUL");
  if (!written.isWellFormed()) return refused(written, "holds half of a character");
  const slashed = written.replaceAll("\\", "/");
  if (slashed.startsWith("/")) return refused(written, 'is absolute; paths are relative to the root, "."');
  const segments = slashed.split("/").filter((segment) => segment !== "" && segment !== ".");
  if (segments.includes("..")) return refused(written, 'has a segment ".."');
  const path = segments.length === 0 ? "." : segments.join("/");
  if (/^[A-Za-z]:/.test(path)) return refused(written, 'names a drive; paths are relative to the root, "."');
  const size = utf8Length(path);
  return size > PATH_BYTES ? refused(path, `has ${size} bytes; at most ${PATH_BYTES} are allowed`) : { ok: true, path };
}

/**
 * Reads the path of a file that is to be written, and the path of a file in a diff.
 *
 * @param written   as the seat or the diff spelled it
 * @param writeRoot cleaned, relative to the same root; `.` for all of it
 * @returns         the normalised path; or the first rule that it breaks. A diff's path must be normalised as it stands
 * Errors:          none, whatever the text; time is linear in it
 * Source:          delegation run, section 6.2
 */
export function readWritePath(written: string, writeRoot: string): ReadPath {
  const read = readToolPath(written);
  if (!read.ok) return read;
  const { path } = read;
  if (path === "." || /[/\\]\.?$/.test(written)) return refused(written, "names a folder; name a file in it");
  const fault = pathNameFault(path);
  if (fault !== null) return refused(path, fault.rule);
  const git = path.split("/").find(isGitFolder);
  if (git !== undefined) return refused(path, `has the segment ${quote(git)}, which is Git's own`);
  if (writeRoot !== "." && !path.startsWith(`${writeRoot}/`)) {
    return refused(path, `is outside of the write root ${quote(writeRoot)}`);
  }
  return read;
}

/** What HFS+ leaves out of a name when it compares it. */
const IGNORED_LETTERS = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/**
 * Whether some file system takes a segment for `.git`: in any case, by its short name on NTFS, or with letters between
 * that HFS+ does not see.
 *
 * Source: `is_ntfs_dotgit` and `is_hfs_dotgit` of git, which refuses the same (`core.protectNTFS`, `core.protectHFS`)
 */
function isGitFolder(segment: string): boolean {
  const plain = segment.replace(IGNORED_LETTERS, "").toLowerCase();
  return plain === ".git" || plain === "git~1";
}

function refused(path: string, rule: string): ReadPath {
  return { ok: false, reason: `the path ${quote(path)} ${rule}` };
}
