/** From a request to its page: reads what the page needs on one snapshot of the store, and renders it. */
import { type Address, parseAddress } from "../core/board/address.ts";
import type { Answer, Ask } from "../core/board/answer.ts";
import { renderApprovals } from "../core/board/approvals-page.ts";
import { ASSETS } from "../core/board/assets.ts";
import type { Setting } from "../core/board/frame.ts";
import { renderMessage, renderNoStore } from "../core/board/message-page.ts";
import { renderList, renderOverview } from "../core/board/overview-page.ts";
import type { BoardTable } from "../core/board/repository.ts";
import { renderTurn } from "../core/board/turn-page.ts";
import { WritError } from "../core/error.ts";
import { readApprovals, readList, readOverview, readTurn } from "./look.ts";
import type { BoardWorld } from "./world.ts";

/**
 * The largest page, in UTF-16 code units. The bounds of its parts keep every page below: a turn cannot hide itself by
 * what it writes.
 */
export const PAGE_LIMIT = 16 * 1024 * 1024;

const HOME: Address = { page: "overview", filter: { workspace: null, text: null } };

/**
 * Answers one request. Nothing is written, and no store is made.
 *
 * @returns status 404 for what names nothing, 503 where the store cannot be read now
 * Errors:  none but defects
 */
export function answerBoard(world: BoardWorld, ask: Ask): Answer {
  const address = parseAddress(ask.path, ask.query);
  if (address?.page === "asset") return { status: 200, ...ASSETS[address.name] };
  const bare = { address: address ?? HOME, now_ms: world.now(), database: world.database, pending: null };
  if (address === null) return page(404, renderMessage(bare, "There is no such page", "Nothing has this address."));
  try {
    const store = world.openStore();
    if (store === null) return page(200, renderNoStore(bare));
    try {
      return store.read((board) => pageOf(world, { ...bare, pending: board.countPending() }, board, address));
    } finally {
      store.close();
    }
  } catch (error) {
    if (!(error instanceof WritError)) throw error;
    const hint = error.hint === null ? "" : `. ${error.hint}`;
    return page(503, renderMessage(bare, "The store cannot be read now", `${error.message}${hint}`));
  }
}

function pageOf(
  world: BoardWorld,
  setting: Setting,
  board: BoardTable,
  address: Exclude<Address, { page: "asset" }>,
): Answer {
  switch (address.page) {
    case "overview":
      return page(200, renderOverview(setting, address, readOverview(board, address)));
    case "list":
      return page(200, renderList(setting, address, readList(board, address)));
    case "turn": {
      const view = readTurn(world, board, address);
      if (view !== null) return page(200, renderTurn(setting, address, view));
      return page(404, renderMessage(setting, "There is no such turn", `No row has the id ${address.id}.`));
    }
    case "approvals":
      return page(200, renderApprovals(setting, address, readApprovals(board)));
    default:
      return address satisfies never;
  }
}

function page(status: number, body: string): Answer {
  if (body.length > PAGE_LIMIT) throw new Error(`A page of ${body.length} characters was not sent`);
  return { status, type: "text/html; charset=utf-8", body };
}
