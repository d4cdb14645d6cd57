/** The addresses of the board: what stands behind the token of a URL, and back. */
import { type Group, isGroup } from "./groups.ts";

/** Which turns; null is any. */
export type TurnFilter = { readonly workspace: string | null; readonly text: string | null };

export type Kinds = "all" | "runs" | "writes";

export type Address =
  | { readonly page: "overview"; readonly filter: TurnFilter }
  /** One group, or all of them in one list; `before`: only turns with a smaller id. */
  | {
      readonly page: "list";
      readonly group: Group | null;
      readonly filter: TurnFilter;
      readonly before: number | null;
    }
  /** `part` counts the pages of the timeline from 1. */
  | { readonly page: "turn"; readonly id: number; readonly kinds: Kinds; readonly part: number }
  | { readonly page: "approvals" }
  | { readonly page: "asset"; readonly name: AssetName };

export type AssetName = "board.css" | "board.js" | "icon.svg";

const ASSETS: readonly AssetName[] = ["board.css", "board.js", "icon.svg"];
const KINDS: readonly Kinds[] = ["all", "runs", "writes"];

/** Longer texts are cut: nobody types them, and each is looked for in every row. */
const LONGEST_FILTER = 200;
const MOST_PARTS = 100_000;

/**
 * The address that a path and a query name.
 *
 * @param path  behind the token and its slash, without a slash in front
 * @param query without its question mark
 * @returns     null for what names nothing; parameters that make no sense are ignored
 */
export function parseAddress(path: string, query: string): Address | null {
  const given = new URLSearchParams(query);
  if (path === "") {
    const filter = { workspace: text(given, "workspace"), text: text(given, "q") };
    const state = given.get("state") ?? "";
    if (state === "any" || isGroup(state)) {
      return { page: "list", group: state === "any" ? null : state, filter, before: number(given, "before") };
    }
    return { page: "overview", filter };
  }
  if (path === "approvals") return { page: "approvals" };
  const turn = /^turn\/([1-9]\d{0,14})$/.exec(path);
  if (turn !== null) {
    const kinds = KINDS.find((one) => one === given.get("show")) ?? "all";
    return { page: "turn", id: Number(turn[1]), kinds, part: Math.min(number(given, "part") ?? 1, MOST_PARTS) };
  }
  const asset = ASSETS.find((name) => name === path);
  return asset === undefined ? null : { page: "asset", name: asset };
}

/**
 * A relative reference to an address.
 *
 * @param from the address of the page that it stands on
 */
export function hrefOf(address: Address, from: Address): string {
  const root = from.page === "turn" ? "../" : "./";
  switch (address.page) {
    case "overview":
      return `${root}${queryOf({ ...filterOf(address.filter) })}`;
    case "list": {
      const { group, filter, before } = address;
      return `${root}${queryOf({ state: group ?? "any", ...filterOf(filter), before })}`;
    }
    case "turn": {
      const { id, kinds, part } = address;
      return `${root}turn/${id}${queryOf({ show: kinds === "all" ? null : kinds, part: part === 1 ? null : part })}`;
    }
    case "approvals":
      return `${root}approvals`;
    case "asset":
      return `${root}${address.name}`;
    default:
      return address satisfies never;
  }
}

function filterOf({ workspace, text }: TurnFilter): Readonly<Record<string, string | null>> {
  return { workspace, q: text };
}

function queryOf(values: Readonly<Record<string, string | number | null>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== null) query.set(name, String(value));
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}

function text(given: URLSearchParams, name: string): string | null {
  const value = (given.get(name) ?? "").trim().slice(0, LONGEST_FILTER);
  return value === "" ? null : value;
}

function number(given: URLSearchParams, name: string): number | null {
  const value = given.get(name) ?? "";
  return /^[1-9]\d{0,14}$/.test(value) ? Number(value) : null;
}
