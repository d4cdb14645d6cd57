/** What the pages need besides themselves: a style sheet, a script, an icon. All of it is in the executable. */

import page from "../html/page.css" with { type: "text" };
import type { AssetName } from "./address.ts";
import style from "./board.css" with { type: "text" };
import script from "./board.js" with { type: "text" };

/** A card with a tick. */
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect x="1" y="2" width="14" height="12" rx="2.5" fill="#0b57b0"/><path d="M4.5 8.3l2.4 2.4 4.6-5" fill="none" stroke="#fff" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round"/></svg>`;

export const ASSETS: Readonly<Record<AssetName, { readonly type: string; readonly body: string }>> = {
  "board.css": { type: "text/css; charset=utf-8", body: page + style },
  "board.js": { type: "text/javascript; charset=utf-8", body: script },
  "icon.svg": { type: "image/svg+xml", body: ICON },
};
