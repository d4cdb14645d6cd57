/** Reading the body of an answer, bounded. */

export type ReadBody = { readonly bytes: Uint8Array; readonly isWhole: boolean };

/**
 * The body up to a limit.
 *
 * @returns `isWhole` false where there is more of it, where its end did not come in time, or where it broke
 * Errors: none
 */
export async function readBody(response: Response, maxBytes: number, maxMs: number): Promise<ReadBody> {
  const reader = response.body?.getReader();
  if (reader === undefined) return { bytes: new Uint8Array(0), isWhole: true };
  const pieces: Uint8Array[] = [];
  let size = 0;
  let isWhole = true;
  const end = () => {
    isWhole = false;
    // A read that is waiting ends with it.
    reader.cancel().catch(() => {});
  };
  const timer = setTimeout(end, maxMs);
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      const room = maxBytes - size;
      pieces.push(read.value.length > room ? read.value.subarray(0, room) : read.value);
      size += read.value.length;
      if (size > maxBytes) end();
    }
  } catch {
    isWhole = false; // it broke: what came before counts
  } finally {
    clearTimeout(timer);
  }
  return { bytes: Buffer.concat(pieces), isWhole };
}

/** Bytes as text; what is no UTF-8 is replaced. */
export function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
