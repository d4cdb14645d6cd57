/**
 * Why no place can ever run a leg: what it is deferred as.
 *
 * Source: delegation run, section 3.3
 */
import type { DeferClass } from "../delegation/wire-result.ts";
import type { Decision } from "./deal.ts";
import { isBarred } from "./pin.ts";
import { missesSentence } from "./sentence.ts";
import type { PlaceSurvey } from "./survey.ts";

export type NoPlace = { readonly defer_class: DeferClass; readonly reason: string };

/** The louder one wins: a broken machine is told before a call that asks too much. */
const LOUDNESS = ["infrastructure", "config", "write", "contract"] as const satisfies readonly DeferClass[];
type Cause = (typeof LOUDNESS)[number];

/**
 * The class and the reason of a leg that no place can run.
 *
 * @param decision of kind "none"
 */
export function whyNoPlace(decision: Decision): NoPlace {
  const { survey, routing } = decision;
  const asked = survey.filter(({ place }) => !isBarred(routing, place.kind));
  const causes = asked.map(causeOf);
  if (asked.length === 0) causes.push("config");
  const defer_class = LOUDNESS.find((cause) => causes.includes(cause)) ?? "contract";
  if (asked.length === 0) return { defer_class, reason: `no eligible place: ${nobodyThere(decision)}` };
  if (causes.every((cause) => cause === "write")) {
    return { defer_class, reason: `write door closed: ${closedDoors(asked)}` };
  }
  return { defer_class, reason: `no eligible place: ${missesSentence(decision)}` };
}

function causeOf({ place, miss }: PlaceSurvey): Cause {
  switch (miss?.word) {
    case "probe":
      return place.probe.ok ? "config" : place.probe.blames;
    // Its answers were wrong: it is the place that is passed over, and not the work.
    case "quarantine":
      return "infrastructure";
    case "skew":
    case "unfit(seat)":
      return "config";
    case "unfit(ctx)":
      return miss.detail === "window not known" ? "config" : "contract";
    case "write":
      return "write";
    default:
      return "contract";
  }
}

function nobodyThere({ routing }: Decision): string {
  if (routing.kind !== "pinned") return "no seat is configured here, and no remote";
  return routing.to === "remote"
    ? "pinned remote, and no remote is configured"
    : "pinned local, and no seat is configured here";
}

function closedDoors(asked: readonly PlaceSurvey[]): string {
  const [only] = asked;
  if (asked.length === 1 && only?.place.kind === "local") return only.miss?.detail ?? "";
  return asked.map(({ place, miss }) => `${place.name}: ${miss?.detail ?? ""}`).join("; ");
}
