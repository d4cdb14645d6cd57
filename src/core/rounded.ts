/** To three digits behind the point: of seconds and of rates nobody measures more, and any reader holds them exactly. */
export function toThousandths(value: number): number {
  return Math.round(value * 1000) / 1000;
}
