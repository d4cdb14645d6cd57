import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { RECOVERED_ENTRIES, readTranscript } from "../../../src/core/record/transcript.ts";

const assistant = (content: unknown, stop_reason: unknown = null) =>
  JSON.stringify({ type: "assistant", message: { role: "assistant", content, stop_reason } });
const bash = (command: unknown) => ({ type: "tool_use", name: "Bash", input: { command } });
const read = (file_path: unknown) => ({ type: "tool_use", name: "Read", input: { file_path } });

describe("readTranscript()", () => {
  test("gives the commands and paths, each once, in order, and why the last message ended", () => {
    const lines = [
      assistant([{ type: "text", text: "npm install" }, bash("npm test"), read("/a.ts")], "tool_use"),
      JSON.stringify({ type: "user", message: { role: "user", content: [{ type: "tool_result" }], stop_reason: "x" } }),
      assistant([
        bash("ls"),
        bash("npm test"),
        read("/b.ts"),
        { type: "tool_use", name: "Edit", input: { file_path: "/c" } },
      ]),
      assistant("text", "max_tokens"),
    ];
    expect(readTranscript(lines)).toEqual({
      commands: ["npm test", "ls"],
      paths: ["/a.ts", "/b.ts"],
      stop_reason: "max_tokens",
    });
  });

  test("skips lines that are no JSON or of another shape, and blank or wrong values", () => {
    const lines = ["", "{", "null", "[]", "3", '{"message":1}', '{"message":{"content":{}}}'];
    const shapes = [
      bash(" "),
      bash(3),
      read(null),
      { type: "tool_use", name: "Bash" },
      { name: "Bash", input: { command: "x" } },
      null,
    ];
    expect(readTranscript([...lines, assistant(shapes), '{"message":{"content":[{"type":"tool_u'])).toEqual({
      commands: [],
      paths: [],
      stop_reason: null,
    });
  });

  test("does not take an earlier message's end for the last one's", () => {
    expect(readTranscript([assistant([], "max_tokens"), assistant([], null)]).stop_reason).toBeNull();
    expect(readTranscript([assistant([], "max_tokens"), assistant([], 3)]).stop_reason).toBeNull();
  });

  test.each([
    { type: "assistant", message: { stop_reason: "max_tokens" } },
    { message: { role: "assistant", stop_reason: "max_tokens" } },
  ])("knows the assistant by %j", (line) => {
    expect(readTranscript([JSON.stringify(line)]).stop_reason).toBe("max_tokens");
  });

  test("skips a line beyond any real one's length", () => {
    expect(readTranscript([" ".repeat(16 * 1024 * 1024) + assistant([bash("ls")])]).commands).toEqual([]);
  });

  test("keeps the first entries of a long turn and still reads its end", () => {
    const lines = Array.from({ length: RECOVERED_ENTRIES + 5 }, (_, index) =>
      assistant([bash(`c${index}`), read(`p${index}`)]),
    );
    const { commands, paths, stop_reason } = readTranscript([...lines, assistant([], "end_turn")]);
    expect(commands).toHaveLength(RECOVERED_ENTRIES);
    expect(paths).toHaveLength(RECOVERED_ENTRIES);
    expect(commands.at(-1)).toBe(`c${RECOVERED_ENTRIES - 1}`);
    expect(stop_reason).toBe("end_turn");
  });

  test("reads any lines", () => {
    const line = fc.oneof(
      fc.string(),
      fc.json(),
      fc.jsonValue().map((content) => assistant(content)),
      fc.jsonValue().map((block) => assistant([block])),
    );
    fc.assert(fc.property(fc.array(line), (lines) => void readTranscript(lines)));
  });
});
