/** `writ board`: serves one local page until it is stopped. */
import { answerBoard } from "../board/answer.ts";
import { WritError } from "../core/error.ts";
import { openBoardStore } from "../store/board.ts";
import { sha256 } from "../store/drafts.ts";
import { serveBoard } from "../wire/board.ts";
import { defineCommand } from "./command.ts";
import { stopSignal, untilStopped } from "./stop-signal.ts";
import { placesOf } from "./world.ts";

const TOKEN_BYTES = 24;

export const command = defineCommand({
  meta: { name: "board", description: "Show turns, their evidence and their records as a local page" },
  args: {
    port: { type: "string", valueHint: "N", description: "Serve on this port (default: any that is free)" },
  },
  examples: ["writ board", "writ board --port 8420 --json"],
  notes: [
    "The page is read-only, on this machine only, and for whoever has the address that is printed: it holds a token that is made anew each time. It needs no network. Ctrl-C ends it.",
  ],
  exits: { 0: "it was ended with SIGINT or SIGTERM", 4: "the port cannot be opened, or the address cannot be printed" },
  async run({ args, json, out }) {
    const { database } = placesOf();
    const world = { openStore: () => openBoardStore(database), database, now: () => Date.now(), sha256 };
    // Listened to before the address is printed: whoever reads it may stop the board at once.
    const stopped = stopSignal();
    const server = await serveBoard({
      port: portOf(args.port),
      token: Buffer.from(crypto.getRandomValues(new Uint8Array(TOKEN_BYTES))).toString("base64url"),
      answer: (ask) => answerBoard(world, ask),
      onDefect: (error) => out.talk(`writ board: a defect in writ: ${error instanceof Error ? error.message : error}`),
    });
    try {
      if (json) out.document({ ok: true, url: server.url, port: server.port });
      else out.line(server.url);
      await untilStopped(stopped);
    } finally {
      // Also where the address could not be printed: nobody can find it then.
      await server.close();
    }
    return 0;
  },
});

/** Errors: `usage`. */
function portOf(text: string | undefined): number {
  if (text === undefined) return 0;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : -1;
  if (port >= 0 && port <= 65_535) return port;
  throw new WritError("usage", `--port takes a number from 0 to 65535, not "${text}"`, {
    hint: "0, or none at all, is any port that is free",
  });
}
