/** The check of a tool call: there and back. */
import { parseJson } from "../core/json/parse.ts";
import type { Endpoint, ToolSpec } from "../core/seat/endpoint.ts";
import { callsInText } from "../core/seat/markup.ts";
import type { Finding } from "./check.ts";
import { ASK_MS, ask, faultOf, type Say } from "./seat-chat.ts";
import type { World } from "./world.ts";

/** A word that no model would say by itself. */
const WORD = "walrus";

const TOOL: ToolSpec = {
  name: "look_up",
  description: "Looks up the word that belongs to a colour.",
  parameters: {
    type: "object",
    properties: { colour: { type: "string", description: "the name of a colour" } },
    required: ["colour"],
    additionalProperties: false,
  },
};

export async function* toolFindings(world: World, endpoint: Endpoint, say: Say): AsyncGenerator<Finding> {
  if ((await endpoint.takesTools(world.deadline(ASK_MS))) === false) {
    return yield say.fail(
      "tools",
      "The chat template of its model knows no tools: the server drops them without a word",
      'Set "tools": false, or start the server with a template that knows them (llama.cpp: --chat-template-file)',
    );
  }
  const question = {
    role: "user",
    content: `Call the tool ${TOOL.name} with the colour blue. Then answer with the word that it returns, and nothing else.`,
  } as const;
  const asked = await ask(world, endpoint, { messages: [question], tools: [TOOL], max_tokens: 512 });
  if (asked.kind !== "answered") return yield faultOf("tools", asked, say);
  const { content, calls } = asked.completion;
  const [call] = calls;
  if (call === undefined) {
    if (callsInText(content, [TOOL.name]).kind !== "none") {
      const hint = "Start the server with the tool parser of this model (llama.cpp: --jinja; vllm: --tool-call-parser)";
      return yield say.warn("tools", "Its call came as markup in the text: the server does not parse it", hint);
    }
    return yield say.fail(
      "tools",
      "It was told to call a tool, and called none",
      'Set "tools": false, or serve another model',
    );
  }
  const given = parseJson(call.arguments);
  if (call.name !== TOOL.name || !given.ok) {
    return yield say.fail(
      "tools",
      `It called ${JSON.stringify(call.name.slice(0, 64))} with what is no call of ${TOOL.name}`,
    );
  }
  const id = call.id ?? "call_1";
  const sent = { id, type: "function", function: { name: call.name, arguments: call.arguments } } as const;
  const answered = await ask(world, endpoint, {
    messages: [
      question,
      { role: "assistant", content, tool_calls: [sent] },
      { role: "tool", tool_call_id: id, content: WORD },
    ],
    tools: [TOOL],
    max_tokens: 512,
  });
  if (answered.kind !== "answered") return yield faultOf("tools", answered, say);
  if (answered.completion.content.toLowerCase().includes(WORD)) {
    return yield say.pass("tools", "It called a tool and used the result");
  }
  yield say.warn("tools", "It called a tool, and its answer does not say what the tool returned");
}
