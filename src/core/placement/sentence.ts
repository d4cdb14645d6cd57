/**
 * What is told of a decision: every configured place once, each with its word. Narration over what was decided; nothing
 * is decided again here.
 *
 * Source: delegation run, section 4.8
 */
import type { Decision } from "./deal.ts";
import type { Miss } from "./eligibility.ts";
import { isBarred, type Routing } from "./pin.ts";
import { LOCAL, type Spot } from "./place.ts";
import type { Eta } from "./rank.ts";
import type { Candidate, PlaceSurvey } from "./survey.ts";

/** `local busy (2/2 slots); node-a: backlog (…); node-b: chosen (eta 41 s: cold 15 + wait 0 + gen 26)`. */
export function placementSentence(decision: Decision): string {
  const chosen = decision.kind === "place" ? decision.candidate : null;
  const overflow = overflowOf(decision);
  const clause = routeClause(decision.routing, chosen);
  const places = decision.survey
    .filter(({ place }) => overflow === null || place.name !== LOCAL)
    .map((each) => `${each.place.name}: ${wordOf(each, decision, chosen)}`);
  const nowhere = decision.survey.length === 0 ? "no place is configured" : "";
  return [clause, overflow, ...places, nowhere].filter((part) => part !== null && part !== "").join("; ");
}

/** Why a leg went where it went, in a few words: for a line of progress. */
export function placementReason(decision: Decision): string {
  if (decision.kind !== "place") return decision.kind === "wait" ? "no room" : "no eligible place";
  if (overflowOf(decision) !== null) return "local busy";
  const { routing } = decision;
  if (routing.kind === "pinned") return `pinned ${routing.to}`;
  if (routing.kind === "auto" && routing.hint !== null) return `${routing.hint} was a hint`;
  if (routing.kind === "spread") return "spread";
  if (decision.isLine) return "in line";
  return decision.candidate.spot.place === LOCAL ? "local free" : "best remote";
}

/** `node-b: queue (8/8); local: cap (2/2 slots)`, for a reason. */
export function missesSentence(decision: Decision): string {
  return decision.survey
    .filter(({ place }) => !isBarred(decision.routing, place.kind))
    .map((each) => `${each.place.name}: ${wordOf(each, decision, null)}`)
    .join("; ");
}

/** Of the places that could take the leg and have no room now, each with its word; "" where there is none. */
export function fullSentence(decision: Decision): string {
  return decision.survey
    .filter(({ place, able, miss }) => !isBarred(decision.routing, place.kind) && able.length > 0 && miss !== null)
    .map((each) => `${each.place.name}: ${wordOf(each, decision, null)}`)
    .join("; ");
}

/** What changes in a decision's words, and not in their numbers: whether it is worth being told again. */
export function missesKey(decision: Decision): string {
  return decision.survey
    .filter(({ place }) => !isBarred(decision.routing, place.kind))
    .map(({ place, miss }) =>
      [place.name, miss?.word, miss?.detail.replace(/, cached \d+ s ago$/, "").replaceAll(/\d+/g, "n")].join(" "),
    )
    .join("; ");
}

function routeClause(routing: Routing, chosen: Candidate | null): string {
  switch (routing.kind) {
    case "pinned":
      return `pinned ${routing.to} (${routing.reason})`;
    case "spread":
      return "";
    case "auto": {
      if (routing.hint === null) return "";
      const hint = `route=${routing.hint} was a hint (no pin_reason)`;
      if (chosen === null) return `${hint}, not placed`;
      const isHonoured = (chosen.spot.place === LOCAL) === (routing.hint === "local");
      return `${hint}, ${isHonoured ? "honoured" : "overridden"}: placed on ${chosen.spot.place}`;
    }
    default:
      return routing satisfies never;
  }
}

/** The local place where its full slots are why a leg went to a remote. */
function overflowOf(decision: Decision): string | null {
  const { routing, survey } = decision;
  if (routing.kind !== "auto" || routing.hint === "remote" || decision.kind !== "place") return null;
  if (decision.candidate.spot.place === LOCAL) return null;
  const miss = survey.find(({ place }) => place.name === LOCAL)?.miss ?? null;
  return miss?.word === "cap" ? `local busy${detailOf(miss.detail)}` : null;
}

function wordOf(
  { place, able, miss }: PlaceSurvey,
  { routing, ...decision }: Decision,
  chosen: Candidate | null,
): string {
  if (chosen !== null && chosen.spot.place === place.name) {
    const isLine = decision.kind === "place" && decision.isLine;
    return `chosen (${isLine ? `in line, ${chosen.miss?.detail ?? "no free slot"}; ` : ""}${etaText(chosen.rank.parts)})`;
  }
  if (isBarred(routing, place.kind)) return `outranked (pinned ${routing.kind === "pinned" ? routing.to : ""})`;
  if (miss !== null) return missText(miss);
  return able.length > 0 ? "outranked" : "outranked (tried before)";
}

function missText({ word, detail }: Miss): string {
  return word + detailOf(detail);
}

function detailOf(detail: string): string {
  return detail === "" ? "" : ` (${detail})`;
}

/** The whole is the sum of its parts as they are told. */
function etaText({ cold_sec, wait_sec, gen_sec }: Eta): string {
  if (gen_sec === null) return `wait ${Math.round(wait_sec)} s, no rate known`;
  const [cold, wait, gen] = [cold_sec, wait_sec, gen_sec].map((part) => Math.round(part));
  return `eta ${(cold ?? 0) + (wait ?? 0) + (gen ?? 0)} s: cold ${cold} + wait ${wait} + gen ${gen}`;
}

/** `node-b/pool-b`. */
export function spotText({ place, seat }: Spot): string {
  return `${place}/${seat}`;
}
