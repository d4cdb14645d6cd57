import { expect, test } from "bun:test";
import { readFault, writeFault } from "../../src/core/file-fault.ts";

const failed = (code: string, message = `${code}: what the system says, open '/a/b'`) =>
  Object.assign(new Error(message), { code });

test.each([
  ["ENOENT", "there is no such file", "its folder is not there"],
  ["ENOTDIR", "there is no such file", "a file stands where a folder is due"],
  ["EACCES", "it may not be read by this user", "this user may not write there"],
  ["EISDIR", "it is a folder", "it is a folder"],
  ["ELOOP", "its links lead in a circle", "its links lead in a circle"],
  ["ENOSPC", "ENOSPC: what the system says", "there is no room left for it"],
  ["EROFS", "EROFS: what the system says", "nothing can be written there: it is read-only"],
  ["EIO", "EIO: what the system says", "EIO: what the system says"],
])("%s is told in words, without the system's call and path", (code, read, write) => {
  expect([readFault(failed(code)), writeFault(failed(code))]).toEqual([read, write]);
});

test("what is no fault of the system keeps its words", () => {
  expect(readFault(new Error("it is odd, and so is that"))).toBe("it is odd, and so is that");
  expect(writeFault(failed("state_failed", "Cannot make it"))).toBe("Cannot make it");
  expect(readFault("thrown")).toBe("thrown");
});
