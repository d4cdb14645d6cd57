import { expect, test } from "bun:test";
import fc from "fast-check";
import { isAddress, isLoopbackAddress, isPrivateAddress } from "../../../src/core/config/address.ts";

test.each([
  ["127.0.0.1", true],
  ["127.255.255.255", true],
  ["10.0.0.0", true],
  ["11.0.0.0", false],
  ["172.15.255.255", false],
  ["172.16.0.0", true],
  ["172.31.255.255", true],
  ["172.32.0.0", false],
  ["192.168.255.1", true],
  ["192.169.0.1", false],
  ["100.63.255.255", false],
  ["100.64.0.0", true],
  ["100.127.255.255", true],
  ["100.128.0.0", false],
  ["169.254.1.1", true],
  ["0.0.0.0", false],
  ["255.255.255.255", false],
  ["::1", true],
  ["[::1]", true],
  ["::", false],
  ["::2", false],
  ["0:0:0:0:0:0:0:1", true],
  ["fe80::1%eth0", true],
  ["febf::1", true],
  ["fec0::1", false],
  ["fc00::1", true],
  ["fdff:ffff::", true],
  ["fe00::1", false],
  ["2001:db8::1", false],
  ["::ffff:10.0.0.1", true],
  ["::ffff:8.8.8.8", false],
  ["::ffff:7f00:1", true],
  ["::ffff:808:808", false],
  ["64:ff9b::10.0.0.1", false],
  ["localhost", false],
  ["10.0.0", false],
  ["10.0.0.256", false],
  ["10.0.0.1.1", false],
  ["::1::", false],
  [":::", false],
  ["1:2:3:4:5:6:7:8:9", false],
  ["1:2:3:4:5:6:7::8", false],
  ["", false],
])("isPrivateAddress(%j) is %p", (address, isPrivate) => {
  expect(isPrivateAddress(address)).toBe(isPrivate);
});

test.each([
  ["127.0.0.2", true],
  ["10.0.0.1", false],
  ["::1", true],
  ["::ffff:127.0.0.1", true],
  ["::ffff:10.0.0.1", false],
  ["fe80::1", false],
  ["::", false],
  ["localhost", false],
])("isLoopbackAddress(%j) is %p", (address, isLoopback) => {
  expect(isLoopbackAddress(address)).toBe(isLoopback);
});

test("every address that a URL has is one, and its two forms are judged alike", () => {
  fc.assert(
    fc.property(fc.ipV6(), (address) => {
      expect(isAddress(address)).toBe(true);
      // Bun's URL takes fewer spellings than there are.
      fc.pre(URL.canParse(`http://[${address}]`));
      const shown = new URL(`http://[${address}]`).hostname;
      expect(isPrivateAddress(shown)).toBe(isPrivateAddress(address));
      expect(isLoopbackAddress(shown)).toBe(isLoopbackAddress(address));
    }),
  );
  fc.assert(fc.property(fc.ipV4(), (address) => expect(isAddress(address)).toBe(true)));
});

test("the judges return on any text", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => typeof isPrivateAddress(text) === "boolean"));
});
