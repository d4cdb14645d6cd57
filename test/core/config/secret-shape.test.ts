import { describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { VARIABLE_PATTERN } from "../../../src/core/config/field.ts";
import { looksLikeSecret } from "../../../src/core/config/secret-shape.ts";

describe("looksLikeSecret()", () => {
  test("knows what openssl rand -hex makes, where it is a possible name", () => {
    for (let times = 0; times < 500; times += 1) {
      for (const size of [12, 16, 24, 32]) {
        const token = `a${randomBytes(size).toString("hex").slice(1)}`;
        expect(token).toMatch(VARIABLE_PATTERN.pattern);
        expect([token, looksLikeSecret(token)]).toEqual([token, true]);
        expect(looksLikeSecret(token.toUpperCase())).toBe(true);
        expect(looksLikeSecret(`writ_${token}`)).toBe(true);
      }
    }
  });

  test("knows nearly all that openssl rand -base64 makes", () => {
    const all = Array.from({ length: 1000 }, () => `x${randomBytes(24).toString("base64url").replaceAll("-", "_")}`);
    expect(all.filter(looksLikeSecret).length).toBeGreaterThan(900);
  });

  test.each([
    "xK3vQ9pLm2Rt7Wz1Yb4Nc8Hd",
    "JBSWY3DPEHPK3PXP4ZTQ2V7A",
    "ghp_a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2",
    "Qm9vbGVhbk1hZ2ljMTIzNDU2Nzg5",
    "f47ac10b_58cc_4372_a567_0e02b2c3d479f47ac10b",
    "k7f2j9q4m1x8c5v3b6n0z2l4",
  ])("takes %s for a secret", (value) => {
    expect(looksLikeSecret(value)).toBe(true);
  });

  test.each([
    "",
    "WRIT_NODE_TOKEN",
    "WRIT_GPU_B",
    "OPENAI_API_KEY",
    "AWS_SECRET_ACCESS_KEY",
    "HF_TOKEN",
    "token",
    "gpu_a100_80gb_node_7_token",
    "GPU_A100_H100_V100_L40S_K80_TOKEN",
    "WRIT_TOKEN_2026_11_30",
    "NODE_10_0_0_7_BEARER",
    "writTokenForGpuBoxB",
    "myH100GpuTokenVariable",
    "AVeryLongNameOfAVariableThatSomebodyGaveInCamelCase2",
    "DEADBEEFCAFE",
    "decadedefacedfacade",
    "AZURE_OPENAI_KEY_EASTUS2_V1",
    "S3_ACCESS_KEY_ID",
    "ACCESSTOKENFORPRODUCTION2026",
    "K8S_CLUSTER01_NODE03_WRIT_TOKEN",
    "_",
    `WRIT_${"LONG_".repeat(20)}NAME`,
  ])("takes %j for a name", (value) => {
    expect(looksLikeSecret(value)).toBe(false);
  });
});
