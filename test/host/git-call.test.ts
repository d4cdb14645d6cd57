import { describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { copyFolder } from "../../src/host/copy.ts";
import { runGit } from "../../src/host/git.ts";
import { gitEnvironment } from "../../src/host/git-call.ts";
import { changedAfter } from "../../src/host/worktree.ts";
import { type Checkout, openCheckouts } from "../support/checkout.ts";

/** A repository whose own configuration names a program wherever git lets it, and a file that git has to look into. */
function hostile(one: Checkout, spied: string): void {
  mkdirSync(spied);
  one.write("a.txt", "one\n");
  const gpg = `#!/bin/sh\ncat > /dev/null; touch ${spied}/gpg\nprintf '\\n[GNUPG:] SIG_CREATED \\n' >&2\n`;
  one.write(".git/gpg", `${gpg}echo -----BEGIN PGP SIGNATURE-----; echo; echo x; echo -----END PGP SIGNATURE-----\n`);
  chmodSync(join(one.path, ".git", "gpg"), 0o755);
  one.git("add", "-A");
  one.git("-c", `gpg.program=${one.path}/.git/gpg`, "commit", "-q", "-S", "-m", "signed");
  const spy = (what: string) => `touch ${spied}/${what}; cat`;
  for (const [key, value] of [
    ["core.fsmonitor", spy("fsmonitor")],
    ["core.pager", spy("pager")],
    ["core.editor", spy("editor")],
    ["core.sshCommand", spy("ssh")],
    ["core.hooksPath", `${one.path}/.git/evil-hooks`],
    ["diff.external", spy("external")],
    ["diff.x.textconv", spy("textconv")],
    ["diff.x.command", spy("command")],
    ["filter.x.clean", spy("clean")],
    ["filter.x.required", "true"],
    ["filter.a=b.c.clean", spy("clean-of-an-odd-name")],
    ["filter.p.process", spy("process")],
    ["log.showSignature", "true"],
    ["gpg.program", `${one.path}/.git/gpg`],
  ] as const) {
    one.git("config", key, value);
  }
  one.write(".git/info/attributes", "*.txt filter=x diff=x\n*.odd filter=a=b.c\n*.process filter=p\n");
  for (const name of ["b.odd", "c.process"]) one.write(name, "one\n");
  one.git("-c", "filter.p.process=", "-c", "filter.p.clean=cat", "-c", "core.hooksPath=/none", "add", "-A");
  // The same size and another time: what changed is told by looking into them.
  const later = new Date(Date.now() - 3_600_000);
  for (const name of ["a.txt", "b.odd", "c.process"]) {
    one.write(name, "two\n");
    utimesSync(join(one.path, name), later, later);
  }
  // What ran until here was run by making it.
  rmSync(spied, { recursive: true });
  mkdirSync(spied);
}

describe("asking git about a repository whose configuration names programs", () => {
  test.each<[string, (path: string) => unknown]>([
    ["status", (path) => runGit(path, ["--literal-pathspecs", "status", "--porcelain"])],
    ["status of one file", (path) => runGit(path, ["status", "--porcelain", "--", "a.txt"])],
    ["diff", (path) => runGit(path, ["diff", "--stat", "HEAD~1...HEAD"])],
    ["log", (path) => runGit(path, ["log", "--diff-filter=A", "--format=%H", "--", "a.txt"])],
    ["ls-files", (path) => runGit(path, ["ls-files", "-z", "--others", "--exclude-standard"])],
    ["what changed", (path) => changedAfter(path, "2020-01-01T00:00:00Z", { except: "/nowhere" })],
    [
      "a fresh copy",
      async (path) => {
        const copy = await copyFolder(path, { signal: new AbortController().signal, onProgress: () => {} });
        copy.remove();
      },
    ],
  ])("%s runs none of them", async (_, ask) => {
    using places = openCheckouts();
    const one = places.repository("one");
    const spied = join(places.folder, "spied");
    hostile(one, spied);
    await ask(one.path);
    expect(readdirSync(spied)).toEqual([]);
  });

  test("and what git would have had to run a filter for counts as changed", () => {
    using places = openCheckouts();
    const one = places.repository("one");
    hostile(one, join(places.folder, "spied"));
    expect(runGit(one.path, ["status", "--porcelain"]).stdout.split("\n")).toEqual(
      expect.arrayContaining([" M a.txt", "AM b.odd", "AM c.process"]),
    );
  });
});

test("filters of the user's own configuration stay, and so do variables that configure git already", () => {
  using places = openCheckouts();
  const one = places.repository("one");
  const home = places.repository("home");
  home.write(".gitconfig", '[filter "mine"]\n\tclean = cat\n');
  const own = { HOME: home.path, PATH: process.env.PATH, GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "a.b" };
  const environment = { ...own, GIT_CONFIG_VALUE_0: "c", GIT_DIR: "/elsewhere", BUN_OPTIONS: "--x" };
  expect(gitEnvironment(one.path, ["status"], environment)).toEqual({
    ...own,
    GIT_CONFIG_VALUE_0: "c",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_TERMINAL_PROMPT: "0",
  });
  one.git("config", "filter.its.clean", "cat");
  expect(gitEnvironment(one.path, ["status"], environment)).toMatchObject({
    GIT_CONFIG_COUNT: "4",
    GIT_CONFIG_KEY_0: "a.b",
    GIT_CONFIG_KEY_1: "filter.its.clean",
    GIT_CONFIG_VALUE_1: "",
  });
  expect(gitEnvironment(one.path, ["log"], environment).GIT_CONFIG_COUNT).toBe("1");
});
