import { describe, expect, test } from "bun:test";
import { speedTerm, undoEscapes } from "../../../src/core/delegation/speed.ts";

describe("speedTerm()", () => {
  test.each([
    { line: "contains:faster than before", term: "faster" },
    { line: "contains:within (90 s)", term: "90 s" },
    { line: "contains:90µs", term: "90µs" },
    { line: "contains:3.5 ms", term: "3.5 ms" },
    { line: "regex:@field=wall_ms:[0-9]+", term: "wall_ms" }, // the field name is scanned too
    { line: "regex:@answer:tok\\/s", term: "tok/s" },
    { line: "regex:90[\\/]s|tok[/]s", term: "tok/s" },
    { line: "regex:90\\x20s", term: "90 s" },
    { line: "regex:\\b90\\b\\s?ms", term: "90 ms" },
    { line: "diff_touches:src/latency", term: "latency" },
    { line: "fast", term: null }, // no colon, no check
    { line: "regex:90", term: null },
    { line: "regex:fast_path|FastPath|timeout_sec", term: null },
    { line: "contains:90\\ss", term: null }, // escapes are undone in patterns only
    { line: "contains:v1.90s", term: null },
    { line: "contains:second finding", term: null },
    { line: "regex:9[01] s", term: null },
  ])("of $line is $term", ({ line, term }) => {
    expect(speedTerm(line)).toBe(term);
  });
});

/** A term for each alternative of the patterns. */
const TERMS = [
  ..."fast faster fastest quick quicker quickest quickly slow slower slowest slowly slowness speed speeds speedy".split(
    " ",
  ),
  ..."speedier speediest speedup speedups rapid rapidly swift swiftly latency latencies throughput elapsed".split(" "),
  ..."duration durations deadline deadlines timeout time-outs ttft wall_time wall-clock wallms".split(" "),
  "wall secs,wall seconds,run time,response-time,turnaround times,completion_time,execution time,processing times".split(
    ",",
  ),
  "time limit,time-budget,time_taken,in time,on  time,9 ns,9us,9.5 µs,9.5 ms,9 msec,9 milliseconds,9s".split(","),
  "9 secs,9 seconds,9 min,9 minutes,9h,9 hrs,9\thours,tok/s,tokens / sec,t/s,its/min,iteration/h,reqs/s".split(","),
  "rows/hour,doc/s,items/minute,op/s,words/sec,char/s,bytes/s,kib/s,mb/s,tps,qps,rps,per ns,per  second".split(","),
  "per hour,a second,each minute,every hour,milliseconds,seconds,minutes,hours".split(","),
].flat();

test("every speed term is found, in whatever letters it is written", () => {
  // Inside of a word: at its edges such a letter is none.
  const odd = (term: string) => term.replace(/\Bs\B/g, "\u017f").replace(/\Bk\B/g, "\u212a");
  for (const term of TERMS) {
    for (const spelled of [term, term.toUpperCase(), odd(term)]) {
      expect([spelled, speedTerm(`contains:(${spelled})`) !== null]).toEqual([spelled, true]);
    }
  }
});

describe("undoEscapes()", () => {
  test.each([
    { pattern: "a\\tb\\nc\\vd", text: "a b c d" },
    { pattern: "\\Aa\\b\\B\\z", text: "a" },
    { pattern: "\\Qa+b\\E+", text: "a+b+" },
    { pattern: "\\Qa+b", text: "a+b" },
    { pattern: "a\\E", text: "a" },
    { pattern: "\\x41\\x{1F600}\\101\\0", text: "A😀A\0" },
    { pattern: "\\.\\/\\-\\ ", text: "./- " },
    { pattern: "\\d\\w\\pL\\8", text: "\\d\\w\\pL\\8" },
    { pattern: "[/][ ][\\/][\\x2f][]]", text: "/ //]" },
    { pattern: "[ab][^a][\\d][\\s]", text: "[ab][^a][\\d][ ]" },
    { pattern: "a +?b \\s*c", text: "a b  c" },
    { pattern: "(?i)(a|b)+", text: "(?i)(a|b)+" },
    { pattern: "a\\", text: "a\\" },
    { pattern: "[", text: "[" },
    { pattern: "", text: "" },
  ])("of $pattern", ({ pattern, text }) => {
    expect(undoEscapes(pattern)).toBe(text);
  });
});
