/** A scripted world for the editor: a real store and real draft files in a folder of their own, a clock that is told. */
import { Database, type SQLQueryBindings } from "bun:sqlite";
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
  readonly draftsPath: string;
  readonly scratchPath: string;
  /** Moves the clock. */
  advance(seconds: number): void;
  readonly limits: { readonly graceHours: number; readonly maxDays: number };
  readonly scratch: ReturnType<typeof scratchFolder>;
  environment(): { readonly platform: string; readonly architecture: string };
  hasher(): { update(text: string): void; hex(): string };
  /** Looks into the store, or edits it by hand, on a connection of its own. */
  sql<Row extends object>(query: string, ...values: SQLQueryBindings[]): Row[];
  /** Closes the store, and removes the folder when it is this world's own. */
  [Symbol.dispose](): void;
};

export type Script = {
  readonly now?: string;
  readonly contractId?: string | null;
  readonly workspace?: string | null;
  readonly programs?: readonly string[];
  readonly changed?: readonly string[];
  readonly values?: CloseWorld["values"];
  readonly resolveArtifact?: CloseWorld["resolveArtifact"];
  /** Another world's folder: a second process on the same store. Give it other ids. */
  readonly folder?: string;
  /** How many ids were made before the first one here. */
  readonly minted?: number;
  readonly pid?: number;
};

/** Ids count up: the first agent is a0000000000000001, the token after it 000000000002. */
export function scriptedWorld(script: Script = {}): ScriptedWorld {
  const folder = script.folder ?? mkdtempSync(join(tmpdir(), "writ-world-"));
  const databasePath = join(folder, "writ.db");
  const draftsPath = join(folder, "contract_drafts");
  const scratchPath = join(folder, "scratch");
  const store: ContractStore = openStore(databasePath);
  let now = Date.parse(script.now ?? "2026-01-01T00:00:00Z");
  let minted = script.minted ?? 0;
  let byHand: Database | null = null;
  const next = (digits: number) => (++minted).toString(16).padStart(digits, "0");
  return {
    folder,
    databasePath,
    draftsPath,
    scratchPath,
    store,
    drafts: draftFolder(draftsPath),
    scratch: scratchFolder(scratchPath),
    clock: { now: () => `${new Date(now).toISOString().slice(0, 19)}Z`, ms: () => now },
    advance: (seconds) => {
      now += seconds * 1000;
    },
    pid: script.pid ?? 4242,
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
    values: script.values ?? null,
    resolveArtifact: script.resolveArtifact ?? (() => null),
    limits: { graceHours: 24, maxDays: 7 },
    environment: () => ({ platform: "linux", architecture: "x64" }),
    sql<Row extends object>(query: string, ...values: SQLQueryBindings[]): Row[] {
      byHand ??= new Database(databasePath, { readwrite: true });
      return byHand.query<Row, SQLQueryBindings[]>(query).all(...values);
    },
    [Symbol.dispose]() {
      byHand?.close();
      store.close();
      if (script.folder === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}
