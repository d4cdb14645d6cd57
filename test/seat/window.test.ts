import { describe, expect, test } from "bun:test";
import type { ChatOutcome } from "../../src/core/seat/endpoint.ts";
import { calling, play, said } from "../support/seat-world.ts";

/** Of a server that does not count: what is known of a text is its size. */
const read = (path: string) => ({ ...calling(["read_file", { path }]), usage: null });
const done = { content: "done", usage: null };
const usage = (prompt_tokens: number) => ({
  usage: { prompt_tokens, completion_tokens: 20, reasoning_tokens: 0, cached_tokens: 0 },
});
const tooLong = (n_ctx: number | null, n_prompt: number | null = null): ChatOutcome => ({
  kind: "too_long",
  n_ctx,
  n_prompt,
  message: "HTTP 400: too long",
});
const pages = (count: number, size: number) =>
  Array.from({ length: count }, (_, index) => ({
    name: `${index}.md`,
    text: `${index}\n${"some words, and then more of them\n".repeat(size / 34)}`,
  }));

describe("a conversation that grows out of its window", () => {
  const reads = [0, 1, 2, 3].map((page) => read(`${page}.md`));

  test("loses its oldest results first, and never what was asked", async () => {
    const { requests, result } = await play({
      replies: [...reads, done],
      contract: { context: pages(4, 1900) },
      seat: { ctx_tokens: 4096 },
    });
    const last = said(requests[4]);
    expect(last.slice(0, 2)).toEqual([...said(requests[0])]);
    expect(last[3]).toContain("characters cut …]");
    expect(last.at(-1)).toStartWith("tool: 1: 3");
    expect(last.at(-1)).not.toContain("cut …]");
    expect(result.output).toBe("done");
  });

  test("is the same beginning from one request to the next", async () => {
    const { requests } = await play({ replies: [...reads, done], contract: { context: pages(4, 300) } });
    for (const [at, request] of requests.entries()) {
      const next = requests[at + 1];
      if (next !== undefined) expect(said(next).slice(0, request.messages.length)).toEqual([...said(request)]);
    }
  });

  test("lets a result be asked for again that was lost, once, and keeps it then", async () => {
    const { result, requests } = await play({
      replies: [...reads, read("0.md"), read("0.md"), done],
      contract: { context: pages(4, 1900) },
      seat: { ctx_tokens: 4096 },
    });
    expect(result.trace.map(({ status }) => status)).toEqual(["ok", "ok", "ok", "ok", "ok", "refused"]);
    expect(said(requests[6]).some((line) => line.startsWith("tool: 1: 0") && !line.includes("cut …]"))).toBe(true);
  });

  test("is counted by the server where it counts and the estimate may be wrong", async () => {
    const texts: string[] = [];
    const { requests } = await play({
      replies: [...reads, done],
      contract: { context: pages(4, 1900) },
      seat: { ctx_tokens: 4096 },
      // Five bytes a token: more fits than the estimate says.
      countTokens: (text) => {
        texts.push(text);
        return Math.ceil(text.length / 5);
      },
    });
    expect(texts.length).toBeGreaterThan(0);
    expect(said(requests[3]).join("")).not.toContain("cut …]");
  });

  test("learns from usage what a token is", async () => {
    const dense = await play({
      replies: [{ ...reads[0], ...usage(2000) }, ...reads.slice(1), done],
      contract: { context: pages(4, 1900) },
      seat: { ctx_tokens: 8192 },
    });
    const sparse = await play({
      replies: [...reads, done],
      contract: { context: pages(4, 1900) },
      seat: { ctx_tokens: 8192 },
    });
    const cuts = (requests: typeof dense.requests) =>
      requests.filter((each) => said(each).join("").includes("cut …]")).length;
    expect(cuts(dense.requests)).toBeGreaterThan(cuts(sparse.requests));
  });

  test("has no budget while nobody names a window", async () => {
    const { requests } = await play({
      replies: [...reads, done],
      contract: { context: pages(4, 30_000) },
      seat: { ctx_tokens: 0 },
    });
    expect(said(requests[4]).join("")).not.toContain("cut …]");
    const named = await play({
      replies: [...reads, done],
      contract: { context: pages(4, 30_000) },
      seat: { ctx_tokens: 0 },
      window: 8192,
    });
    expect(named.requests[0]?.max_tokens).toBe(2048);
  });
});

describe("a task that does not fit", () => {
  test("is a fault of the contract, with both numbers", async () => {
    const { result, requests } = await play({
      replies: [done],
      contract: { goal: "word ".repeat(2000) },
      seat: { ctx_tokens: 4096 },
    });
    expect(result).toMatchObject({ defer_class: "contract", stop_reason: "context" });
    expect(result.reason).toMatch(/^context window exhausted \(\d{4} of \d{4} tokens\): the task alone does not fit$/);
    expect(requests).toEqual([]);
  });
});

describe("a server that finds a request too long", () => {
  test("names its window, and gets half of that, once", async () => {
    const { result, requests } = await play({
      replies: [read("0.md"), read("1.md"), tooLong(4096), done],
      contract: { context: pages(2, 4000) },
    });
    expect(result).toMatchObject({ output: "done", steps: 3 });
    expect(requests.map(({ max_tokens }) => max_tokens)).toEqual([4096, 4096, 4096, 1024]);
    const size = (at: number) => said(requests[at]).join("").length;
    expect(size(3)).toBeLessThan(size(2));
  });

  test("may say nothing of its window", async () => {
    const { result } = await play({
      replies: [read("0.md"), read("1.md"), tooLong(null), done],
      contract: { context: pages(2, 4000) },
      seat: { ctx_tokens: 0 },
    });
    expect(result.output).toBe("done");
  });

  test("and refuses it again ends the run", async () => {
    const { result, requests } = await play({
      replies: [read("0.md"), tooLong(4096, 2200), tooLong(4096, 4500)],
      contract: { context: pages(1, 4000) },
    });
    expect(result).toMatchObject({
      defer_class: "budget",
      reason: "context window exhausted (4500 of 4096 tokens)",
      stop_reason: "context",
    });
    expect(requests).toHaveLength(3);
  });
});

describe("a server that cuts the front of a prompt without a word", () => {
  const ollama = { engine: "ollama", ctx_tokens: 32_768 } as const;
  const big = { context: pages(4, 12_000) };

  test("is asked for the window of the loaded model", async () => {
    const { result, requests } = await play({
      replies: [read("0.md"), done],
      seat: ollama,
      contract: big,
      loadedWindow: 8192,
    });
    expect(requests.map(({ max_tokens }) => max_tokens)).toEqual([4096, 2048]);
    expect(result.output).toBe("done");
  });

  test("is not believed when the prompt was above it", async () => {
    const { result } = await play({
      replies: [done],
      seat: { ...ollama, seed_reads: true },
      contract: { context: pages(2, 9_000) },
      loadedWindow: 4096,
    });
    expect(result).toMatchObject({
      defer_class: "config",
      reason: "seat window smaller than configured: ctx_tokens is 32768, the loaded model has 4096",
      output: "",
    });
  });

  test("is found out by its own counts where it does not tell", async () => {
    const prompt = "x".repeat(8000);
    const few = await play({ replies: [{ content: "done", ...usage(900) }], seat: ollama, contract: { goal: prompt } });
    expect(few.result).toMatchObject({ defer_class: "config", output: "" });
    expect(few.result.reason).toStartWith("seat window smaller than configured: ctx_tokens is 32768, and a prompt of ");
    const fewer = await play({
      replies: [
        { ...read("0.md"), ...usage(4000) },
        { content: "done", ...usage(3999) },
      ],
      seat: ollama,
      contract: { goal: prompt, context: pages(1, 1000) },
    });
    expect(fewer.result.reason).toContain("and a longer prompt than the last one of 4000 counted as 3999 tokens");
    const honest = await play({
      replies: [
        { ...read("0.md"), ...usage(1700) },
        { content: "done", ...usage(1900) },
      ],
      seat: ollama,
      contract: { goal: prompt, context: pages(1, 1000) },
    });
    expect(honest.result.output).toBe("done");
  });
});
