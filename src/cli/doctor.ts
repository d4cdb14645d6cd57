/** `writ doctor`. */
import { counted } from "../core/counted.ts";
import { EXIT, WritError } from "../core/error.ts";
import { nearest } from "../core/near-miss.ts";
import { type Finding, hasFailed, type Outcome } from "../doctor/check.ts";
import { examine } from "../doctor/examine.ts";
import type { World } from "../doctor/world.ts";
import { defineCommand } from "./command.ts";
import { CONFIG_OPTION } from "./config-world.ts";
import { JSON_SWITCH } from "./contract/address.ts";
import { openDoctorWorld } from "./doctor-world.ts";
import { printParagraph } from "./paragraph.ts";
import { oneLine } from "./table.ts";

export const command = defineCommand({
  meta: { name: "doctor", description: "Say what is set up and what works" },
  args: {
    seat: { type: "string", valueHint: "NAME", description: "Try nothing but this seat of the config" },
    remote: { type: "string", valueHint: "URL", description: "Try nothing but this node, in the config or not" },
    load: { type: "boolean", description: "Have a proxy load a model that it has not loaded" },
    ...CONFIG_OPTION,
    ...JSON_SWITCH,
  },
  examples: ["writ doctor", "writ doctor --seat qwen-9b --load", "writ doctor --json"],
  notes: [
    "Each check tries what it tells of and prints PASS, WARN, FAIL or SKIP. It plays a short turn through the installed hook commands, in a data folder of its own that it removes again, and has each seat of the config answer, call a tool and keep to a schema; each remote is asked what it speaks and whether it takes the token.",
    "Of what the settings of a project name, only this very writ is run; a user's own settings are the user's.",
  ],
  exits: { 0: "nothing fails; there may be warnings", 1: "something fails", 2: "--seat names no seat" },
  async run({ args, json, out }) {
    const { seat, remote, load, config } = args;
    if (seat !== undefined && remote !== undefined)
      throw new WritError("usage", "--seat and --remote exclude each other");
    const only =
      seat !== undefined
        ? ({ kind: "seat", name: seat } as const)
        : remote !== undefined
          ? ({ kind: "remote" } as const)
          : null;
    const world = await openDoctorWorld({ config, remote, only, load });
    await assertSeat(world);
    const findings = await examine(world, (finding) => {
      if (json) return;
      const told = oneLine(`${finding.subject}: ${finding.message}`);
      printParagraph(out, `${finding.outcome} ${finding.check} — ${told}`, "");
      if (finding.hint !== null && finding.outcome !== "PASS") printParagraph(out, finding.hint, "     ");
    });
    const ok = !hasFailed(findings);
    if (json) out.document({ ok, status: ok ? "ok" : "no", findings: findings.map((each) => ({ ...each })) });
    else printParagraph(out, `${ok ? "OK" : "FAIL"}: ${summaryOf(findings)}.`, "");
    return ok ? EXIT.ok : EXIT.no;
  },
});

/** Errors: `usage` where a valid config has no seat of the name that is asked for */
async function assertSeat(world: World): Promise<void> {
  const { only } = world.asked;
  const look = await world.config();
  if (only?.kind !== "seat" || look.kind === "invalid") return;
  const names = look.config.seats.map(({ name }) => name);
  if (names.includes(only.name)) return;
  const near = nearest(only.name, names);
  const listed = names.length === 0 ? "The config has no seat" : `There is ${names.slice(0, 8).join(", ")}`;
  throw new WritError("usage", `No seat is called ${JSON.stringify(only.name)}`, {
    hint: near === null ? listed : `Did you mean "${near}"?`,
  });
}

const NOUNS: readonly (readonly [Outcome, string])[] = [
  ["PASS", "check passed"],
  ["WARN", "warning"],
  ["FAIL", "failure"],
  ["SKIP", "check skipped"],
];

function summaryOf(findings: readonly Finding[]): string {
  return NOUNS.flatMap(([outcome, noun]) => {
    const count = findings.filter((finding) => finding.outcome === outcome).length;
    if (count === 0) return [];
    return [noun.startsWith("check ") ? noun.replace("check", counted(count, "check")) : counted(count, noun)];
  }).join(", ");
}
