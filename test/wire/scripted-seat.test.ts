import { afterEach, describe, expect, test } from "bun:test";
import type { RunningSeat, ScriptObject, SeatOptions } from "../support/scripted-seat.ts";
import { startScriptedSeat } from "../support/scripted-seat.ts";
import { bodyOf, isWhole, requestText, say } from "../support/talk.ts";

let seats: RunningSeat[] = [];
afterEach(async () => {
  const all = seats;
  seats = [];
  for (const seat of all) await seat.close();
});

async function start(script: ScriptObject, options?: SeatOptions): Promise<RunningSeat> {
  const seat = await startScriptedSeat(script, options);
  seats.push(seat);
  return seat;
}

const CHAT = "/v1/chat/completions";
const ask = (more: object = {}) => ({ messages: [{ role: "user", content: "hello" }], stream: true, ...more });

describe("an answer", () => {
  test("is a stream of events that ends in [DONE], with the mark of the seat in head and objects", async () => {
    const seat = await start({ turns: [{ id: "a", reply: { content: "Grüße, 世界!" } }] });
    const response = await fetch(`${seat.url}${CHAT}`, { method: "POST", body: JSON.stringify(ask()) });
    expect([response.status, response.headers.get("writ-scripted")]).toEqual([200, "test"]);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const events = (await response.text()).split("\n\n").filter((event) => event !== "");
    expect(events.at(-1)).toBe("data: [DONE]");
    const chunks = events.slice(0, -1).map((event) => JSON.parse(event.slice("data: ".length)));
    expect(chunks.every((chunk) => chunk.system_fingerprint === "writ-scripted")).toBe(true);
    expect(chunks.every((chunk) => chunk.model === "scripted/test")).toBe(true);
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("")).toBe("Grüße, 世界!");
  });

  test("that drops is closed in the middle of an event, after what was to be sent", async () => {
    const reply = { content: "clamp returned lo above", cut: { how: "drop", at: "bytes", n: 12 } };
    const seat = await start({ turns: [{ id: "a", reply }] });
    const heard = await say(seat.url, requestText(CHAT, ask()));
    expect([heard.end, isWhole(heard), bodyOf(heard).endsWith("\n\n")]).toEqual(["closed", false, false]);
    expect(bodyOf(heard).match(/"content":"[^"]*"/g)).toEqual([
      '"content":"clam"',
      '"content":"p re"',
      '"content":"turn"',
    ]);
    expect(await seat.log()).toMatchObject([{ turn: "a", status: 200, ended: "cut" }]);
  });

  test("that resets is followed by a reset", async () => {
    const reply = { content: "clamp", cut: { how: "reset", at: "bytes", n: 4 } };
    const seat = await start({ turns: [{ id: "a", reply }] });
    const heard = await say(seat.url, requestText(CHAT, ask()));
    expect(heard.end).toBe("reset");
    expect(bodyOf(heard)).toContain('"content":"clam"');
  });
});
