/** A scripted world for the editor: a real store and real draft files in a folder of their own, a clock that is told. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ContractStore } from "../../src/core/contract/repository.ts";
import type { CloseWorld } from "../../src/editor/finalize.ts";
import { draftFolder, sha256 } from "../../src/store/drafts.ts";
import { openStore } from "../../src/store/open.ts";
import { scratchFolder } from "../../src/store/scratch.ts";

export type ScriptedWorld = CloseWorld & {
  readonly folder: string;
  readonly databasePath: string;
  /** Moves the clock. */
  advance(seconds: number): void;
  readonly limits: { readonly graceHours: number; readonly maxDays: number };
  readonly scratch: ReturnType<typeof scratchFolder>;
  environment(): { readonly platform: string; readonly architecture: string };
  hasher(): { update(text: string): void; hex(): string };
  /** Removes the folder. */
  [Symbol.dispose](): void;
};

export type Script = {
  readonly now?: string;
  readonly contractId?: string | null;
  readonly workspace?: string | null;
  readonly programs?: readonly string[];
  readonly changed?: readonly string[];
  /** Another world's folder: a second process on the same store. */
  readonly folder?: string;
};

/** Ids count up: the first agent is a0000000000000001, the first token 000000000001. */
export function scriptedWorld(script: Script = {}): ScriptedWorld {
  const folder = script.folder ?? mkdtempSync(join(tmpdir(), "writ-world-"));
  const databasePath = join(folder, "writ.db");
  const store: ContractStore = openStore(databasePath);
  let now = Date.parse(script.now ?? "2026-01-01T00:00:00Z");
  let minted = 0;
  const next = (digits: number) => (++minted).toString(16).padStart(digits, "0");
  return {
    folder,
    databasePath,
    store,
    drafts: draftFolder(join(folder, "contract_drafts")),
    scratch: scratchFolder(join(folder, "scratch")),
    clock: { now: () => `${new Date(now).toISOString().slice(0, 19)}Z`, ms: () => now },
    advance: (seconds) => {
      now += seconds * 1000;
    },
    pid: 4242,
    mint: { agentId: () => `a${next(16)}`, token: () => next(12) },
    sha256,
    hasher() {
      const hasher = new Bun.CryptoHasher("sha256");
      return { update: (text) => void hasher.update(text), hex: () => hasher.digest("hex") };
    },
    contractId: script.contractId ?? null,
    workspace: script.workspace ?? null,
    isProgram: (word) => (script.programs ?? ["npm", "bun", "git", "true"]).includes(word),
    changedAfter: () => script.changed ?? [],
    values: null,
    limits: { graceHours: 24, maxDays: 7 },
    environment: () => ({ platform: "linux", architecture: "x64" }),
    [Symbol.dispose]() {
      store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
