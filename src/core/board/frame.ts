/** What every page has around it: the head, the two links, the foot. */

import { type Markup, markup, type Piece } from "../html/markup.ts";
import { line } from "../html/shown-text.ts";
import { type Address, hrefOf } from "./address.ts";

/** What a page is rendered with besides its rows. */
export type Setting = {
  readonly address: Address;
  /** Milliseconds since the epoch. */
  readonly now_ms: number;
  /** The path of the store. */
  readonly database: string;
  /** Approvals that wait for a decision; null when there is no store to ask. */
  readonly pending: number | null;
};

/**
 * A whole page.
 *
 * @param title what the page is about, for the window; null on the first page
 */
export function renderPage(setting: Setting, title: Piece, body: Piece): string {
  const { address, pending } = setting;
  const home: Address = { page: "overview", filter: { workspace: null, text: null } };
  const isTurns = address.page !== "approvals";
  const page = markup`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title !== null && markup`${title} · `}writ board</title>
<link rel="icon" href="${hrefOf({ page: "asset", name: "icon.svg" }, address)}" type="image/svg+xml">
<link rel="stylesheet" href="${hrefOf({ page: "asset", name: "board.css" }, address)}">
<script src="${hrefOf({ page: "asset", name: "board.js" }, address)}" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="top">
<a class="mark" href="${hrefOf(home, address)}">writ <b>board</b></a>
<nav aria-label="Pages">
<a href="${hrefOf(home, address)}"${isTurns && markup` aria-current="${address.page === "overview" ? "page" : "true"}"`}>Turns</a>
<a href="${hrefOf({ page: "approvals" }, address)}"${!isTurns && markup` aria-current="page"`}>Approvals${
    pending !== null &&
    pending > 0 &&
    markup` <span class="count hot">${pending}<span class="unseen"> waiting</span></span>`
  }</a>
</nav>
<p class="live"><span id="said" role="status"></span><button type="button" id="live" hidden aria-pressed="true">Live</button></p>
</header>
<main id="main" tabindex="-1">
${body}
</main>
<footer>
<p>Read-only: nothing on this page changes the store ${line(setting.database)}. As of ${instantText(setting.now_ms)} UTC.</p>
</footer>
</body>
</html>
`;
  return page.html;
}

/** A heading and what stands under it; `key` makes it a place that a link can name and a refresh can find again. */
export function section(key: string, heading: Piece, body: Piece, name = ""): Markup {
  return markup`<section class="panel ${name}" id="${key}" aria-labelledby="${key}-h" data-part="${key}">
<h2 id="${key}-h">${heading}</h2>
${body}
</section>
`;
}

function instantText(now_ms: number): string {
  return new Date(now_ms).toISOString().slice(0, 19).replace("T", " ");
}
