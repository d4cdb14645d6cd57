/** Runs one search in a thread of its own, which is ended from outside when it takes too long. See `search.ts`. */
import { type SearchRequest, searchLines } from "../core/pattern/search.ts";

declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<SearchRequest>) => self.postMessage(searchLines(data));
