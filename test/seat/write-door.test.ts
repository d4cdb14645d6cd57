import { describe, expect, test } from "bun:test";
import { calling, play, type Reply, type Script, said, slowly } from "../support/seat-world.ts";

const context = [{ name: "src/a.ts", text: "let lo = 1;\nlet hi = 2;\n" }];

function writing(replies: readonly Reply[], more: Partial<Script> = {}) {
  return play({ ...more, replies, contract: { context, write_root: ".", ...more.contract } });
}

const write = (path: string, content: string): Reply => calling(["write_file", { path, content }]);
const edit = (old_string: string, new_string: string, path = "src/a.ts"): Reply =>
  calling(["edit_file", { path, old_string, new_string }]);
const answers = (requests: Awaited<ReturnType<typeof play>>["requests"]) =>
  said(requests.at(-1)).filter((line) => line.startsWith("tool:"));

test("what a seat edits comes back as a diff", async () => {
  const { result, requests } = await writing([edit("hi = 2", "hi = 3"), "done"]);
  expect(answers(requests)).toEqual(["tool: edited src/a.ts (1 replacement, 24→24 bytes)"]);
  expect(result).toMatchObject({
    output: "done",
    diff: "diff --git a/src/a.ts b/src/a.ts\n--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1,2 +1,2 @@\n let lo = 1;\n-let hi = 2;\n+let hi = 3;\n",
    diff_files: ["src/a.ts"],
    write_note: "write door open on .: 1 file(s), 118 bytes of diff; not applied",
    deferred: false,
  });
});

test("what a seat writes anew comes back as a diff, with every file it needs", async () => {
  const { result, requests } = await writing([write("src\\new/b.ts", "é\n"), "done"]);
  expect(answers(requests)).toEqual(["tool: wrote 3 bytes to src/new/b.ts"]);
  expect(result.diff_files).toEqual(["src/new/b.ts"]);
});

test("a seat that wrote nothing, or what was there, has no diff", async () => {
  const nothing = await writing(["done"]);
  expect(nothing.result).toMatchObject({
    diff: "",
    diff_files: [],
    write_note: "write door open on .: the seat wrote nothing",
    deferred: false,
  });
  const back = await writing([edit("hi = 2", "hi = 3"), edit("hi = 3", "hi = 2"), "done"]);
  expect(back.result).toMatchObject({ diff: "", write_note: "write door open on .: the seat wrote nothing" });
});

describe("what a seat may not write is refused, and nothing is done", () => {
  test.each([
    ["out of the write root", write("src/a.ts", "x"), "is outside of the write root"],
    ["out of the workspace", write("../x", "x"), 'has a segment ".."'],
    ["into Git's folder", write("work/.git/config", "x"), "which is Git's own"],
    ["a text with NUL", write("work/x", "a\0b"), "the text contains NUL"],
    ["an edit out of the write root", edit("hi = 2", "hi = 3"), "is outside of the write root"],
  ])("%s", async (_, call, why) => {
    const { result, requests } = await writing([call, "done"], { contract: { context, write_root: "work" } });
    const [answer] = answers(requests);
    expect(answer).toStartWith("tool: NOT performed: ");
    expect(answer).toContain(why);
    expect(result).toMatchObject({ diff: "", trace: [{ status: "refused" }] });
  });
});

test("an edit that does not fit is answered with the lines that are there, and the next one can", async () => {
  const { result, requests } = await writing([
    edit("let high = 2;", "let hi = 3;"),
    edit("let hi = 2;", "let hi = 3;"),
    "done",
  ]);
  const [answer] = answers(requests);
  expect(answer).toStartWith(
    "tool: NOT performed: old_string is not in src/a.ts. The nearest lines are:\n1: let lo = 1;\n2: let hi = 2;\n",
  );
  expect(result.trace.map(({ status }) => status)).toEqual(["error", "ok"]);
  expect(result.diff_files).toEqual(["src/a.ts"]);
});

test("a file may be read again behind a write", async () => {
  const read = calling(["read_file", { path: "src/a.ts" }]);
  const { requests } = await writing([read, edit("hi = 2", "hi = 3"), read, "done"]);
  expect(answers(requests)[2]).toBe("tool: 1: let lo = 1;\n2: let hi = 3;");
});

describe("the budget of writes", () => {
  test("holds eight files, and says what is left", async () => {
    const { result, requests } = await writing([
      calling(...Array.from({ length: 8 }, (_, index) => ["write_file", { path: `f${index}`, content: "x" }] as const)),
      write("f8", "x"),
      write("f0", "y"),
      "done",
    ]);
    const [refused, rewritten] = answers(requests).slice(8);
    expect(refused).toStartWith("tool: NOT performed (write budget): ");
    expect(rewritten).toBe("tool: wrote 1 bytes to f0");
    expect(result.diff_files).toHaveLength(8);
    expect(result.write_note).toEndWith("; not applied; 1 write(s) refused by the budget");
  });

  test("holds 64 KiB of what the seat wrote: of an edit its new text alone", async () => {
    const big = "x".repeat(60 * 1024);
    const { requests } = await writing(
      [write("big", big), write("big", `${big}y`), edit("hi = 2", "hi = 3"), edit("hi = 3", "z".repeat(5000)), "done"],
      { seat: { ctx_tokens: 0 } },
    );
    const found = answers(requests).map((line) => line.slice(6, 40));
    expect(found[0]).toStartWith("wrote 61440 bytes");
    expect(found[1]).toStartWith("NOT performed (write budget): ");
    expect(found[2]).toStartWith("edited src/a.ts");
    expect(found[3]).toStartWith("NOT performed (write budget): ");
  });

  test("is not charged for what a rule refused", async () => {
    const { result } = await writing(
      [
        calling(
          ...Array.from({ length: 8 }, (_, index) => ["write_file", { path: `../f${index}`, content: "x" }] as const),
        ),
        write("ok", "x"),
        "done",
      ],
      {},
    );
    expect(result.diff_files).toEqual(["ok"]);
  });
});

describe("a run that does not finish", () => {
  test("still brings back what was written, and says so", async () => {
    const { result } = await writing([edit("hi = 2", "hi = 3"), slowly(400_000, "done")]);
    expect(result).toMatchObject({
      defer_class: "budget",
      reason: "wall timeout after 300s",
      diff_files: ["src/a.ts"],
      write_note: "write door open on .: 1 file(s), 118 bytes of diff; not applied; the run did not finish",
    });
  });

  test("because its form could not be made has not finished either", async () => {
    const { result } = await writing(
      [edit("hi = 2", "hi = 3"), "done", { kind: "died", status: null, message: "reset" }],
      {
        contract: {
          context,
          write_root: ".",
          output_schema: { properties: { a: { type: "string" } }, required: ["a"] },
        },
      },
    );
    expect(result).toMatchObject({ schema_miss: true, diff_files: ["src/a.ts"] });
    expect(result.write_note).toEndWith("; the run did not finish");
  });
});

test("past a cap nothing is published, and the leg is deferred", async () => {
  const lines = Array.from({ length: 40_000 }, (_, index) => `${index}\n`).join("");
  const { result } = await writing([write("src/a.ts", "small\n"), "done"], {
    contract: { context: [{ name: "src/a.ts", text: lines }], write_root: "." },
  });
  expect(result).toMatchObject({ deferred: true, defer_class: "write", diff: "", diff_files: [], output: "done" });
  expect(result.reason).toMatch(/^write cap exceeded: .* \d+ of \d+$/);
  expect(result.write_note).toContain("not published");
});

describe("a disk that takes no more", () => {
  const failing = (times: number): NonNullable<Script["workspace"]> => {
    let left = times;
    return (inner) => ({
      ...inner,
      write: (path, bytes, root) => {
        left -= 1;
        return left >= 0 ? { ok: false, kind: "failed", message: "no space left" } : inner.write(path, bytes, root);
      },
    });
  };

  test("is told to the seat, and the run goes on", async () => {
    const { result, requests } = await writing([write("x", "1"), write("x", "2"), "done"], { workspace: failing(1) });
    expect(answers(requests)).toEqual(["tool: error: no space left", "tool: wrote 1 bytes to x"]);
    expect(result.output).toBe("done");
  });

  test("again and again is a fault of the place", async () => {
    const { result, folders } = await writing([write("x", "1"), write("x", "2"), "done"], { workspace: failing(9) });
    expect(result).toMatchObject({
      defer_class: "infrastructure",
      reason: "agent loop: the folder of the job takes no more writes: no space left",
      steps: 2,
    });
    expect(folders.open).toBe(0);
  });
});
