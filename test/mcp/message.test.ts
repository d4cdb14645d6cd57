import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { readLine } from "../../src/mcp/message.ts";

const read = (text: string) => readLine(new TextEncoder().encode(text));

/** The one fault of a line. */
function faultOf(text: string): readonly [number, unknown] {
  const { messages } = read(text);
  const [message] = messages;
  if (message?.kind !== "fault" || messages.length > 1) throw new Error(`no fault: ${JSON.stringify(messages)}`);
  return [message.code, message.id];
}

describe("readLine()", () => {
  test("reads a request, a notification and an answer", () => {
    expect(read('{"jsonrpc":"2.0","id":"a","method":"ping"}').messages).toEqual([
      { kind: "request", id: "a", method: "ping", params: undefined, arguments: "{}" },
    ]);
    expect(read('{"jsonrpc":"2.0","method":"x","params":{"a":[1]}}').messages).toEqual([
      { kind: "notification", method: "x", params: { a: [1] } },
    ]);
    expect(read('{"jsonrpc":"2.0","id":1,"result":{}}').messages).toEqual([{ kind: "answer" }]);
  });

  test("keeps the arguments of a call as they are written, and takes them out of the params", () => {
    const text =
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments": {"a":1,"a":1e400} ,"_meta":{"progressToken":7}}}';
    expect(read(text).messages).toEqual([
      {
        kind: "request",
        id: 1,
        method: "tools/call",
        params: { name: "t", _meta: { progressToken: 7 } },
        arguments: '{"a":1,"a":1e400}',
      },
    ]);
  });

  test.each([
    ["nonsense", -32700, null],
    ["", -32700, null],
    ['{"jsonrpc":"2.0"', -32700, null],
    ["17", -32600, null],
    ["null", -32600, null],
    ["[]", -32600, null],
    ["{}", -32600, null],
    ['{"jsonrpc":"1.0","id":4,"method":"ping"}', -32600, 4],
    ['{"id":"four","method":"ping"}', -32600, "four"],
    ['{"jsonrpc":"2.0","id":4}', -32600, 4],
    ['{"jsonrpc":"2.0","id":4,"method":5}', -32600, 4],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, null],
    ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, null],
    ['{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}', -32600, null],
    ['{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}', -32600, null],
    ['{"jsonrpc":"2.0","id":1,"id":1,"method":"ping"}', -32600, 1],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32602, 1],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/call"}', -32602, 1],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}', -32602, 1],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","name":"b"}}', -32602, 1],
  ])("answers %s with %d to %p", (text, code, id) => {
    expect(faultOf(text)).toEqual([code, id]);
  });

  test("refuses bytes that are no UTF-8", () => {
    const [message] = readLine(Uint8Array.of(0x22, 0xff, 0x22)).messages;
    expect(message).toMatchObject({ kind: "fault", code: -32700, message: expect.stringContaining("Byte 1") });
  });

  test("reads a list of messages, each by itself", () => {
    const { isBatch, messages } = read('[{"jsonrpc":"2.0","id":1,"method":"a"},7,{"jsonrpc":"2.0","method":"b"}]');
    expect(isBatch).toBeTrue();
    expect(messages.map(({ kind }) => kind)).toEqual(["request", "fault", "notification"]);
    expect(faultOf(`[${Array.from({ length: 65 }, () => "1").join(",")}]`)).toEqual([-32600, null]);
  });

  test("is not held up by any depth", () => {
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    const [message] = read(
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"a":${deep}}}}`,
    ).messages;
    expect(message?.kind === "request" && message.arguments.length).toBe(deep.length + 6);
  });

  test("reads any line without throwing", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => void readLine(bytes)));
    fc.assert(fc.property(fc.json(), (text) => void read(text)));
  });
});
