/** The first page: turns by state, and the list of one state. */

import { type Markup, markup, type Piece } from "../html/markup.ts";
import { counted, type Excerpt, grouped } from "../html/shown-text.ts";
import { type Address, hrefOf, type TurnFilter } from "./address.ts";
import { renderPage, type Setting, section } from "./frame.ts";
import { GROUP_TITLES, GROUPS, type Group, LANES } from "./groups.ts";
import type { BoardTurn } from "./repository.ts";
import { renderCard } from "./turn-card.ts";

export type Overview = {
  readonly workspaces: readonly Excerpt[];
  readonly counts: ReadonlyMap<Group, number>;
  /** The newest turns of each group. */
  readonly turns: ReadonlyMap<Group, readonly BoardTurn[]>;
};

export type TurnList = Omit<Overview, "turns"> & {
  readonly turns: readonly BoardTurn[];
  /** There are older ones. */
  readonly more: boolean;
};

type OverviewAddress = Extract<Address, { page: "overview" }>;
type ListAddress = Extract<Address, { page: "list" }>;

export function renderOverview(setting: Setting, address: OverviewAddress, overview: Overview): string {
  const { filter } = address;
  const lanes = LANES.map(
    (lane) => markup`<div class="lane" id="lane-${lane.name}">
<h2 class="lane-title">${lane.title}</h2>
${lane.groups.map((group) => renderGroup(setting, address, group, overview))}</div>
`,
  );
  const total = [...overview.counts.values()].reduce((sum, count) => sum + count, 0);
  const body = markup`<h1 class="unseen">Turns by state</h1>
${renderFilter(address, filter, null, overview.workspaces)}
${renderCounts(address, filter, null, overview.counts)}
${total === 0 ? nothing(filter) : markup`<div class="lanes">${lanes}</div>`}`;
  return renderPage(setting, null, body);
}

export function renderList(setting: Setting, address: ListAddress, list: TurnList): string {
  const { group, filter } = address;
  const title = group === null ? "All turns" : GROUP_TITLES[group];
  const count = group === null ? undefined : list.counts.get(group);
  const total = count ?? (group === null ? [...list.counts.values()].reduce((sum, one) => sum + one, 0) : 0);
  const last = list.turns.at(-1);
  const newest: Address = { ...address, before: null };
  const cards = list.turns.map((turn) => renderCard(turn, address, setting.now_ms, group === null));
  const body = markup`<h1>${title} <span class="count">${grouped(total)}</span></h1>
${renderFilter(address, filter, group ?? "any", list.workspaces)}
${renderCounts(address, filter, group ?? "any", list.counts)}
<div data-part="list">
${list.turns.length === 0 ? nothing(filter) : markup`<ul class="cards wide">${cards}</ul>`}
<nav class="pager" aria-label="Pages of the list">
${address.before !== null && markup`<a href="${hrefOf(newest, address)}">Newest</a>`}
${list.more && last !== undefined && markup`<a rel="next" href="${hrefOf({ ...address, before: last.id }, address)}">Older</a>`}
</nav>
</div>`;
  return renderPage(setting, title, body);
}

function renderGroup(setting: Setting, address: OverviewAddress, group: Group, overview: Overview): Markup {
  const turns = overview.turns.get(group) ?? [];
  const count = overview.counts.get(group) ?? 0;
  const all: Address = { page: "list", group, filter: address.filter, before: null };
  const heading = markup`<span class="badge" data-group="${group}">${GROUP_TITLES[group]}</span> <span class="count">${grouped(count)}</span>`;
  const cards = turns.map((turn) => renderCard(turn, address, setting.now_ms, false));
  const rest = count - turns.length;
  const body = markup`${count === 0 ? markup`<p class="none">None</p>` : markup`<ul class="cards">${cards}</ul>`}
${rest > 0 && markup`<p class="rest"><a href="${hrefOf(all, address)}">${counted(rest, "more", "more")}<span class="unseen"> in ${GROUP_TITLES[group]}</span></a></p>`}`;
  return section(`group-${group}`, heading, body, count === 0 ? "group empty" : "group");
}

/** A form that works without scripts; the text also filters what is shown while it is typed. */
function renderFilter(
  from: Address,
  filter: TurnFilter,
  state: Group | "any" | null,
  workspaces: readonly Excerpt[],
): Markup {
  const names = workspaces.map((workspace) => workspace.text);
  const listed = filter.workspace === null || names.includes(filter.workspace) ? names : [filter.workspace, ...names];
  const option = (value: string, text: Piece, isSelected: boolean) =>
    markup`<option value="${value}"${isSelected && markup` selected`}>${text}</option>`;
  return markup`<form class="filter" method="get" action="${hrefOf({ page: "overview", filter: NO_FILTER }, from)}" role="search" aria-label="Turns">
<label>Search <input type="search" name="q" id="q" value="${filter.text}" maxlength="200" placeholder="Agent, goal, conclusion, contract" autocomplete="off"></label>
<label>Workspace <select name="workspace" id="workspace">${option("", "Every workspace", filter.workspace === null)}${listed.map(
    (name) => option(name, shortName(name), name === filter.workspace),
  )}</select></label>
<label>State <select name="state" id="state">${option("", "By state", state === null)}${option("any", "All in one list", state === "any")}${GROUPS.map(
    (group) => option(group, GROUP_TITLES[group], group === state),
  )}</select></label>
<button type="submit">Show</button>
${(filter.text !== null || filter.workspace !== null) && markup`<a href="${hrefOf({ page: "overview", filter: NO_FILTER }, from)}">Clear</a>`}
</form>`;
}

const NO_FILTER: TurnFilter = { workspace: null, text: null };

/** An option holds text alone, no elements. */
function shortName(name: string): string {
  return name.length > 60 ? `${name.slice(0, 59)}…` : name;
}

function renderCounts(
  from: Address,
  filter: TurnFilter,
  chosen: Group | "any" | null,
  counts: ReadonlyMap<Group, number>,
): Markup {
  const items = GROUPS.map((group) => {
    const href = hrefOf({ page: "list", group, filter, before: null }, from);
    const count = counts.get(group) ?? 0;
    return markup`<li><a href="${href}" data-group="${group}"${count === 0 && markup` class="zero"`}${
      group === chosen && markup` aria-current="page"`
    }><b>${grouped(count)}</b> ${GROUP_TITLES[group]}</a></li>
`;
  });
  return markup`<nav class="counts" aria-label="States" data-part="counts"><ul>
${items}</ul></nav>`;
}

function nothing(filter: TurnFilter): Markup {
  if (filter.text !== null || filter.workspace !== null) return markup`<p class="nothing">No turn matches.</p>`;
  return markup`<p class="nothing">There are no turns here yet. A turn is born with <code>writ dispatch --agent NAME --goal TEXT</code>.</p>`;
}
