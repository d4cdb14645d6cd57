/** The real world of handing off and resuming. */
import { realpathSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import type { BriefWorld } from "../../brief/world.ts";
import { parseJson } from "../../core/json/parse.ts";
import type { FlowSettings } from "../../core/tracker/settings.ts";
import { readFlowSettings } from "../../host/flow-settings.ts";
import { runGh } from "../../host/gh.ts";
import { foldersIn, mailedTo, markdownIn, openMailbox } from "../../host/mailbox.ts";
import { writeFileWhole } from "../../host/write-file.ts";
import type { Output } from "../command.ts";
import { planWorld, whyUnreadable } from "../plan/world.ts";
import { instant } from "../world.ts";

/** For its owner alone: a brief may quote what is nobody else's business. */
const BRIEF_MODE = 0o600;

export function briefWorld(
  store: string | undefined,
  out: Output,
  skillName: BriefWorld["skillName"] = () => null,
): BriefWorld {
  const mailbox = mailboxPath();
  const known = new Map<string, FlowSettings>();
  return {
    ...planWorld(store),
    cwd: realPath(process.cwd()) ?? process.cwd(),
    mailbox,
    now: () => instant(Date.now()),
    settingsAt: (toplevel) => {
      const before = known.get(toplevel);
      if (before !== undefined) return before;
      const { settings, warning } = readFlowSettings(toplevel);
      if (warning !== null) out.talk(warning);
      known.set(toplevel, settings);
      return settings;
    },
    kindOf,
    whyUnreadable,
    realPath,
    below,
    markdownIn: (folder) => markdownIn(folder),
    mailed: () => mailedTo(mailbox),
    foldersIn,
    openMailbox: () => openMailbox(mailbox),
    writeBrief: (path, text) => writeFileWhole(path, text, BRIEF_MODE),
    gh: runGh,
    parseJson: (text) => {
      const read = parseJson(text);
      return read.ok ? read.value : null;
    },
    skillName,
  };
}

function mailboxPath(): string {
  const named = process.env.WRIT_HANDOFF_DIR ?? "";
  return named.trim() === "" ? join(tmpdir(), "pi-handoff") : resolve(named);
}

function kindOf(path: string): "file" | "folder" | "other" | null {
  try {
    const stat = statSync(path);
    return stat.isFile() ? "file" : stat.isDirectory() ? "folder" : "other";
  } catch {
    return null; // nothing there that can be looked at
  }
}

function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null; // nothing there
  }
}

function below(folder: string, path: string): string | null {
  const found = relative(folder, path);
  if (found === "" || isAbsolute(found) || found === ".." || found.startsWith(`..${sep}`)) return null;
  return found.split(sep).join("/");
}
