/**
 * The signature of a Mach-O executable: whether it fits the pages, and an ad-hoc one that does. macOS ends a program
 * whose signature does not fit, so an executable that was changed after its signing needs another.
 *
 * Source: Mach-O's `loader.h`; `cs_blobs.h` of XNU; the same form that the linkers of Apple, Go and LLVM write
 */

export type SignatureState = "fits" | "does not fit" | "none";

const HEADER_BYTES = 32;
const LC_SEGMENT_64 = 0x19;
const LC_CODE_SIGNATURE = 0x1d;
const SUPER_BLOB = 0xfade0cc0;
const CODE_DIRECTORY = 0xfade0c02;
const CODE_DIRECTORY_BYTES = 88;
/** Of the super blob with one entry. */
const INDEX_BYTES = 20;
const SHA256_BYTES = 32;
const SHA256 = 2;
const PAGE_BITS = 12;
const PAGE_BYTES = 1 << PAGE_BITS;
/** Nobody vouches for it, and it was not made by `codesign`, which may replace it without `--force`. */
const AD_HOC_OF_A_LINKER = 0x20002;
const MAIN_BINARY = 1n;
/** What memory is handed out in, also on the newer machines. */
const SEGMENT_BYTES = 16_384n;

type Command = { readonly at: number; readonly kind: number; readonly segment: string };

/**
 * Whether the digests of the signature are those of the pages, up to where it begins.
 *
 * @param bytes of a Mach-O executable, 64 bits, little endian, for one processor
 * Errors: none: what cannot be read does not fit
 */
export function judgeSignature(bytes: Uint8Array): SignatureState {
  const view = viewOf(bytes);
  try {
    const signature = listCommands(view).find(({ kind }) => kind === LC_CODE_SIGNATURE);
    if (signature === undefined) return "none";
    const start = view.getUint32(signature.at + 8, true);
    if (view.getUint32(start) !== SUPER_BLOB) return "does not fit";
    const count = view.getUint32(start + 8);
    for (let index = 0; index < count; index++) {
      const at = start + view.getUint32(start + 12 + 8 * index + 4);
      if (view.getUint32(at) === CODE_DIRECTORY) return fits(bytes, view, at, start) ? "fits" : "does not fit";
    }
    return "does not fit";
  } catch (error) {
    if (error instanceof RangeError) return "does not fit"; // it points out of the file
    throw error;
  }
}

function fits(bytes: Uint8Array, view: DataView, at: number, start: number): boolean {
  const first = at + view.getUint32(at + 16);
  const pages = view.getUint32(at + 28);
  if (view.getUint32(at + 32) !== start || pages !== Math.ceil(start / PAGE_BYTES)) return false;
  if (view.getUint8(at + 36) !== SHA256_BYTES || view.getUint8(at + 37) !== SHA256) return false;
  if (view.getUint8(at + 39) !== PAGE_BITS) return false;
  const kept = bytes.subarray(first, first + pages * SHA256_BYTES);
  return Buffer.compare(kept, digestPages(bytes.subarray(0, start))) === 0;
}

/**
 * The executable with an ad-hoc signature in the place of the one that it has at its end.
 *
 * @param identifier what macOS calls the program
 * Errors: throws where the executable has no signature, or has something behind it
 */
export function signAdHoc(bytes: Uint8Array, identifier: string): Uint8Array {
  const commands = listCommands(viewOf(bytes));
  const signature = commands.find(({ kind }) => kind === LC_CODE_SIGNATURE);
  const text = commands.find(({ segment }) => segment === "__TEXT");
  const linkEdit = commands.find(({ segment }) => segment === "__LINKEDIT");
  if (signature === undefined || text === undefined || linkEdit === undefined) {
    throw new Error("This is no Mach-O executable that was signed before");
  }
  const start = viewOf(bytes).getUint32(signature.at + 8, true);
  if (start + viewOf(bytes).getUint32(signature.at + 12, true) !== bytes.length) {
    throw new Error("The signature does not stand at the end of the executable");
  }
  const pages = Math.ceil(start / PAGE_BYTES);
  const name = new TextEncoder().encode(`${identifier}\0`);
  const directoryBytes = CODE_DIRECTORY_BYTES + name.length + pages * SHA256_BYTES;
  const length = Math.ceil((INDEX_BYTES + directoryBytes) / 16) * 16;

  const signed = new Uint8Array(start + length);
  signed.set(bytes.subarray(0, start));
  const view = viewOf(signed);
  // The load commands are part of the first page: they come before the digests.
  view.setUint32(signature.at + 12, length, true);
  const size = BigInt(start + length) - view.getBigUint64(linkEdit.at + 40, true);
  view.setBigUint64(linkEdit.at + 48, size, true);
  view.setBigUint64(linkEdit.at + 32, ((size + SEGMENT_BYTES - 1n) / SEGMENT_BYTES) * SEGMENT_BYTES, true);

  let at = start;
  const put32 = (...values: readonly number[]) => {
    for (const value of values) {
      view.setUint32(at, value);
      at += 4;
    }
  };
  const put64 = (...values: readonly bigint[]) => {
    for (const value of values) {
      view.setBigUint64(at, value);
      at += 8;
    }
  };
  put32(SUPER_BLOB, INDEX_BYTES + directoryBytes, 1, 0, INDEX_BYTES);
  put32(CODE_DIRECTORY, directoryBytes, 0x20400, AD_HOC_OF_A_LINKER);
  put32(CODE_DIRECTORY_BYTES + name.length, CODE_DIRECTORY_BYTES, 0, pages, start);
  put32((SHA256_BYTES << 24) | (SHA256 << 16) | PAGE_BITS, 0, 0, 0, 0);
  put64(0n, view.getBigUint64(text.at + 40, true), view.getBigUint64(text.at + 48, true), MAIN_BINARY);
  signed.set(name, at);
  signed.set(digestPages(signed.subarray(0, start)), at + name.length);
  return signed;
}

function digestPages(bytes: Uint8Array): Uint8Array {
  const pages = Math.ceil(bytes.length / PAGE_BYTES);
  const digests = new Uint8Array(pages * SHA256_BYTES);
  for (let page = 0; page < pages; page++) {
    const hash = new Bun.CryptoHasher("sha256").update(bytes.subarray(page * PAGE_BYTES, (page + 1) * PAGE_BYTES));
    digests.set(hash.digest(), page * SHA256_BYTES);
  }
  return digests;
}

function listCommands(view: DataView): readonly Command[] {
  const commands: Command[] = [];
  let at = HEADER_BYTES;
  for (let left = view.getUint32(16, true); left > 0; left--) {
    const kind = view.getUint32(at, true);
    const name = kind === LC_SEGMENT_64 ? Array.from({ length: 16 }, (_, index) => view.getUint8(at + 8 + index)) : [];
    commands.push({ at, kind, segment: String.fromCharCode(...name.filter((each) => each !== 0)) });
    at += view.getUint32(at + 4, true);
  }
  return commands;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
