/** Targets with faults of their own, for the tests of what finds them. */
import { Broken, type Part, reading, type Target } from "../../scripts/fuzz/target.ts";

const corpus = () => ['{"name":"a","list":[1,2,3]}', "one\ntwo\nthree\n"];
let work = 0;
/** Milliseconds, by the work that was done. */
const now = () => work;

const grows = (name: string, cost: (length: number) => number) => {
  const read = ({ bytes }: Part) => {
    work += cost(bytes.length);
  };
  return reading({ name, parts: ["text"], corpus, read }, now);
};

export const TARGETS: readonly Target[] = [
  reading({ name: "sound", parts: ["text"], corpus, read: () => {} }),
  reading({
    name: "broken",
    parts: ["text"],
    corpus,
    read: ({ text }) => {
      if (text.includes("[]")) throw new Broken("no text has a bracket that is closed at once");
    },
  }),
  {
    ...reading({
      name: "hangs",
      parts: ["text"],
      corpus,
      read: ({ text }) => {
        while (text.includes("__proto__"));
      },
    }),
    hang_ms: 500,
  },
  grows("linear", (length) => length),
  grows("square", (length) => length ** 2 / 1000),
];
