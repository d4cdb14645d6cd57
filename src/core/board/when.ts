/** Instants as a page shows them. */
import { type Markup, markup } from "../html/markup.ts";
import { LENGTHS, line } from "../html/shown-text.ts";

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * How long ago an instant was: "just now", "4 min ago", "3 h ago", "12 d ago"; ahead of the clock: "in the future".
 *
 * @param at RFC 3339
 * @returns  null for a text that is no instant
 */
export function ageText(at: string, now_ms: number): string | null {
  const ms = instantOf(at);
  if (ms === null) return null;
  const seconds = Math.floor((now_ms - ms) / 1000);
  if (seconds < -MINUTE) return "in the future";
  if (seconds < MINUTE) return "just now";
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min ago`;
  if (seconds < 2 * DAY) return `${Math.floor(seconds / HOUR)} h ago`;
  return `${Math.floor(seconds / DAY)} d ago`;
}

/** An age, with the instant behind it. A text that is no instant is shown as it is. */
export function age(at: string, now_ms: number): Markup | null {
  const text = ageText(at, now_ms);
  if (text === null) return line(at, LENGTHS.word);
  return markup`<time datetime="${at}" title="${clock(at)} UTC">${text}</time>`;
}

/** The instant, in UTC, with its age. */
export function instant(at: string | null, now_ms: number): Markup | null {
  if (at === null) return null;
  const text = ageText(at, now_ms);
  if (text === null) return line(at, LENGTHS.word);
  return markup`<time datetime="${at}">${clock(at)} UTC</time> <span class="quiet">(${text})</span>`;
}

/** How long something took: "3 s", "4 min 10 s"; null where one of the two is not known. */
export function lasted(started_at: string | null, ended_at: string | null): string | null {
  const from = started_at === null ? null : instantOf(started_at);
  const to = ended_at === null ? null : instantOf(ended_at);
  if (from === null || to === null || to < from) return null;
  const seconds = Math.round((to - from) / 1000);
  if (seconds < MINUTE) return seconds === 0 ? "under 1 s" : `${seconds} s`;
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min ${seconds % MINUTE} s`;
  return `${Math.floor(seconds / HOUR)} h ${Math.floor((seconds % HOUR) / MINUTE)} min`;
}

/** "2026-11-30 16:27:34". */
function clock(at: string): string {
  return at.slice(0, 19).replace("T", " ");
}

function instantOf(at: string): number | null {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/.test(at)) return null;
  const ms = Date.parse(at);
  return Number.isNaN(ms) ? null : ms;
}
