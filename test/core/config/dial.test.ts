import { expect, test } from "bun:test";
import { dialTargets } from "../../../src/core/config/dial.ts";

test("http goes to the addresses that were judged, under the host's name", () => {
  expect(dialTargets(new URL("http://box.local:8080/v1/models?x=1"), ["10.0.0.1", "fd00::1"])).toEqual({
    ok: true,
    targets: [
      { url: "http://10.0.0.1:8080/v1/models?x=1", host: "box.local:8080" },
      { url: "http://[fd00::1]:8080/v1/models?x=1", host: "box.local:8080" },
    ],
  });
});

test.each([[["8.8.8.8"]], [["10.0.0.1", "8.8.8.8"]], [["nonsense"]], [[]]])("http to %j is refused", (addresses) => {
  expect(dialTargets(new URL("http://box.local/"), addresses).ok).toBe(false);
});

test("https goes anywhere, by its name", () => {
  expect(dialTargets(new URL("https://x.example/v1"), [])).toEqual({
    ok: true,
    targets: [{ url: "https://x.example/v1", host: null }],
  });
});
