import { expect, test } from "bun:test";
import fc from "fast-check";
import { readToolPath, readWritePath } from "../../../src/core/patch/write-path.ts";

test.each([
  ["a.txt", "a.txt"],
  [".", "."],
  ["./", "."],
  ["./a//b/./c/", "a/b/c"],
  ["a\\b.txt", "a/b.txt"],
  ["..a/...b", "..a/...b"],
  ["日本/😀 x", "日本/😀 x"],
  ["xy:z", "xy:z"],
])("readToolPath() takes %p as %p", (written, path) => {
  expect(readToolPath(written)).toEqual({ ok: true, path });
});

test.each([
  ["", "is empty"],
  ["a\0b", "contains NUL"],
  ["/etc/passwd", "is absolute"],
  ["\\\\host\\share", "is absolute"],
  ["C:/x", "names a drive"],
  ["c:x", "names a drive"],
  ["./C:/x", "names a drive"],
  [".//c:", "names a drive"],
  ["..", 'has a segment ".."'],
  ["a/../b", 'has a segment ".."'],
  ["a\\..\\b", 'has a segment ".."'],
  ["half \ud83d", "half of a character"],
  ["x".repeat(1025), "has 1025 bytes; at most 1024 are allowed"],
])("readToolPath() says that %p %p", (written, says) => {
  const read = readToolPath(written);
  expect(read.ok ? null : read.reason).toContain(says);
});

test.each([
  ["a.txt", ".", "a.txt"],
  ["work/a", "work", "work/a"],
  ["./work//a", "work", "work/a"],
  ["work\\sub\\a", "work", "work/sub/a"],
  ["w/x/y", "w/x", "w/x/y"],
  [".env", ".", ".env"],
  [".gitignore", ".", ".gitignore"],
  ["a.git/x", ".", "a.git/x"],
  ["com0", ".", "com0"],
  ["com10.txt", ".", "com10.txt"],
  ["console.md", ".", "console.md"],
  [" leading", ".", " leading"],
  ["日本/é", ".", "日本/é"],
  [`${"s".repeat(255)}/x`, ".", `${"s".repeat(255)}/x`],
  [`${`${"s".repeat(203)}/`.repeat(5)}last`, ".", `${`${"s".repeat(203)}/`.repeat(5)}last`],
])("readWritePath() takes %p under %p", (written, root, path) => {
  expect(readWritePath(written, root)).toEqual({ ok: true, path });
});

test.each([
  ["a.txt", "work", 'is outside of the write root "work"'],
  ["workshop/a", "work", "is outside of the write root"],
  ["Work/a", "work", "is outside of the write root"],
  ["work", "work", "is outside of the write root"],
  [".", ".", "names a folder"],
  ["a/", ".", "names a folder"],
  ["a/.", ".", "names a folder"],
  ["/a", ".", "is absolute"],
  ["C:\\a", ".", "names a drive"],
  ["../a", ".", 'has a segment ".."'],
  ["work/../a", "work", 'has a segment ".."'],
  ["a\tb", ".", "the control character U+0009"],
  ["a\nb", ".", "the control character U+000A"],
  ["a\rb", ".", "the control character U+000D"],
  ["a\u007fb", ".", "the control character U+007F"],
  ['a"b', ".", `the character '"'`],
  ["a<b", ".", 'the character "<"'],
  ["a>b", ".", 'the character ">"'],
  ["a|b", ".", 'the character "|"'],
  ["a?b", ".", 'the character "?"'],
  ["a*b", ".", 'the character "*"'],
  ["ab:c", ".", 'the character ":"'],
  [".git/config", ".", 'has the segment ".git", which is Git\'s own'],
  ["a/.GIT/x", ".", 'has the segment ".GIT"'],
  ["a/.git", ".", 'has the segment ".git"'],
  ["GIT~1/x", ".", 'has the segment "GIT~1"'],
  [".g\u200cit/x", ".", "Git's own"],
  ["a./b", ".", "ends in a dot"],
  ["a /b", ".", "ends in a space"],
  ["a.git./b", ".", "ends in a dot"],
  [".git./b", ".", "ends in a dot"],
  ["a/nul", ".", 'names the device "nul"'],
  ["CON.txt/a", ".", 'names the device "CON"'],
  ["com1.tar.gz", ".", 'names the device "com1"'],
  ["lpt9", ".", 'names the device "lpt9"'],
  [`${"s".repeat(256)}/x`, ".", "has a segment of 256 bytes"],
  [`${"é".repeat(128)}/x`, ".", "has a segment of 256 bytes"],
  [`${`${"s".repeat(203)}/`.repeat(5)}lasts`, ".", "has 1025 bytes"],
])("readWritePath() refuses %p under %p: it %p", (written, root, says) => {
  const read = readWritePath(written, root);
  expect(read.ok ? null : read.reason).toContain(says);
});

test("readWritePath() gives a path that it takes again as it is, whatever was written", () => {
  const piece = fc.constantFrom("a", "b c", ".", "..", "", "/", "\\", ".git", "nul", "é", ":", " ", "\0", "\ud800");
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const read = readWritePath(pieces.join(""), ".");
      if (!read.ok) return;
      expect(readWritePath(read.path, ".")).toEqual(read);
      expect(read.path.split("/")).not.toContain("");
      expect(read.path).not.toMatch(/^\/|\\|(^|\/)\.{1,2}(\/|$)/);
    }),
  );
});
