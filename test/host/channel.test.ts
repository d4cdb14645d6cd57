import { afterEach, describe, expect, test } from "bun:test";
import { closeSync, readFileSync, readSync, statSync, writeSync } from "node:fs";
import { isatty } from "node:tty";
import { type Channel, openPipe, openTerminal, resizeTerminal } from "../../src/host/channel.ts";

const onLinux = process.platform === "linux";
const opened: number[] = [];

afterEach(() => {
  for (const fd of opened.splice(0)) closeSync(fd);
});

function taken(channel: Channel | null): Channel {
  if (channel === null) throw new Error("there is none to be had");
  opened.push(channel.read, channel.write);
  return channel;
}

function readText(fd: number): string {
  const piece = Buffer.alloc(1000);
  return piece.toString("utf8", 0, readSync(fd, piece));
}

/** Rows and columns, as a child on the channel sees them. */
function sizeOf(channel: Channel): string {
  return Bun.spawnSync(["stty", "size", "-F", channel.terminal ?? ""])
    .stdout.toString()
    .trim();
}

describe.skipIf(process.platform === "win32")("openPipe()", () => {
  test("gives a real pipe", () => {
    const { read, write, terminal } = taken(openPipe());
    expect(terminal).toBeNull();
    writeSync(write, "through");
    expect(readText(read)).toBe("through");
    expect([isatty(read), isatty(write)]).toEqual([false, false]);
  });

  test.skipIf(!onLinux)("closes its ends in children that were not given them (Linux)", () => {
    const { read, write } = taken(openPipe());
    const O_CLOEXEC = 0o2000000;
    for (const fd of [read, write]) {
      const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8"))?.[1] ?? "0";
      expect(Number.parseInt(flags, 8) & O_CLOEXEC).toBe(O_CLOEXEC);
    }
  });
});

describe.skipIf(!onLinux)("openTerminal() (Linux)", () => {
  test("gives a terminal of the size that was asked for, at a path", () => {
    const channel = taken(openTerminal({ columns: 91, rows: 17 }));
    expect(isatty(channel.write)).toBe(true);
    expect(statSync(channel.terminal ?? "").isCharacterDevice()).toBe(true);
    expect(sizeOf(channel)).toBe("17 91");
  });

  test("passes text on as it is, without carriage returns of its own", () => {
    const { read, write } = taken(openTerminal({ columns: 80, rows: 24 }));
    writeSync(write, "one\ntwo\r\n\tthree\x1b[0m");
    expect(readText(read)).toBe("one\ntwo\r\n\tthree\x1b[0m");
  });

  test("takes another size", () => {
    const channel = taken(openTerminal({ columns: 80, rows: 24 }));
    resizeTerminal(channel, { columns: 132, rows: 50 });
    expect(sizeOf(channel)).toBe("50 132");
  });
});
