/**
 * What writ takes for granted of Bun, one test a fact: an upgrade that changes one of them fails here and not in
 * somebody's shell. Where a fact is a trap ("is cut", "runs only the first"), a failure means that the trap is gone
 * and that the code which avoids it may be made simpler.
 */
import { Database, SQLiteError } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compile } from "../scripts/compile.ts";

const PROBE_SOURCE = join(import.meta.dir, "support", "bun-facts", "probe.ts");
/** What a pipe of Linux holds before a writer has to wait. */
const PIPE_BYTES = 65_536;
const BIG_BYTES = 200_000;

let folder = "";
let probe = "";
let names = 0;

beforeAll(async () => {
  folder = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "writ-bun-facts-")));
  probe = join(folder, "probe");
  await compile(PROBE_SOURCE, probe);
}, 60_000);

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

/** A path of its own for each test. */
const place = (name: string) => join(folder, `${++names}-${name}`);

test.skipIf(process.platform !== "linux")("a stream closed at start is a null device that is closed on exec", () => {
  for (const [redirection, isOwn] of [
    [">&-", true],
    [">/dev/null", false],
    ["1<>/dev/null", false],
  ] as const) {
    const child = Bun.spawnSync(["sh", "-c", `"$1" stdout-flags ${redirection}`, "sh", probe], { env: cleanEnv() });
    expect([redirection, child.stderr.toString()]).toEqual([redirection, `/dev/null ${isOwn}`]);
  }
});

/** The environment of a child, without what would change Bun's own behaviour. */
function cleanEnv(more: Readonly<Record<string, string>> = {}): Record<string, string | undefined> {
  const { BUN_OPTIONS: _options, BUN_BE_BUN: _beBun, ...env } = process.env;
  return { ...env, ...more };
}

function runProbe(args: readonly string[], more: { cwd?: string; env?: Record<string, string> } = {}) {
  const child = Bun.spawnSync([probe, ...args], { cwd: more.cwd ?? folder, env: cleanEnv(more.env) });
  return { status: child.exitCode, stdout: child.stdout.toString(), stderr: child.stderr.toString() };
}

/** What a call throws; fails when it does not. */
function thrownBy(call: () => unknown): NodeJS.ErrnoException {
  try {
    call();
  } catch (error) {
    return error as NodeJS.ErrnoException;
  }
  throw new Error("nothing was thrown");
}

describe("bun:sqlite", () => {
  /** A new WAL database with a table `t (n)`, one row 0, and as many connections as asked. */
  function connections(count: number): Database[] {
    const path = place("facts.db");
    const first = new Database(path, { create: true, readwrite: true, strict: true });
    first.run("PRAGMA journal_mode = WAL");
    first.run("CREATE TABLE t (n INTEGER, s TEXT) STRICT");
    first.run("INSERT INTO t (n) VALUES (0)");
    const others = Array.from({ length: count - 1 }, () => new Database(path, { readwrite: true, strict: true }));
    return [first, ...others];
  }
  const pair = () => connections(2) as [Database, Database];
  const one = () => connections(1)[0] as Database;

  test("transaction().immediate() takes the write lock before its first statement, the plain call does not", () => {
    const [a, b] = pair();
    b.run("PRAGMA busy_timeout = 0");
    const write = b.transaction(() => b.run("UPDATE t SET n = 1"));
    const whileOpen = (begin: "immediate" | "deferred"): string | undefined =>
      a
        .transaction(() => {
          try {
            write.immediate();
            return "went through";
          } catch (error) {
            return (error as SQLiteError).code;
          }
        })
        [begin]();
    expect(whileOpen("immediate")).toBe("SQLITE_BUSY");
    expect(whileOpen("deferred")).toBe("went through");
  });

  test("a deferred transaction that has read cannot write after another commit, whatever busy_timeout says", () => {
    const [a, b] = pair();
    a.run("PRAGMA busy_timeout = 600000");
    const upgrade = a.transaction(() => {
      a.query("SELECT n FROM t").get();
      b.run("UPDATE t SET n = n + 1");
      a.run("UPDATE t SET n = n + 1");
    });
    expect(thrownBy(() => upgrade.deferred()).code).toBe("SQLITE_BUSY_SNAPSHOT");
  });

  test("immediate transactions of several processes wait for each other and lose nothing", async () => {
    const path = place("counter.db");
    const database = new Database(path, { create: true, readwrite: true });
    database.run("PRAGMA journal_mode = WAL");
    database.run("CREATE TABLE counter (n INTEGER) STRICT");
    database.run("INSERT INTO counter VALUES (0)");
    const children = Array.from({ length: 4 }, () => Bun.spawn([probe, "count-up", path], { env: cleanEnv() }));
    expect(await Promise.all(children.map((child) => child.exited))).toEqual([0, 0, 0, 0]);
    expect(database.query("SELECT n FROM counter").get()).toEqual({ n: 100 });
  }, 60_000);

  test('query("A; B").run() runs only A', () => {
    const db = one();
    db.query("UPDATE t SET n = 1; UPDATE t SET n = 2").run();
    expect(db.query("SELECT n FROM t").get()).toEqual({ n: 1 });
  });

  test("exec() runs every statement of a text", () => {
    const db = one();
    db.exec("UPDATE t SET n = 1; UPDATE t SET n = 2");
    expect(db.query("SELECT n FROM t").get()).toEqual({ n: 2 });
  });

  test("a Database is created where there is none, unless it is opened readwrite only", () => {
    const path = place("new.db");
    expect(thrownBy(() => new Database(path, { readwrite: true })).code).toBe("SQLITE_CANTOPEN");
    expect(fs.existsSync(path)).toBe(false);
    new Database(path).close();
    expect(fs.existsSync(path)).toBe(true);
  });

  test("a new database file has mode 0644 under the usual umask", () => {
    const before = process.umask(0o022);
    try {
      const path = place("mode.db");
      new Database(path).run("CREATE TABLE t (n)");
      expect(fs.statSync(path).mode & 0o777).toBe(0o644);
    } finally {
      process.umask(before);
    }
  });

  test("foreign_keys is 0 on each connection, and stays so after another one set it", () => {
    const [a, b] = pair();
    a.run("PRAGMA foreign_keys = ON");
    expect(a.query("PRAGMA foreign_keys").get()).toEqual({ foreign_keys: 1 });
    expect(b.query("PRAGMA foreign_keys").get()).toEqual({ foreign_keys: 0 });
  });

  test("busy_timeout is 0 and synchronous is FULL on a new connection", () => {
    const db = one();
    expect(db.query("PRAGMA busy_timeout").get()).toEqual({ timeout: 0 });
    expect(db.query("PRAGMA synchronous").get()).toEqual({ synchronous: 2 });
  });

  test("undefined and NaN are bound as NULL, true as 1", () => {
    const db = one();
    const stored = (value: unknown) => db.query("SELECT $v AS v").get({ v: value } as never);
    expect([undefined, Number.NaN, true].map(stored)).toEqual([{ v: null }, { v: null }, { v: 1 }]);
  });

  test("strict throws on a missing parameter and ignores one too many", () => {
    const db = one();
    expect(() => db.query("UPDATE t SET n = $n").run({})).toThrow();
    db.query("UPDATE t SET n = $n").run({ n: 1, extra: 2 });
    expect(db.query("SELECT n FROM t").get()).toEqual({ n: 1 });
  });

  test("an integer above 2^53 comes back rounded, as text whole", () => {
    const db = one();
    db.run("UPDATE t SET n = 9007199254740993, s = '9007199254740993'");
    expect(db.query("SELECT n, s FROM t").get()).toEqual({ n: 9007199254740992, s: "9007199254740993" });
  });

  test("an unknown name in double quotes is a text", () => {
    expect(one().query('SELECT "nosuchcolumn" AS v').get()).toEqual({ v: "nosuchcolumn" });
  });

  test("a text with a NUL is kept whole, a lone surrogate is not", () => {
    const db = one();
    const back = (text: string) => {
      db.query("UPDATE t SET s = $text").run({ text });
      return (db.query("SELECT s FROM t").get() as { s: string }).s;
    };
    expect(back("a\0b")).toBe("a\0b");
    expect(back("a\ud800b")).toBe("a\ufffdb");
  });

  test("an async function given to transaction() is committed at its first await", async () => {
    const [a, b] = pair();
    const change = a.transaction(async () => {
      a.run("UPDATE t SET n = 7");
      await Promise.resolve();
      throw new Error("too late");
    });
    await expect(change.immediate()).rejects.toThrow("too late");
    expect(b.query("SELECT n FROM t").get()).toEqual({ n: 7 });
  });

  test("a transaction inside another rolls back alone", () => {
    const db = one();
    db.transaction(() => {
      db.run("UPDATE t SET n = 1");
      const inner = db.transaction(() => {
        db.run("UPDATE t SET n = 2");
        throw new Error("inner");
      });
      expect(() => inner()).toThrow("inner");
    }).immediate();
    expect(db.query("SELECT n FROM t").get()).toEqual({ n: 1 });
  });

  test.each([
    { code: "SQLITE_NOTADB", cause: (path: string) => fs.writeFileSync(path, "no database ".repeat(200)) },
    { code: "SQLITE_CANTOPEN", cause: (path: string) => fs.mkdirSync(path) },
  ])("a file that is none of ours is told by $code", ({ code, cause }) => {
    const path = place("other.db");
    cause(path);
    const error = thrownBy(() => new Database(path, { readwrite: true }).query("SELECT * FROM sqlite_schema").all());
    expect(error).toBeInstanceOf(SQLiteError);
    expect(error.code).toBe(code);
  });

  test("a broken constraint is told by its code", () => {
    const db = one();
    db.run("CREATE TABLE u (id TEXT PRIMARY KEY) STRICT");
    db.run("INSERT INTO u VALUES ('a')");
    expect(thrownBy(() => db.run("INSERT INTO u VALUES ('a')")).code).toBe("SQLITE_CONSTRAINT_PRIMARYKEY");
  });
});

describe("files", () => {
  test("rename() over a link replaces the link and leaves its target alone", () => {
    const [target, link, fresh] = [place("target"), place("link"), place("fresh")];
    fs.writeFileSync(target, "target");
    fs.symlinkSync(target, link);
    fs.writeFileSync(fresh, "fresh");
    fs.renameSync(fresh, link);
    expect(fs.lstatSync(link).isSymbolicLink()).toBe(false);
    expect([fs.readFileSync(link, "utf8"), fs.readFileSync(target, "utf8")]).toEqual(["fresh", "target"]);
  });

  test('"wx" refuses a dangling link, "w" creates its target', () => {
    const [target, link] = [place("absent"), place("dangling")];
    fs.symlinkSync(target, link);
    expect(thrownBy(() => fs.openSync(link, "wx")).code).toBe("EEXIST");
    fs.closeSync(fs.openSync(link, "w"));
    expect(fs.existsSync(target)).toBe(true);
  });

  test("a folder can be opened and flushed", () => {
    const handle = fs.openSync(folder, "r");
    fs.fsyncSync(handle);
    fs.closeSync(handle);
  });
});

describe("running other programs", () => {
  test.each([
    { what: "a missing program", argv: ["/no/such/program"], cwd: "/" },
    { what: "a missing folder", argv: ["/bin/sh"], cwd: "/no/such/folder" },
  ])("$what is thrown as ENOENT by Bun.spawn itself", ({ argv, cwd }) => {
    expect(thrownBy(() => Bun.spawn([...argv], { cwd })).code).toBe("ENOENT");
  });

  test("a file that is not executable is thrown as EACCES", () => {
    const path = place("plain");
    fs.writeFileSync(path, "text", { mode: 0o644 });
    expect(thrownBy(() => Bun.spawn([path])).code).toBe("EACCES");
  });

  test("a child killed by a signal has exited 128+n, no exitCode, and the name of the signal", async () => {
    const child = Bun.spawn(["/bin/sh", "-c", "kill -9 $$"]);
    expect(await child.exited).toBe(137);
    expect([child.exitCode, child.signalCode]).toEqual([null, "SIGKILL"]);
  });

  test("a child that ends by itself has its status in both", async () => {
    const child = Bun.spawn(["/bin/sh", "-c", "exit 137"]);
    expect(await child.exited).toBe(137);
    expect([child.exitCode, child.signalCode]).toEqual([137, null]);
  });

  test(`sh -c 'exec "$@" 2>&1' keeps the order of the two streams, the arguments and the status`, async () => {
    const script = 'i=0; while [ $i -lt 200 ]; do echo "o$i"; echo "e$i" >&2; i=$((i+1)); done; echo "$1"; exit 5';
    const argv = ["/bin/sh", "-c", 'exec "$@" 2>&1', "sh", "/bin/sh", "-c", script, "sh", "a  'b\" $c"];
    const child = Bun.spawn(argv, { stdio: ["ignore", "pipe", "ignore"] });
    const lines = (await new Response(child.stdout).text()).trimEnd().split("\n");
    expect(await child.exited).toBe(5);
    expect(lines).toEqual([...Array.from({ length: 200 }, (_, i) => [`o${i}`, `e${i}`]).flat(), "a  'b\" $c"]);
  });

  test("through that shell a missing program ends in 127 and one that is not executable in 126", async () => {
    const path = place("plain");
    fs.writeFileSync(path, "text", { mode: 0o644 });
    const status = (program: string) =>
      Bun.spawnSync(["/bin/sh", "-c", 'exec "$@" 2>&1', "sh", program], { stdio: ["ignore", "pipe", "pipe"] }).exitCode;
    expect([status("/no/such/program"), status(path)]).toEqual([127, 126]);
  });

  test("a child has ended while something it started still holds its output open", async () => {
    const child = Bun.spawn(["/bin/sh", "-c", "sleep 30 & echo $!"], { stdio: ["ignore", "pipe", "ignore"] });
    const reader = child.stdout.getReader();
    const first = await reader.read();
    const grandchild = Number(new TextDecoder().decode(first.value));
    const rest = reader.read().then(() => "end of pipe");
    expect(await Promise.race([rest, child.exited])).toBe(0);
    process.kill(grandchild, "SIGKILL");
    expect(await rest).toBe("end of pipe");
  });

  test("a detached child leads a process group that one signal ends whole", async () => {
    const child = Bun.spawn(["/bin/sh", "-c", "sleep 30 & wait"], {
      stdio: ["ignore", "pipe", "ignore"],
      detached: true,
    });
    process.kill(-child.pid, "SIGKILL");
    expect(await new Response(child.stdout).text()).toBe("");
    expect(await child.exited).toBe(137);
  });

  test("a child with a terminal sees one, in the size that was asked for", async () => {
    let seen = "";
    const data = (_: unknown, chunk: Uint8Array) => {
      seen += new TextDecoder().decode(chunk);
    };
    const script = "test -t 0 && test -t 1 && test -t 2 && stty size";
    const child = Bun.spawn(["/bin/sh", "-c", script], { terminal: { cols: 91, rows: 17, data } });
    expect(await child.exited).toBe(0);
    expect(seen.trim()).toBe("17 91");
  });
});

describe("the executable", () => {
  /** A folder that tries to inject: a `.env` and a `bunfig.toml` with a preload. */
  function hostileFolder(): string {
    const cwd = place("hostile");
    fs.mkdirSync(cwd);
    fs.writeFileSync(join(cwd, ".env"), "FACT_DOTENV=read\n");
    fs.writeFileSync(join(cwd, "bunfig.toml"), 'preload = ["./preload.ts"]\n');
    fs.writeFileSync(join(cwd, "preload.ts"), "globalThis.factPreloaded = true;\n");
    const show =
      'JSON.stringify({ dotenv: process.env.FACT_DOTENV ?? null, preloaded: "factPreloaded" in globalThis })';
    fs.writeFileSync(join(cwd, "show.ts"), `console.log(${show});\n`);
    return cwd;
  }

  test("ignores .env and bunfig.toml of the folder it is started in", () => {
    const { stdout } = runProbe(["environment"], { cwd: hostileFolder() });
    expect(JSON.parse(stdout)).toEqual({ dotenv: null, preloaded: false });
  });

  test("reads both when BUN_BE_BUN makes it Bun", () => {
    const { stdout } = runProbe(["run", "./show.ts"], { cwd: hostileFolder(), env: { BUN_BE_BUN: "1" } });
    expect(JSON.parse(stdout)).toEqual({ dotenv: "read", preloaded: true });
  });

  test.each(["--preload ./preload.ts", "--version", "--nonsense", "--"])(
    "takes no option from BUN_OPTIONS=%p, since its own options end before it",
    (BUN_OPTIONS) => {
      const { stdout } = runProbe(["environment"], { cwd: hostileFolder(), env: { BUN_OPTIONS } });
      expect(JSON.parse(stdout)).toEqual({ dotenv: null, preloaded: false });
    },
  );

  test("is still open to BUN_INSPECT_PRELOAD, which no build flag closes", () => {
    const env = { BUN_INSPECT_PRELOAD: "./preload.ts" };
    const { stdout } = runProbe(["environment"], { cwd: hostileFolder(), env });
    expect(JSON.parse(stdout)).toEqual({ dotenv: null, preloaded: true });
  });

  test("does not begin with a BUN_JSC_ variable that its engine does not know", () => {
    const { status, stdout } = runProbe(["--version"], { env: { BUN_JSC_noSuchOption: "1" } });
    expect([status, stdout]).toEqual([1, ""]);
  });

  test("begins in a folder that was deleted", () => {
    const script = 'mkdir "$1" && cd "$1" && rmdir "$1" && exec "$2" --version';
    const child = Bun.spawnSync(["/bin/sh", "-c", script, "sh", place("gone"), probe], { env: cleanEnv() });
    expect([child.stdout.toString(), child.stderr.toString()]).toEqual(["probe\n", ""]);
  });

  test("is Bun where BUN_BE_BUN is 1, and itself where it is 0 or empty", () => {
    const version = (value: string) => runProbe(["--version"], { env: { BUN_BE_BUN: value } }).stdout.trim();
    expect(["1", "0", ""].map(version)).toEqual([Bun.version, "probe", "probe"]);
  });

  test("hands BUN_BE_BUN on to its children, unless it is taken out of their environment", () => {
    const { stdout } = runProbe([PROBE_SOURCE, "child-of-bun"], { env: { BUN_BE_BUN: "1" } });
    expect(JSON.parse(stdout)).toEqual({ inherited: Bun.version, removed: "probe" });
  });

  test("as Bun runs tests with no home, no PATH and nothing installed", () => {
    const cwd = place("tests");
    fs.mkdirSync(cwd);
    fs.writeFileSync(
      join(cwd, "a.test.ts"),
      'import { expect, test } from "bun:test"; test("a", () => expect(1).toBe(2));',
    );
    const child = Bun.spawnSync([probe, "test"], { cwd, env: { BUN_BE_BUN: "1" } });
    expect(child.exitCode).toBe(1);
    expect(child.stderr.toString()).toContain(" 1 fail");
  });

  test("holds the text of an imported .sql file", () => {
    expect(JSON.parse(runProbe(["sql"]).stdout)).toEqual([{ id: 1, text: "kept" }]);
  });

  test("ends by itself after reading a document while its input stays open", async () => {
    const child = Bun.spawn([probe, "first-chunk"], { stdio: ["pipe", "pipe", "pipe"], env: cleanEnv() });
    child.stdin.write('{"a":1}');
    await child.stdin.flush();
    expect(await new Response(child.stdout).text()).toBe('{"a":1}\n');
    expect(await child.exited).toBe(0);
    child.stdin.end();
  });
});

describe("printing", () => {
  /** Runs the probe into a pipe whose reader begins late; what arrived, in bytes. */
  function bytesAtSlowReader(mode: string): number {
    const script = '"$1" "$2" | { sleep 0.3; wc -c; }';
    const child = Bun.spawnSync(["/bin/sh", "-c", script, "sh", probe, mode], { env: cleanEnv() });
    return Number(child.stdout.toString());
  }

  test("console.log is complete, also with process.exit behind it", () => {
    expect(bytesAtSlowReader("console-log")).toBe(BIG_BYTES + 1);
  });

  test("process.stdout.write is complete when the program returns", () => {
    expect(bytesAtSlowReader("stdout-write-return")).toBe(BIG_BYTES);
  });

  test.skipIf(process.platform !== "linux")("process.stdout.write with process.exit behind it is cut (Linux)", () => {
    expect(bytesAtSlowReader("stdout-write-exit")).toBe(PIPE_BYTES);
  });

  test("fs.writeSync throws EAGAIN on a full pipe once process.stdout has made it non-blocking", () => {
    const path = place("pipe");
    expect(Bun.spawnSync(["mkfifo", path]).exitCode).toBe(0);
    // Opened at both ends, so that it fills up and nobody ever reads.
    const pipe = fs.openSync(path, "r+");
    const child = Bun.spawnSync([probe, "write-sync"], { stdio: ["ignore", pipe, "pipe"], env: cleanEnv() });
    fs.closeSync(pipe);
    const { written, code } = JSON.parse(child.stderr.toString());
    expect(code).toBe("EAGAIN");
    expect(written).toBeLessThan(BIG_BYTES);
  });

  test("console.log ends quietly in 0 when nobody reads any more", () => {
    const script = '{ "$1" console-lines; echo "status $?" >&2; } | head -n 1';
    const child = Bun.spawnSync(["/bin/sh", "-c", script, "sh", probe], { env: cleanEnv() });
    expect([child.stdout.toString(), child.stderr.toString()]).toEqual(["line 0\n", "status 0\n"]);
  });
});

describe("text", () => {
  test("stripANSI takes colours and links away and leaves \\r, \\b and bidi controls", () => {
    expect(Bun.stripANSI("\x1b[31mred\x1b[0m \x1b]8;;http://a\x07b\x1b]8;;\x07")).toBe("red b");
    expect(Bun.stripANSI("a\rb\bc\u202ed")).toBe("a\rb\bc\u202ed");
  });

  test("JSON.parse takes the last of two equal keys and rounds a big integer", () => {
    expect(JSON.parse('{"a":1,"a":9007199254740993}')).toEqual({ a: 9007199254740992 });
  });
});
