import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type Address, hrefOf, parseAddress } from "../../../src/core/board/address.ts";
import { GROUPS } from "../../../src/core/board/groups.ts";

const word = fc.option(
  fc
    .string({ unit: "binary", maxLength: 40 })
    .map((text) => text.trim().toWellFormed())
    .filter((text) => text !== ""),
);
const filter = fc.record({ workspace: word, text: word });
const id = fc.integer({ min: 1, max: 999_999 });
const address: fc.Arbitrary<Address> = fc.oneof(
  fc.record({ page: fc.constant("overview" as const), filter }),
  fc.record({
    page: fc.constant("list" as const),
    group: fc.option(fc.constantFrom(...GROUPS)),
    filter,
    before: fc.option(id),
  }),
  fc.record({
    page: fc.constant("turn" as const),
    id,
    kinds: fc.constantFrom("all", "runs", "writes"),
    part: id.map((n) => (n % 500) + 1),
  }),
  fc.constant<Address>({ page: "approvals" }),
  fc.constant<Address>({ page: "asset", name: "board.css" }),
);

describe("parseAddress()", () => {
  test("reads what hrefOf() writes, from wherever it is followed", () => {
    fc.assert(
      fc.property(address, address, (to, from) => {
        const base = `http://board/token/${from.page === "turn" ? `turn/${from.id}` : ""}`;
        const url = new URL(hrefOf(to, from), base);
        expect(url.pathname).toStartWith("/token/");
        expect(parseAddress(url.pathname.slice("/token/".length), url.search.slice(1))).toEqual(to);
      }),
    );
  });

  test.each([
    ["turn/0"],
    ["turn/-1"],
    ["turn/1.5"],
    ["turn/1/"],
    ["turn/9999999999999999"],
    ["turn/../approvals"],
    ["turn%2f1"],
    ["approvals/"],
    ["board.css.map"],
    ["favicon.ico"],
    ["constructor"],
    ["__proto__"],
    ["/"],
  ])("names nothing for %j", (path) => {
    expect(parseAddress(path, "")).toBeNull();
  });

  test.each([
    ["state=NONSENSE", "overview"],
    ["state=constructor", "overview"],
    ["state=BLOCKED", "list"],
    ["state=any&before=-4", "list"],
  ])("ignores parameters that make no sense: %s", (query, page) => {
    expect(parseAddress("", query)).toMatchObject({ page, filter: { workspace: null, text: null } });
  });

  test("cuts a text that nobody types", () => {
    const read = parseAddress("", `q=${"x".repeat(5000)}`);
    expect(read?.page === "overview" && read.filter.text?.length).toBe(200);
  });

  test("returns on any path and query", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (path, query) => {
        parseAddress(path, query);
      }),
    );
  });
});
