/**
 * Reads a TCP port from its decimal text. A port is a whole number in 1..65535.
 *
 * Throws an error for a text that is no whole number, and for a number that is no port.
 */
export function parsePort(text: string): number {
  if (!/^[0-9]+$/.test(text)) {
    throw new Error(`port "${text}" is not a number`);
  }
  const port = Number(text);
  if (port < 1) {
    throw new Error(`port ${port} is out of range 1..65535`);
  }
  return port;
}
