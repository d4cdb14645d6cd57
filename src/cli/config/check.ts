/** `writ config check`: whether the config, the file and the environment over it, is valid. */
import { idleVariables } from "../../core/config/environment.ts";
import type { ConfigIssue } from "../../core/config/issue.ts";
import { configIssueLines, issuesBehind } from "../../core/config/issue.ts";
import { counted } from "../../core/counted.ts";
import { WritError } from "../../core/error.ts";
import { defineCommand } from "../command.ts";
import { CONFIG_OPTION, loadConfig } from "../config-world.ts";
import { JSON_SWITCH } from "../contract/address.ts";

export const command = defineCommand({
  meta: { name: "config check", description: "Check the config and the variables that stand for keys of it" },
  args: { ...CONFIG_OPTION, ...JSON_SWITCH },
  examples: ["writ config check", "writ config check --config ./ci.json --json"],
  notes: [
    "No server is asked, and no file that it names is opened: whether seats and nodes answer, and certificates are of use, is what writ doctor says.",
  ],
  exits: { 0: "it is valid; there may be no file", 1: "it is not, with every issue" },
  async run({ args, json, out }) {
    const { file, issues } = await judge(args.config);
    const ok = issues.length === 0;
    const what = file ?? "the built-in config";
    for (const name of idleVariables((each) => (process.env[each] ?? "").trim() !== "")) {
      out.talk(`note: ${name} is set and stands for nothing: WRIT_SEAT_URL is not`);
    }
    if (json) {
      out.document({ ok, status: ok ? "ok" : "no", file, issues: issues.map((issue) => ({ ...issue })) });
    } else if (ok) out.line(`OK: ${what} is valid.`);
    else {
      out.line(`${what}: ${counted(issues.length, "issue")}`);
      for (const issue of issues) for (const line of configIssueLines(issue)) out.line(line);
    }
    return ok ? 0 : 1;
  },
});

async function judge(config: string | undefined): Promise<{ file: string | null; issues: readonly ConfigIssue[] }> {
  try {
    return { file: (await loadConfig({ config, find: null })).file, issues: [] };
  } catch (error) {
    if (!(error instanceof WritError) || error.code !== "bad_config") throw error;
    return issuesBehind(error);
  }
}
