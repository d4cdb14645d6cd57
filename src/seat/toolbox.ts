/**
 * The tools of one job, at work in its folder. Whatever a call does not get done, the seat is told in words and goes on.
 *
 * Source: delegation run, sections 5.3, 6.2 and 6.3
 */
import type { DelegationContract } from "../core/delegation/contract.ts";
import type { TraceEntry } from "../core/delegation/wire-result.ts";
import { type JsonObject, valueAt } from "../core/json/value.ts";
import { nearest } from "../core/near-miss.ts";
import { admitWrite, authoredTextFault, UNUSED_BUDGET, type WriteBudget } from "../core/patch/write-budget.ts";
import { readWritePath } from "../core/patch/write-path.ts";
import { planEdit } from "../core/seat/edit.ts";
import { fitsGlob } from "../core/seat/glob.ts";
import { LOOP_LIMITS } from "../core/seat/limits.ts";
import { renderEntries, renderLines, renderMatches, renderPaths } from "../core/seat/tool-results.ts";
import { cutMiddle } from "../core/seat/window.ts";
import type { Refusal, Workspace } from "../core/seat/workspace.ts";
import { boundBy } from "./wall.ts";
import type { JobWorld } from "./world.ts";

export type Outcome = {
  readonly text: string;
  readonly status: TraceEntry["status"];
  readonly hasWritten: boolean;
};

export class Toolbox {
  private budget: WriteBudget = UNUSED_BUDGET;
  /** Writes in a row that the disk refused, with what it said. */
  private failures: readonly string[] = [];

  constructor(
    private readonly world: Pick<JobWorld, "clock" | "sleep" | "search">,
    private readonly workspace: Workspace,
    private readonly contract: Pick<DelegationContract, "context" | "write_root">,
  ) {}

  get refused_writes(): number {
    return this.budget.refused_writes;
  }

  /** What the disk says that refuses every write; null while it takes them. */
  diskFault(): string | null {
    return this.failures.length >= LOOP_LIMITS.failed_writes ? (this.failures.at(-1) ?? null) : null;
  }

  /**
   * Carries out one call.
   *
   * @param values     fit the tool's schema
   * @param characters what the result may keep
   * Errors: none; a wall or a caller that ends it leaves an error text
   */
  async call(name: string, values: JsonObject, characters: number, signal: AbortSignal): Promise<Outcome> {
    const outcome = await this.carryOut(name, values, characters, signal);
    return { ...outcome, text: cutMiddle(outcome.text, characters) };
  }

  private async carryOut(name: string, values: JsonObject, characters: number, signal: AbortSignal): Promise<Outcome> {
    const text = (key: string) => {
      const value = valueAt(values, key);
      return typeof value === "string" ? value : null;
    };
    const number = (key: string) => {
      const value = valueAt(values, key);
      return typeof value === "number" ? value : null;
    };
    const path = text("path") ?? ".";
    // An empty path is what some models call the root.
    const folder = path === "" ? "." : path;
    switch (name) {
      case "list_dir":
        return this.list(folder);
      case "read_file":
        return this.read(path, { offset: number("offset"), limit: number("limit") }, characters);
      case "search_files":
        return this.search(
          { pattern: text("pattern") ?? "", path: folder, glob: text("glob"), mode: text("mode") },
          signal,
        );
      case "write_file":
        return this.writeFile(path, text("content") ?? "");
      case "edit_file":
        return this.editFile(path, text("old_string") ?? "", text("new_string") ?? "");
      default:
        throw new Error(`there is no tool ${name}`);
    }
  }

  private list(path: string): Outcome {
    const listed = this.workspace.list(path);
    return listed.ok ? done(renderEntries(listed.entries)) : this.refusedBy(listed, path);
  }

  private read(path: string, part: Parameters<typeof renderLines>[1], characters: number): Outcome {
    const read = this.workspace.read(path);
    return read.ok ? done(renderLines(textOf(read.bytes), part, characters)) : this.refusedBy(read, path);
  }

  private async search(
    asked: { pattern: string; path: string; glob: string | null; mode: string | null },
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { pattern, path, glob, mode } = asked;
    const walked = this.workspace.walk(path);
    if (!walked.ok) return this.refusedBy(walked, path);
    const files: { readonly path: string; readonly text: string }[] = [];
    for (const found of walked.paths) {
      if (glob !== null && !fitsGlob(found, glob)) continue;
      const read = this.workspace.read(found);
      if (read.ok) files.push({ path: found, text: textOf(read.bytes) });
    }
    const until = this.world.clock.ms() + LOOP_LIMITS.tool_timeout_ms;
    const bound = boundBy(this.world, signal, () => until - this.world.clock.ms());
    try {
      // By file, every match of every file would be needed to know the files.
      const most = LOOP_LIMITS.matches + 1;
      const found = await this.world.search(
        { pattern, files, most, by: mode === "files" ? "file" : "line" },
        bound.signal,
      );
      if (!found.ok) return failed(`error: ${found.message}`);
      const { matches, isMore } = found;
      return done(
        mode === "files"
          ? renderPaths([...new Set(matches.map((match) => match.path))], isMore, pattern)
          : renderMatches(matches, isMore, pattern),
      );
    } finally {
      bound.release();
    }
  }

  private writeFile(path: string, content: string): Outcome {
    const written = this.write(path, content, content);
    return written.ok ? wrote(`wrote ${written.bytes} bytes to ${written.path}`) : written.outcome;
  }

  private editFile(path: string, old: string, replacement: string): Outcome {
    const target = readWritePath(path, this.contract.write_root);
    if (!target.ok) return refused(`NOT performed: ${target.reason}`);
    const read = this.workspace.read(path);
    if (!read.ok) return this.refusedBy(read, path);
    const before = textOf(read.bytes);
    const planned = planEdit(before, old, replacement, target.path);
    // Looked for and not found is no refusal: the seat knows more than before.
    if (!planned.ok) return failed(planned.message);
    const written = this.write(path, planned.text, replacement);
    if (!written.ok) return written.outcome;
    const note = planned.note === "" ? "" : `; ${planned.note}`;
    return wrote(`edited ${written.path} (1 replacement, ${read.bytes.length}→${written.bytes} bytes)${note}`);
  }

  /** Writes a file whole. `authored` is what of it the seat wrote: that is what the budget counts. */
  private write(
    path: string,
    content: string,
    authored: string,
  ):
    | { readonly ok: true; readonly path: string; readonly bytes: number }
    | { readonly ok: false; readonly outcome: Outcome } {
    const refuse = (text: string) => ({ ok: false as const, outcome: refused(text) });
    const target = readWritePath(path, this.contract.write_root);
    if (!target.ok) return refuse(`NOT performed: ${target.reason}`);
    const fault = authoredTextFault(authored);
    if (fault !== null) return refuse(`NOT performed: ${fault}`);
    const admitted = admitWrite(this.budget, target.path, authored);
    if (!admitted.ok) {
      this.budget = admitted.budget;
      return refuse(admitted.message);
    }
    const bytes = new TextEncoder().encode(content);
    const written = this.workspace.write(path, bytes, this.contract.write_root);
    // What a rule refused was no write; what the disk refused is not refunded.
    if (!written.ok && written.kind === "refused") return { ok: false, outcome: this.refusedBy(written, path) };
    this.budget = admitted.budget;
    this.failures = written.ok ? [] : [...this.failures, written.message];
    if (!written.ok) return { ok: false, outcome: failed(`error: ${written.message}`) };
    return { ok: true, path: written.path, bytes: bytes.length };
  }

  /** What the workspace did not do; where a name is not there, those that may have been meant. */
  private refusedBy({ kind, message }: Refusal, path: string): Outcome {
    if (kind === "refused") return refused(`NOT performed: ${message}`);
    const names = this.contract.context.map(({ name }) => name);
    if (names.length === 0 || names.includes(path)) return failed(`error: ${message}`);
    const near = names.find((name) => name.endsWith(`/${path}`)) ?? nearest(path, names);
    const more = names.length > TOLD_NAMES ? ", …" : "";
    const meant =
      near === null ? `the files are ${names.slice(0, TOLD_NAMES).join(", ")}${more}` : `did you mean ${near}?`;
    return failed(`error: ${message}; ${meant}`);
  }
}

const TOLD_NAMES = 8;

function textOf(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

function done(text: string): Outcome {
  return { text, status: "ok", hasWritten: false };
}

function wrote(text: string): Outcome {
  return { text, status: "ok", hasWritten: true };
}

function failed(text: string): Outcome {
  return { text, status: "error", hasWritten: false };
}

function refused(text: string): Outcome {
  return { text, status: "refused", hasWritten: false };
}
