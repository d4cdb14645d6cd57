/**
 * What a caller says about where a leg goes. A route with a reason is a pin and is obeyed; without one it is a hint.
 *
 * Source: delegation run, sections 4.1, 4.2
 */
import { quote } from "../acceptance/quoting.ts";
import { ROUTES, type Route } from "../delegation/result.ts";
import { utf8Length } from "../utf8.ts";

/** Each word with the routes that it can be given for. */
export const PIN_WORDS = {
  privacy: ["local"],
  locality: ["local"],
  measurement: ["local", "remote"],
  operator: ["local", "remote"],
} as const satisfies Readonly<Record<string, readonly Route[]>>;

const REASON_BYTES = 200;

/** What is done with the legs of a call. */
export type Routing =
  /** `hint`: a place that was asked for without a reason. */
  | { readonly kind: "auto"; readonly hint: "local" | "remote" | null }
  | { readonly kind: "spread" }
  | { readonly kind: "pinned"; readonly to: "local" | "remote"; readonly reason: string };

export type ReadRouting =
  | { readonly ok: true; readonly routing: Routing }
  | { readonly ok: false; readonly message: string; readonly hint: string };

/**
 * Reads a route and the reason that was given for it.
 *
 * @param reason null where none was given
 * Errors: none; a reason that makes no sense is told with all the words and their routes
 */
export function readRouting(route: Route, reason: string | null): ReadRouting {
  if (reason === null) {
    if (route === "spread") return { ok: true, routing: { kind: "spread" } };
    return { ok: true, routing: { kind: "auto", hint: route === "auto" ? null : route } };
  }
  const colon = reason.indexOf(":");
  const word = (colon < 0 ? reason : reason.slice(0, colon)).trim();
  const text = colon < 0 ? "" : reason.slice(colon + 1).trim();
  const refuse = (message: string): ReadRouting => ({ ok: false, message, hint: allWords() });
  if (!Object.hasOwn(PIN_WORDS, word)) return refuse(`There is no pin reason ${quote(word)}`);
  const routes: readonly Route[] = PIN_WORDS[word as keyof typeof PIN_WORDS];
  if (route !== "local" && route !== "remote") {
    return refuse(`A pin reason needs the route that it pins, not route ${route}`);
  }
  if (!routes.includes(route)) return refuse(`Pin reason "${word}" cannot be given for route ${route}`);
  const size = utf8Length(text);
  if (size > REASON_BYTES) {
    return refuse(`The text of the pin reason has ${size} bytes; at most ${REASON_BYTES} are allowed`);
  }
  return { ok: true, routing: { kind: "pinned", to: route, reason: text === "" ? word : `${word}: ${text}` } };
}

/** The route that a result tells: a hint that may be overridden is `auto`. */
export function routeOf(routing: Routing): Route {
  return routing.kind === "pinned" ? routing.to : routing.kind;
}

/** True where the leg may never go to a place of this kind. */
export function isBarred(routing: Routing, kind: "local" | "remote"): boolean {
  return routing.kind === "pinned" && routing.to !== kind;
}

function allWords(): string {
  const words = Object.entries(PIN_WORDS).map(([word, routes]) => `${word} (${routes.join(" or ")})`);
  return `The words are ${words.join(", ")}; a text may follow behind ":"`;
}

/** Whether a word names a route. */
export function isRoute(word: string): word is Route {
  return (ROUTES as readonly string[]).includes(word);
}
