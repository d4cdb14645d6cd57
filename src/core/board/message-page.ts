/** Pages that have nothing to show: no store yet, a store that cannot be read, an address that names nothing. */

import { markup } from "../html/markup.ts";
import { line } from "../html/shown-text.ts";
import { renderPage, type Setting } from "./frame.ts";

export function renderNoStore(setting: Setting): string {
  return renderMessage(
    setting,
    "There is no store yet",
    "Looking does not make one. Dispatch a turn, and it shows up here.",
  );
}

export function renderMessage(setting: Setting, title: string, text: string): string {
  return renderPage(
    setting,
    title,
    markup`<div class="message" data-part="message"><h1>${title}</h1>
<p>${line(text, 600)}</p></div>`,
  );
}
