/** Searches as a compiled program does, and prints what came of it: one that finds, and one that takes too long. */
import { searchFiles } from "../../src/host/search.ts";
import { heavySearch, QUICK } from "./heavy-search.ts";

const { signal } = new AbortController();
console.log(JSON.stringify(await searchFiles(QUICK, signal)));
console.log(JSON.stringify(await searchFiles(heavySearch(), signal, 100)));
