/** Why a file or folder that somebody named cannot be used, for a person: the runtime's own texts name a system call. */

/** Why it does not open, or is not read. Errors: none */
export function readFault(error: unknown): string {
  switch (codeOf(error)) {
    case "ENOENT":
    case "ENOTDIR":
      return "there is no such file";
    case "EACCES":
    case "EPERM":
      return "it may not be read by this user";
    case "EISDIR":
      return "it is a folder";
    default:
      return sharedFault(error);
  }
}

/** Why it cannot be written, or made. Errors: none */
export function writeFault(error: unknown): string {
  switch (codeOf(error)) {
    case "ENOENT":
      return "its folder is not there";
    case "ENOTDIR":
    case "EEXIST":
      return "a file stands where a folder is due";
    case "EACCES":
    case "EPERM":
      return "this user may not write there";
    case "EISDIR":
      return "it is a folder";
    case "ENOSPC":
    case "EDQUOT":
      return "there is no room left for it";
    case "EROFS":
      return "nothing can be written there: it is read-only";
    default:
      return sharedFault(error);
  }
}

function sharedFault(error: unknown): string {
  switch (codeOf(error)) {
    case "ENAMETOOLONG":
      return "no file has so long a name";
    case "ELOOP":
      return "its links lead in a circle";
    default:
      return systemWords(error);
  }
}

/** What the system says, without the call and the path that stand behind it. */
function systemWords(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return /^E[A-Z]+: /.test(message) ? (message.split(", ", 1)[0] ?? message) : message;
}

function codeOf(error: unknown): string | null {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
}
