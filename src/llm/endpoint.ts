/**
 * One seat's server, as the agent loop sees it.
 *
 * Every question but `chat` and `warmUp` is bounded by `probe_ms` as a whole, however many requests it takes.
 */
import type { Engine, Seat } from "../core/config/seat.ts";
import type { Endpoint, SeatPin } from "../core/seat/endpoint.ts";
import { chat } from "./chat.ts";
import { type Ask, askOf, type Dialect, findModel, listedModels } from "./dialect.ts";
import { llamaCpp } from "./llama-cpp.ts";
import { behindSwap } from "./llama-swap.ts";
import { ollama } from "./ollama.ts";
import { openai } from "./openai.ts";
import { vllm } from "./vllm.ts";
import { type EndpointWorld, type Server, serverOf } from "./world.ts";

const DIALECTS: Readonly<Record<Engine, Dialect>> = { "llama.cpp": llamaCpp, vllm, ollama, openai };

/** Opens a seat's server; nothing is sent before it is asked for something. */
export function openEndpoint(seat: Seat, world: EndpointWorld): Endpoint {
  const server = serverOf(seat, world);
  const engine = DIALECTS[seat.engine];
  const dialect = seat.proxy === "llama-swap" ? behindSwap(engine) : engine;
  const asking =
    <T>(work: (ask: Ask) => Promise<T>) =>
    (signal: AbortSignal) =>
      work(askOf(server, AbortSignal.any([signal, AbortSignal.timeout(server.limits.probe_ms)])));
  return {
    chat: (request, watch) => chat(server, request, watch),
    look: asking((ask) => dialect.look(ask, seat)),
    hasFreeSlot: asking((ask) => dialect.hasFreeSlot(ask)),
    windowTokens: asking((ask) => dialect.windowTokens(ask, seat)),
    totalSlots: asking((ask) => dialect.totalSlots(ask)),
    countTokens: (text, signal) => asking((ask) => dialect.countTokens(ask, text))(signal),
    loadedWindowTokens: asking((ask) => dialect.loadedWindowTokens(ask, seat)),
    takesTools: asking((ask) => dialect.takesTools(ask, seat)),
    pin: asking((ask) => pinOf(ask, dialect, seat)),
    isScripted: () => server.scripted.isSeen,
    async warmUp(watch) {
      if (seat.proxy === "") return null;
      // One token, whatever the seat's own extra says.
      const { max_tokens, max_completion_tokens, ...extra_body } = seat.extra_body;
      const warming: Server = { ...server, seat: { ...seat, extra_body } };
      return chat(warming, { ...WARM_UP }, watch);
    },
  };
}

const WARM_UP = {
  messages: [{ role: "user", content: "." }],
  tools: [],
  max_tokens: 1,
  thinking: "auto",
  constraint: null,
} as const;

async function pinOf(ask: Ask, dialect: Dialect, seat: Seat): Promise<SeatPin | null> {
  const [build, models, window, loaded] = await Promise.all([
    dialect.build(ask, seat),
    ask("/v1/models"),
    dialect.windowTokens(ask, seat),
    dialect.loadedWindowTokens(ask, seat),
  ]);
  const listed = listedModels(models);
  if (build === null && listed === null) return null;
  return {
    engine: seat.engine,
    model: shown(findModel(listed ?? [], seat.model)?.id ?? seat.model),
    ctx_tokens: loaded ?? window ?? seat.ctx_tokens,
    ...(build?.version === null || build === null ? {} : { build: shown(build.version) }),
    ...(build?.template === null || build === null ? {} : { template_sha256: sha256(build.template) }),
  };
}

/** What a server calls things is its own; a result needs no more than this of it. */
function shown(text: string): string {
  return text.slice(0, 200).toWellFormed();
}

function sha256(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}
