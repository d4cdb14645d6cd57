/** One small program that `bun-facts.test.ts` compiles as writ is compiled; its first argument says what it does. */
import { Database } from "bun:sqlite";
import { readFileSync, readlinkSync, writeSync } from "node:fs";
import schema from "./schema.sql" with { type: "text" };

const BIG = "x".repeat(200_000);
const [mode, argument = ""] = process.argv.slice(2);

switch (mode) {
  case "environment":
    console.log(JSON.stringify({ dotenv: process.env.FACT_DOTENV ?? null, preloaded: "factPreloaded" in globalThis }));
    break;
  case "stdout-flags": {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync("/proc/self/fdinfo/1", "utf8"))?.[1] ?? "";
    writeSync(2, `${readlinkSync("/proc/self/fd/1")} ${(Number.parseInt(flags, 8) & 0o2000000) !== 0}`);
    break;
  }
  case "console-log":
    console.log(BIG);
    process.exit(0);
    break;
  case "console-lines":
    for (let line = 0; line < 20_000; line++) console.log(`line ${line}`);
    break;
  case "stdout-write-exit":
    process.stdout.write(BIG);
    process.exit(0);
    break;
  case "stdout-write-return":
    process.stdout.write(BIG);
    process.exitCode = 3;
    break;
  case "write-sync": {
    process.stdout.write("x"); // this alone makes the pipe non-blocking
    let written = 1;
    try {
      while (written < BIG.length) written += writeSync(1, BIG.slice(written));
      console.error(JSON.stringify({ written, code: null }));
    } catch (error) {
      console.error(JSON.stringify({ written, code: (error as NodeJS.ErrnoException).code }));
    }
    break;
  }
  case "sql": {
    const database = new Database(":memory:");
    database.run(schema);
    database.query("INSERT INTO fact (text) VALUES ('kept')").run();
    console.log(JSON.stringify(database.query("SELECT * FROM fact").all()));
    break;
  }
  case "first-chunk": {
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of Bun.stdin.stream()) {
      text += decoder.decode(chunk, { stream: true });
      if (text.endsWith("}")) break;
    }
    console.log(text);
    break;
  }
  case "child-of-bun": {
    const { BUN_BE_BUN: _, ...rest } = process.env;
    const version = (env: Record<string, string | undefined>) =>
      Bun.spawnSync([process.execPath, "--version"], { env }).stdout.toString().trim();
    console.log(JSON.stringify({ inherited: version(process.env), removed: version(rest) }));
    break;
  }
  case "count-up": {
    // One read and one write in a transaction, as often as asked: what two shells do to one draft.
    const database = new Database(argument, { readwrite: true });
    database.run("PRAGMA busy_timeout = 10000");
    const step = database.transaction(() => {
      const { n } = database.query("SELECT n FROM counter").get() as { n: number };
      database.query("UPDATE counter SET n = ?").run(n + 1);
    });
    for (let round = 0; round < 25; round++) step.immediate();
    database.close();
    break;
  }
  case "--version":
    console.log("probe");
    break;
  default:
    process.exitCode = 2;
}
