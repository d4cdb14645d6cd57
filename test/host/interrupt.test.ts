import { describe, expect, test } from "bun:test";
import { join } from "node:path";

describe("interruptible()", () => {
  test.each(["SIGINT", "SIGTERM"] as const)(
    "%s is heard once; a second one ends the process at once, as that signal",
    async (signal) => {
      const child = Bun.spawn([process.execPath, join(import.meta.dir, "..", "support", "interrupted.ts")], {
        stdin: "ignore",
        stdout: "pipe",
      });
      const reader = child.stdout.getReader();
      let said = "";
      const hears = async (text: string) => {
        while (!said.includes(text)) {
          const { done, value } = await reader.read();
          if (done) throw new Error(`it ended: ${said}`);
          said += new TextDecoder().decode(value);
        }
      };
      await hears("ready\n");
      child.kill(signal);
      await hears("first\n");
      expect(child.exitCode).toBeNull();
      child.kill(signal);
      await child.exited;
      await hears("last\n");
      expect(child.signalCode).toBe(signal);
      expect(said).toBe("ready\nfirst\nlast\n");
    },
  );
});
