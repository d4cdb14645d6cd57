/**
 * The reports of a gate as one page: what each leg came to, side by side with earlier reports. No script, and nothing is
 * read from anywhere: the page can be sent as it is.
 */
import { type Markup, markup, type Piece } from "../html/markup.ts";
import pageStyle from "../html/page.css" with { type: "text" };
import { exact, LENGTHS, line } from "../html/shown-text.ts";
import gateStyle from "./gate.css" with { type: "text" };
import type { GateReport, Verdict } from "./report.ts";

type LegReport = GateReport["legs"][number];

/** Reports that stand side by side; older ones are left out, and that is said. */
export const PAGE_REPORTS = 6;

/**
 * Renders the page.
 *
 * @param reports the present one first, then earlier ones of the same folder, the newest first; at least one
 */
export function renderGatePage(reports: readonly [GateReport, ...GateReport[]]): string {
  const [present] = reports;
  const shown = reports.slice(0, PAGE_REPORTS);
  const left = reports.length - shown.length;
  const names = [...new Set(shown.flatMap(({ legs }) => legs.map(({ name }) => name)))];
  return markup`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${present.verdict} · gate ${present.gate}</title>
<style>${trusted(pageStyle + gateStyle)}</style>
</head>
<body>
<h1>Gate ${line(present.gate)}: ${badge(present.verdict, present.scripted)}</h1>
<p class="facts">${factsOf(present)}</p>
<div class="scroll"><table>
<thead><tr><th scope="col">Leg</th>${shown.map((report, at) => columnHead(report, at))}</tr></thead>
<tbody>${names.map((name) => rowOf(name, shown))}</tbody>
</table></div>
${left > 0 && markup`<p class="quiet">${left} older reports are not shown.</p>`}
${names.map((name) => sectionOf(name, shown))}
</body>
</html>
`.html;
}

/** Our own text, which holds no markup. */
function trusted(text: string): Markup {
  return markup([text] as unknown as TemplateStringsArray);
}

function badge(verdict: Verdict, isScripted = false): Markup {
  return markup`<span class="verdict" data-verdict="${verdict}">${verdict}</span>${isScripted && " (scripted seat)"}`;
}

function factsOf({ form, route, remote, partial, protections, ran_at, writ_version }: GateReport): Piece {
  const place = route === "local" ? "this machine's seat" : remote;
  const walls = protections.sandbox ? "proofs ran in a sandbox without a network" : "proofs ran without a sandbox";
  return markup`${form !== "" && markup`form ${form}, `}${line(place)}, ${ran_at}, writ ${writ_version}; ${walls}${partial && "; a part of the set"}`;
}

function columnHead(report: GateReport, at: number): Markup {
  return markup`<th scope="col">${at === 0 ? "now" : report.ran_at}<br>${badge(report.verdict, report.scripted)}</th>`;
}

function rowOf(name: string, reports: readonly GateReport[]): Markup {
  return markup`<tr><th scope="row"><a href="#${anchorOf(name)}">${name}</a></th>${reports.map(({ legs }) => cellOf(legs.find((leg) => leg.name === name)))}</tr>
`;
}

function cellOf(leg: LegReport | undefined): Markup {
  if (leg === undefined) return markup`<td class="quiet">—</td>`;
  return markup`<td>${badge(leg.verdict)} ${seconds(leg)}<br><span class="quiet">${placeOf(leg)}${leg.cause !== "" && markup`<br>${leg.cause}`}</span></td>`;
}

function sectionOf(name: string, reports: readonly GateReport[]): Markup {
  const sides = reports.flatMap((report, at) => {
    const leg = report.legs.find((each) => each.name === name);
    return leg === undefined ? [] : [sideOf(leg, at === 0 ? "now" : report.ran_at)];
  });
  return markup`<section class="leg" id="${anchorOf(name)}"><h2>${name}</h2><div class="sides">${sides}</div></section>
`;
}

function sideOf(leg: LegReport, when: string): Markup {
  const proofs = leg.proofs.map(
    (proof) => markup`<li>${badge(proof.verdict)} ${proof.kind} ${proof.when}: ${line(proof.detail)}</li>`,
  );
  return markup`<div>
<h3>${when}: ${badge(leg.verdict, leg.scripted)} ${seconds(leg)} <span class="quiet">${placeOf(leg)}</span></h3>
${leg.cause !== "" && markup`<p>${leg.cause}: ${line(leg.detail)}</p>`}
${proofs.length > 0 && markup`<ul class="proofs">${proofs}</ul>`}
${leg.diff === "" ? markup`<p class="quiet">no diff</p>` : exact(leg.diff, LENGTHS.document)}
</div>`;
}

function placeOf({ node, seat }: LegReport): Piece {
  return node === "" ? "no seat was asked" : line(`${node}/${seat}`);
}

function seconds({ wall_ms }: LegReport): string {
  return `${(wall_ms / 1000).toFixed(1)} s`;
}

function anchorOf(name: string): string {
  return `leg-${name}`;
}
