/** A number of things, as it is said: `1 check`, `3 checks`, `0 entries`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
