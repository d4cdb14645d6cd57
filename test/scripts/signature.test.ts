/** Signatures of Mach-O executables, on a small made one: two segments, one load command for the signature. */
import { describe, expect, test } from "bun:test";
import { judgeSignature, signAdHoc } from "../../scripts/signature.ts";

const TEXT_AT = 32;
const LINK_EDIT_AT = TEXT_AT + 72;
const SIGNATURE_AT = LINK_EDIT_AT + 72;
const LINK_EDIT_START = 8192;
/** Not at the end of a page, so that the last page is a short one. */
const SIGNATURE_START = 10_000;

/** @param behind bytes of a signature that does not fit; null: without the load command as well */
function made(behind: number | null): Uint8Array {
  const bytes = new Uint8Array(SIGNATURE_START + (behind ?? 0));
  bytes.forEach((_, at) => {
    bytes[at] = at % 251;
  });
  bytes.fill(0, 0, SIGNATURE_AT + 16);
  const view = new DataView(bytes.buffer);
  const put = (at: number, ...values: readonly number[]) => {
    for (const [index, value] of values.entries()) view.setUint32(at + 4 * index, value, true);
  };
  put(0, 0xfeedfacf, 0x01000007, 3, 2, behind === null ? 2 : 3);
  const segment = (at: number, name: string, address: bigint, start: number, length: number) => {
    put(at, 0x19, 72);
    bytes.set(new TextEncoder().encode(name), at + 8);
    for (const [index, value] of [address, 16_384n, BigInt(start), BigInt(length)].entries()) {
      view.setBigUint64(at + 24 + 8 * index, value, true);
    }
  };
  segment(TEXT_AT, "__TEXT", 0n, 0, LINK_EDIT_START);
  segment(LINK_EDIT_AT, "__LINKEDIT", 16_384n, LINK_EDIT_START, bytes.length - LINK_EDIT_START);
  if (behind !== null) put(SIGNATURE_AT, 0x1d, 16, SIGNATURE_START, behind);
  return bytes;
}

describe("judgeSignature()", () => {
  test("of what was never signed is none", () => {
    expect(judgeSignature(made(null))).toBe("none");
  });

  test("of what was signed otherwise, is cut off or is no Mach-O is that it does not fit", () => {
    expect(judgeSignature(made(200))).toBe("does not fit");
    expect(judgeSignature(made(200).subarray(0, SIGNATURE_START))).toBe("does not fit");
    expect(judgeSignature(new Uint8Array())).toBe("does not fit");
  });

  test("of what was changed in any page after its signing is that it does not fit", () => {
    const signed = signAdHoc(made(200), "writ");
    expect(judgeSignature(signed)).toBe("fits");
    for (const at of [20, 5000, SIGNATURE_START - 1]) {
      const changed = signed.slice();
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(judgeSignature(changed)).toBe("does not fit");
    }
  });
});

describe("signAdHoc()", () => {
  test("changes the signature and what says how long it is, and nothing else", () => {
    const before = made(20);
    const signed = signAdHoc(before, "writ");
    const view = new DataView(signed.buffer);
    const length = signed.length - SIGNATURE_START;
    expect(view.getUint32(SIGNATURE_AT + 12, true)).toBe(length);
    expect(view.getBigUint64(LINK_EDIT_AT + 48, true)).toBe(BigInt(signed.length - LINK_EDIT_START));
    const differs = [...before.subarray(0, SIGNATURE_START)].flatMap((value, at) => (signed[at] === value ? [] : [at]));
    expect(differs.filter((at) => at < LINK_EDIT_AT || at >= SIGNATURE_AT + 16)).toEqual([]);
    // Three pages, and the name, which stands behind the 88 bytes of the directory.
    expect(view.getUint32(SIGNATURE_START + 20 + 28)).toBe(3);
    expect(new TextDecoder().decode(signed.subarray(SIGNATURE_START + 108, SIGNATURE_START + 113))).toBe("writ\0");
  });

  test("done twice is done once", () => {
    const once = signAdHoc(made(200), "writ");
    expect(signAdHoc(once, "writ")).toEqual(once);
  });

  test("refuses what has no signature, and what has something behind it", () => {
    expect(() => signAdHoc(made(null), "writ")).toThrow("no Mach-O executable that was signed");
    const longer = new Uint8Array([...made(200), 0]);
    expect(() => signAdHoc(longer, "writ")).toThrow("does not stand at the end");
  });
});
