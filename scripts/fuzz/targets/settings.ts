/** Files that a person writes for writ: the config and its environment, the settings of a harness, a gate. */
import { isAddress, isLoopbackAddress, isPrivateAddress } from "../../../src/core/config/address.ts";
import { readEnvironment, readOptions } from "../../../src/core/config/environment.ts";
import { configIssueLines } from "../../../src/core/config/issue.ts";
import { mergeConfig, valuesOf } from "../../../src/core/config/merge.ts";
import { readConfig, readConfigBytes } from "../../../src/core/config/read.ts";
import { readBaseUrl, readListen } from "../../../src/core/config/url.ts";
import { differenceLines } from "../../../src/core/hooks/difference.ts";
import { findHooks, parseSettings, planInstall, planUninstall } from "../../../src/core/hooks/settings.ts";
import { parseJson } from "../../../src/core/json/parse.ts";
import { compactJson, isObject } from "../../../src/core/json/value.ts";
import { flowSettings } from "../../../src/core/tracker/settings.ts";
import { blocksIn, filesBelow } from "../corpus.ts";
import { hold, oneLineEach, promised, reading, same } from "../target.ts";

function configs(): readonly string[] {
  const preset = mergeConfig(readConfig("{}"), {});
  return [
    "{}",
    ...blocksIn("docs/configuration.md", "json"),
    ...(preset.ok ? [JSON.stringify(preset.config, null, 2)] : []),
  ];
}

const ENVIRONMENT =
  '{"WRIT_SEAT_URL":"http://127.0.0.1:8080","WRIT_REMOTES":"http://a:1,b","WRIT_LISTEN":"[::1]:7421","WRIT_WIDTH":"4","WRIT_SEAT_ENGINE":"vllm"}';

export const config = reading({
  name: "config",
  parts: ["config", "environment"],
  corpus: () => configs().map((text) => [text, ENVIRONMENT]),
  words: ["seats", "base_url", "engine", "remotes", "limits", "listen", "token_env", "schema_version", "vllm", "ollama", "llama.cpp", "http://", "https://", "[::1]", "0.0.0.0:0", ":7421", "256.1.1.1", "0x7f.1", "WRIT_REMOTES", "WRIT_SEAT_URL"], // biome-ignore format: a list
  read: ({ bytes }, { text }) => {
    const parsed = parseJson(text);
    const environment = Object.fromEntries(
      Object.entries(parsed.ok && isObject(parsed.value) ? parsed.value : {}).map(([key, value]) => [
        key,
        typeof value === "string" ? value : compactJson(value),
      ]),
    );
    readEnvironment(environment);
    for (const value of Object.values(environment)) {
      readBaseUrl(value);
      readListen(value);
      isAddress(value);
      hold("a loopback address is a private one", !isLoopbackAddress(value) || isPrivateAddress(value), value);
      readOptions({ remotes: [value], listen: value } as Parameters<typeof readOptions>[0]);
    }
    const read = readConfigBytes(bytes);
    const merged = mergeConfig(read, environment);
    hold("what is wrong in the file is told", merged.ok ? read.issues.length === 0 : merged.issues.length > 0, merged);
    if (merged.ok) hold("a config has values", valuesOf(merged.config).length > 0);
    else
      for (const issue of merged.issues) {
        hold(
          "an issue has a sentence and a line",
          issue.message.length > 0 && (issue.line === null || issue.line > 0),
          issue,
        );
        oneLineEach(configIssueLines(issue));
      }
  },
});

export const harness = reading({
  name: "hook-settings",
  parts: ["settings"],
  corpus: () => {
    const own = planInstall(null, "settings.json", {
      harness: "claude-code",
      program: ["/usr/bin/writ"],
      gate: 2,
    }).text;
    return [
      own,
      "{}",
      '{"hooks":{}}',
      '{\r\n\t"model": "x",\r\n\t"hooks": {"PostToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "lint"}]}]}\r\n}\r\n',
      '{"permissions":{"allow":["Bash(ls)"]},"hooks":{"PostToolUse":[{"hooks":[{"type":"command","command":"writ record --harness claude-code"}]}]}}',
      own.replace("claude-code", "codex"),
      JSON.stringify(JSON.parse(own)),
    ];
  },
  words: ["hooks", "PostToolUse", "PostToolUseFailure", "SubagentStop", "matcher", "command", "args", "--harness", "claude-code", "writ", "/usr/bin/writ", "record", "async", "timeout"], // biome-ignore format: a list
  read: ({ text }) => {
    const path = "settings.json";
    const settings = promised(() => parseSettings(text, path));
    if (settings === null) return;
    findHooks(settings);
    for (const name of ["claude-code", "codex"] as const) {
      const wanted = { harness: name, program: ["/usr/bin/writ"], gate: 2 };
      const planned = promised(() => planInstall(text, path, wanted));
      const gone = promised(() => planUninstall(text, path, wanted));
      if (gone !== null)
        same("nothing is left to take out", planUninstall(gone.text, path, wanted), { text: gone.text, events: [] });
      if (planned === null) continue;
      differenceLines(text, planned.text, path);
      same("what is put in is put in once", planInstall(planned.text, path, wanted), {
        text: planned.text,
        events: [],
      });
      const back = planUninstall(planned.text, path, wanted);
      if (gone !== null)
        same("what was put in is taken out", JSON.parse(withoutEmpty(back.text)), JSON.parse(withoutEmpty(gone.text)));
    }
  },
});

/** Groups and events that were empty before are gone behind an install and its undoing. */
function withoutEmpty(text: string): string {
  const { hooks, ...rest } = JSON.parse(text) as { hooks?: Record<string, unknown> };
  const kept = Object.entries(hooks ?? {}).flatMap(([event, groups]) => {
    const full = Array.isArray(groups) ? groups.filter((group) => group?.hooks?.length !== 0) : groups;
    return Array.isArray(full) && full.length === 0 ? [] : [[event, full]];
  });
  return JSON.stringify({ ...rest, hooks: Object.fromEntries(kept) });
}

export const flow = reading({
  name: "flow-settings",
  parts: ["settings"],
  corpus: () => [
    '{"flowGuards":{"enforce":false,"specDirs":["doc/specs"]},"closureReview":{"enforce":true},"siblings":{"a":"../a"}}',
    ...filesBelow("fixtures/plan", ".json"),
    "{}",
  ],
  words: ["flowGuards", "enforce", "specDirs", "siblings", "closureReview", "piGauntlet"],
  read: ({ text }) => {
    const parsed = parseJson(text);
    if (!parsed.ok || !isObject(parsed.value)) return;
    const { specDirs } = flowSettings(parsed.value);
    hold("there is a folder of specs", specDirs.length > 0 && specDirs.every((each) => each.trim() !== ""), specDirs);
  },
});
