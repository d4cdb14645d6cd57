/** The umask that we were started with, where it would keep us from what we make ourselves. */

/** The caller's, while it is set aside; null where it was left as it is. */
let setAside: number | null = null;

/** From now on what we make is its owner's to use, whatever the umask. What others may not do stays forbidden to them. */
export function keepOwnerBits(): void {
  const mask = process.umask();
  if ((mask & 0o700) === 0) return;
  process.umask(mask & 0o077);
  setAside ??= mask;
}

/** Does something, such as starting the caller's own command, under the caller's umask. */
export function underGivenUmask<T>(act: () => T): T {
  if (setAside === null) return act();
  const own = process.umask(setAside);
  try {
    return act();
  } finally {
    process.umask(own);
  }
}
