import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { otherUsers } from "../../src/host/accounts.ts";

const folder = mkdtempSync(join(tmpdir(), "writ-accounts-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.if(process.platform === "linux")("otherUsers() names people who may log in, and nobody else", () => {
  const passwd = join(folder, "passwd");
  writeFileSync(
    passwd,
    `root:x:0:0:root:/root:/bin/bash
daemon:x:1:1::/:/usr/sbin/nologin
me:x:1000:1000:Me:/home/me:/bin/bash
ann:x:1001:1001:Ann:/home/ann:/usr/bin/zsh
bot:x:1002:1002::/home/bot:/bin/false
svc:x:1003:1003::/srv:/usr/sbin/nologin
nobody:x:65534:65534::/:/bin/sh
torn:x:10
+::::::
bob:x:1004:1004::/home/bob:/bin/sh`,
  );
  expect(otherUsers(passwd, 1000)).toEqual(["ann", "bob"]);
  expect(otherUsers(passwd, 1001)).toEqual(["me", "bob"]);
  expect(otherUsers(join(folder, "none"), 1000)).toBe(null);
  expect(otherUsers(passwd, null)).toBe(null);
});
