/**
 * The checks of the seats: each is made to do what a leg will ask of it.
 *
 * Source: delegation run, section 2.6
 */
import type { Seat } from "../core/config/seat.ts";
import type { Completion, Endpoint } from "../core/seat/endpoint.ts";
import { splitThinking } from "../core/seat/final-text.ts";
import { type Check, type Finding, findingsOf } from "./check.ts";
import { ASK_MS, ask, faultOf, type Say, watchOf } from "./seat-chat.ts";
import { ollamaFindings } from "./seat-ollama.ts";
import { structuredFindings } from "./seat-structured.ts";
import { toolFindings } from "./seat-tools.ts";
import type { World } from "./world.ts";

const NO_PLACE = "There is none, and no node either: nothing can be delegated";
const MAKE_ONE = "writ config init makes a seat of each model server here; remotes in the config names nodes";

export const seats: Check = {
  name: "seat",
  async *look(world) {
    const look = await world.config();
    const { skip } = findingsOf("seat");
    const { only } = world.asked;
    if (look.kind === "invalid") return yield skip("seats", "The config is not valid");
    const wanted = look.config.seats.filter(({ name }) => only?.kind !== "seat" || name === only.name);
    if (wanted.length === 0) {
      const isAlone = look.config.remotes.length === 0;
      return yield skip(
        "seats",
        isAlone ? NO_PLACE : "There is none: legs can only go to nodes",
        isAlone ? MAKE_ONE : null,
      );
    }
    for (const seat of wanted) {
      if (look.silent !== null && seat === look.config.seats[0])
        yield findingsOf(`seat ${seat.name}`).fail("connect", look.silent);
      else yield* seatFindings(world, seat);
    }
  },
};

async function* seatFindings(world: World, seat: Seat): AsyncGenerator<Finding> {
  const endpoint = world.openSeat(seat);
  const say = () => findingsOf(`seat ${seat.name}${endpoint.isScripted() ? " (scripted)" : ""}`);

  const look = await endpoint.look(world.deadline(ASK_MS));
  switch (look.state) {
    case "gone":
      return yield say().fail("connect", look.message, `Start its server, or mend base_url: ${seat.base_url}`);
    case "not_served":
      yield say().pass("connect", `${seat.base_url} answers`);
      return yield say().fail("model", look.message, "Mend model, or have the server serve it");
    case "unknown":
      yield say().warn("model", `Whether it serves ${JSON.stringify(seat.model)} is not told: ${look.message}`);
      break;
    case "ready":
      yield say().pass("connect", `${seat.base_url} answers`);
      yield say().pass("model", `It serves ${JSON.stringify(seat.model)}`);
      break;
    case "loading":
    case "stopped":
      yield say().pass("connect", `${seat.base_url} answers`);
      if (seat.proxy === "") return yield say().warn("model", look.message, "Try again when it is loaded");
      if (!world.asked.load) return yield say().skip("model", look.message, "--load has it loaded and tried");
      if (!(yield* loaded(world, endpoint, say))) return;
      break;
    default:
      look.state satisfies never;
  }

  yield* windowFindings(world, endpoint, seat, say());
  const answer = await ask(world, endpoint, {
    messages: [{ role: "user", content: "Say the word ok." }],
    max_tokens: 16,
  });
  if (answer.kind !== "answered") return yield faultOf("chat", answer, say());
  yield* chatFindings(answer.completion, say());
  if (seat.tools) yield* toolFindings(world, endpoint, say());
  else yield say().skip("tools", 'The config says "tools": false: it works in single-shot mode');
  yield* structuredFindings(world, endpoint, seat, say());
  yield thinkingFinding(answer.completion, seat, say());
  if (seat.engine === "ollama") yield* ollamaFindings(world, endpoint, seat, say());
}

async function* loaded(world: World, endpoint: Endpoint, say: () => Say): AsyncGenerator<Finding, boolean> {
  const warmed = await endpoint.warmUp(watchOf(world));
  if (warmed !== null && warmed.kind !== "answered") {
    yield faultOf("load", warmed, say());
    return false;
  }
  yield say().pass("load", "The proxy loaded it");
  return true;
}

async function* windowFindings(world: World, endpoint: Endpoint, seat: Seat, say: Say): AsyncGenerator<Finding> {
  const told = await endpoint.windowTokens(world.deadline(ASK_MS));
  const { ctx_tokens } = seat;
  if (told === null) {
    if (ctx_tokens > 0) yield say.pass("window", `${ctx_tokens} tokens by the config; the server does not tell`);
    else yield say.warn("window", "It is not known: a prompt may turn out to be too long", "Set ctx_tokens");
  } else if (ctx_tokens > told) {
    yield say.fail(
      "window",
      `The config says ${ctx_tokens} tokens, and the server has ${told}`,
      `Set ctx_tokens to 0 or ${told}`,
    );
  } else {
    const config = ctx_tokens === 0 || ctx_tokens === told ? "" : `; the config uses ${ctx_tokens} of them`;
    yield say.pass("window", `${told} tokens by the server${config}`);
  }
}

function* chatFindings(completion: Completion, say: Say): Generator<Finding> {
  const { content, reasoning, usage, prefill_ms, decode_ms } = completion;
  if (content.trim() === "" && reasoning.trim() === "") {
    return yield say.fail("chat", "It answered with nothing", "See what its server logged");
  }
  const tokens = usage?.completion_tokens ?? 0;
  const speed = tokens > 0 && decode_ms > 0 ? `, ${Math.round((tokens * 1000) / decode_ms)} tokens a second` : "";
  const text = content.trim() === "" ? "thought, and had no token left to answer" : "answered";
  yield say.pass("chat", `It ${text} in ${Math.round(prefill_ms + decode_ms)} ms${speed}`);
}

function thinkingFinding({ content, reasoning }: Completion, seat: Seat, say: Say): Finding {
  if (reasoning.trim() === "" && !splitThinking(content).hasReasoning) {
    return say.pass("thinking off", "No reasoning came back");
  }
  const hint =
    seat.engine === "openai" ? "Name what switches it off in extra_body" : "See whether its chat template has a switch";
  return say.warn("thinking off", "Reasoning came back although it was switched off: it takes tokens of answers", hint);
}
