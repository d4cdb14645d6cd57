/** What the first bytes of an executable say about where it runs: ELF, Mach-O and PE, 64 bits, little endian. */

export type Header = {
  readonly format: "elf" | "mach-o" | "pe";
  readonly arch: "x64" | "arm64";
  /** The loader that an ELF asks the kernel for; null where it asks for none, and for the other formats. */
  readonly loader: string | null;
};

const ELF_MACHINES: Readonly<Record<number, Header["arch"]>> = { 62: "x64", 183: "arm64" };
const MACH_O_MACHINES: Readonly<Record<number, Header["arch"]>> = { 16777223: "x64", 16777228: "arm64" };
const PE_MACHINES: Readonly<Record<number, Header["arch"]>> = { 34404: "x64", 43620: "arm64" };
const PT_INTERP = 3;

/**
 * @param bytes the beginning of the file; 64 KiB are enough
 * @returns     null for what is none of the three, or is cut off within its header
 * Errors: none
 * Source: the ELF-64 object file format; Mach-O's `loader.h`; the PE format
 */
export function readHeader(bytes: Uint8Array): Header | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    if (view.getUint32(0) === 0x7f454c46) {
      const arch = ELF_MACHINES[view.getUint16(18, true)];
      return arch === undefined ? null : { format: "elf", arch, loader: loaderOf(view) };
    }
    if (view.getUint32(0, true) === 0xfeedfacf) {
      const arch = MACH_O_MACHINES[view.getUint32(4, true)];
      return arch === undefined ? null : { format: "mach-o", arch, loader: null };
    }
    const at = view.getUint32(60, true);
    if (view.getUint16(0) !== 0x4d5a || view.getUint32(at) !== 0x50450000) return null;
    const arch = PE_MACHINES[view.getUint16(at + 4, true)];
    return arch === undefined ? null : { format: "pe", arch, loader: null };
  } catch (error) {
    if (error instanceof RangeError) return null; // it ends before its header does
    throw error;
  }
}

function loaderOf(view: DataView): string | null {
  const table = Number(view.getBigUint64(32, true));
  const size = view.getUint16(54, true);
  const count = view.getUint16(56, true);
  for (let at = table; at < table + size * count; at += size) {
    if (view.getUint32(at, true) !== PT_INTERP) continue;
    const from = Number(view.getBigUint64(at + 8, true));
    const length = Number(view.getBigUint64(at + 32, true));
    const text = Array.from({ length: length - 1 }, (_, index) => String.fromCharCode(view.getUint8(from + index)));
    return text.join("");
  }
  return null;
}
