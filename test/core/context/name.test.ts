import { expect, test } from "bun:test";
import fc from "fast-check";
import { isWhatName } from "../../../src/core/context/name.ts";

test.each([
  { name: "dbHost", what: false, why: "no part names a target" },
  { name: "HTTPProxy", what: false, why: "a run of capitals ends before its last one" },
  { name: "HTTPEnv", what: true, why: "a run of capitals ends before its last one" },
  { name: "ENVName", what: true, why: "a run of capitals ends before its last one" },
  { name: "kubeContext", what: true, why: "a capital behind a lower-case letter begins a part" },
  { name: "k8sNS", what: true, why: "a capital behind a letter begins a part" },
  { name: "v2Cluster", what: true, why: "a capital behind a digit begins a part" },
  { name: "env2", what: false, why: "a digit does not end a part" },
  { name: "nsx", what: false, why: "a part counts whole" },
  { name: "ns-default", what: true, why: "a hyphen ends a part" },
  { name: "PROJ_ID", what: true, why: "an underscore ends a part, and case does not count" },
  { name: "a/ns", what: true, why: "any other character ends a part" },
  { name: "a.ctx:b", what: true, why: "any other character ends a part" },
  { name: "сluster", what: true, why: "a Cyrillic letter is not ASCII" },
  { name: "größe", what: true, why: "it is not ASCII" },
  { name: "ｅｎｖ", what: true, why: "NFKC makes it env" },
  { name: "ｈｏｓｔ", what: false, why: "NFKC makes it host" },
  { name: "host\u200b", what: true, why: "an invisible character is not ASCII" },
  { name: "__proto__", what: false, why: "proto is no word of the list" },
  { name: "", what: false, why: "there is nothing in it" },
])('isWhatName("$name") is $what: $why', ({ name, what }) => {
  expect(isWhatName(name)).toBe(what);
});

const WORDS = ["environment", "env", "cluster", "cl", "context", "ctx", "project", "proj", "namespace", "ns"];

test.each([...WORDS, "environments", "envs", "clusters", "contexts", "projects", "namespaces"])(
  "%s is WHAT in any case and with anything beside it",
  (word) => {
    const capital = word.charAt(0).toUpperCase() + word.slice(1);
    for (const name of [word, word.toUpperCase(), capital, `my_${word}`, `${word}-id`, `my${capital}`, `${word}Id`]) {
      expect([name, isWhatName(name)]).toEqual([name, true]);
    }
  },
);

test("isWhatName() answers for any text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (name) => {
      expect(isWhatName(name)).toBeBoolean();
    }),
  );
});
