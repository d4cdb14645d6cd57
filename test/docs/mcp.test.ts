/** What docs/mcp.md says is held against the tools, and what it shows is played. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CALL_LIMITS } from "../../src/mcp/calls.ts";
import { PAGE_BYTES } from "../../src/mcp/delegation-result.ts";
import { MAX_IN_A_LIST } from "../../src/mcp/message.ts";
import { MOST_DOCUMENT_BYTES } from "../../src/mcp/run-answer.ts";
import { TOOLS } from "../../src/mcp/tools.ts";
import { TRANSPORT_LIMITS } from "../../src/mcp/transport.ts";
import { startMcp } from "../support/mcp.ts";
import { startScriptedSeat } from "../support/scripted-seat.ts";
import { livingWorld } from "../support/writ.ts";

const page = readFileSync(join(import.meta.dir, "..", "..", "docs", "mcp.md"), "utf8");

test("the page has a row for each tool, and for no other", () => {
  const rows = [...page.matchAll(/^\| `((?:agent|delegation|fleet|contract)_\w+)` \|/gm)].map(([, name]) => name);
  expect(rows).toEqual(Object.keys(TOOLS));
});

test("the limits are those of the code", () => {
  const { message_bytes, requests, waiting_progress } = TRANSPORT_LIMITS;
  expect(page).toContain(`| one message | ${message_bytes / 1024 / 1024} MiB |`);
  expect(page).toContain(`| requests at once | ${requests} |`);
  expect(page).toContain(`| messages in one list (2025-03-26) | ${MAX_IN_A_LIST} |`);
  expect(page).toContain(`| delegations at once | ${CALL_LIMITS.at_once} |`);
  expect(page).toContain(`| delegations in line | ${CALL_LIMITS.in_line} |`);
  expect(page).toContain(`| a result document | ${MOST_DOCUMENT_BYTES / 1000} KB |`);
  expect(page).toContain(`| a page of \`delegation_result\` | ${PAGE_BYTES / 1000} KB |`);
  expect(page).toContain(`| notifications of progress that wait for a slow client | ${waiting_progress} |`);
});

test("the configuration of a client is JSON, with arguments that the command takes", async () => {
  const text = /```json\n(\{\n[\s\S]*?)```/.exec(page)?.[1] ?? "";
  const { mcpServers } = JSON.parse(text) as { mcpServers: { writ: { command: string; args: readonly string[] } } };
  using world = livingWorld();
  const args = mcpServers.writ.args.map((word) => (word.startsWith("/") ? world.folder : word));
  expect(await world.writ(args)).toEqual({ exit: 0, stdout: "", stderr: "" });
});

test("every line of the worked example is answered without an error, and so is the one for a shell", async () => {
  const examples = [...page.matchAll(/```json\n(\{"tool"[\s\S]*?)```/g)].map(([, block = ""]) =>
    block.trim().split("\n"),
  );
  expect(examples.length).toBeGreaterThan(0);
  await using seat = await startScriptedSeat({
    turns: [{ id: "any", times: 9, reply: { content: "Bay QX-9 holds 412 pallets." } }],
  });
  using world = livingWorld({ WRIT_SEAT_URL: seat.url });
  // Another open turn, as any store in use has one.
  await world.born();
  for (const lines of examples) {
    await using mcp = await startMcp(world);
    let run = "RUN";
    for (const shown of lines) {
      const line = shown.replace('"RUN"', JSON.stringify(run));
      const { tool, arguments: args } = JSON.parse(line) as { tool: string; arguments: Record<string, unknown> };
      const answer = await mcp.call(tool, args);
      expect({ line, ...answer }).toMatchObject({ line, isError: false });
      if (tool === "agent_delegate") run = (answer.document as { run_id: string }).run_id;
    }
  }
  const shell = /```sh\n(echo [^\n]*)\n/.exec(page)?.[1] ?? "";
  expect((await world.shell(shell)).stdout).toContain('"ok":true');
});
