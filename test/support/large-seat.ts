/** A model server that answers every request with the same large answer, as its bytes; and text that does not repeat. */

/** So many characters of words that never come twice in a row. */
export function words(characters: number): string {
  const found: string[] = [];
  let length = 0;
  for (let at = 0; length < characters; at += 1) {
    const word = `w${((at * 2_654_435_761) % 2 ** 32).toString(36)} `;
    found.push(word);
    length += word.length;
  }
  return found.join("").slice(0, characters);
}

type Delta = Readonly<Record<string, unknown>>;

/** The body of a stream of these deltas, which ends as it should. */
export function streamOf(deltas: readonly Delta[]): string {
  const ends = { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
  const chunks = [...deltas.map((delta) => ({ choices: [{ index: 0, delta }] })), ends];
  return `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")}data: [DONE]\n\n`;
}

export function piecesOf(text: string, characters: number): readonly string[] {
  return Array.from({ length: Math.ceil(text.length / characters) }, (_, at) =>
    text.slice(at * characters, (at + 1) * characters),
  );
}

export type LargeSeat = Disposable & { readonly config: object };

/** @param body of a stream, or of one whole answer */
export function serveLarge(body: string): LargeSeat {
  const bytes = new TextEncoder().encode(body);
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      await request.arrayBuffer();
      if (!request.url.endsWith("/chat/completions")) return new Response("{}", { status: 404 });
      return new Response(bytes, { headers: { "Content-Type": "text/event-stream" } });
    },
  });
  const base_url = `http://127.0.0.1:${server.port}`;
  const seat = { name: "large", base_url, model: "m", engine: "openai", ctx_tokens: 32_768, slots: 8 };
  return { config: { seats: [seat] }, [Symbol.dispose]: () => void server.stop(true) };
}
