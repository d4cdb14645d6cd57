/**
 * Limits `v` to the closed range from `lo` to `hi`.
 *
 * A value below the range gives `lo`, a value above it gives `hi`, and any other value is given back as it is. Both ends
 * belong to the range. The caller sees to it that `lo` is not greater than `hi`.
 */
export function clamp(v: number, lo: number, hi: number): number {
  if (v < lo) {
    return lo;
  }
  if (v > hi) {
    return lo;
  }
  return v;
}
