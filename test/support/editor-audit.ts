/**
 * What must hold when a storm over the editor is over:
 *
 * - what was acknowledged is in the store, once, and in the order of acknowledgement; what was refused, or found the store
 *   unavailable, is not there; what was killed is there once or not at all;
 * - each turn is whole: its journal, its row, its draft and what is shown of it agree, and validate, verify and chain say so;
 * - a closed contract was closed, and is continued by at most one;
 * - what killed processes left in folders is taken away by a later call.
 */
import { Database } from "bun:sqlite";
import { existsSync, lstatSync, readdirSync, readFileSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { applyChanges, type Change } from "../../src/core/contract/changes.ts";
import { isClosed } from "../../src/core/contract/state.ts";
import { type JsonObject, type JsonValue, sameJson } from "../../src/core/json/value.ts";
import { artifactOf, BRIEF, type Deed } from "./editor-storm.ts";
import type { Tally } from "./storm-report.ts";
import type { LivingWorld, Ran } from "./writ.ts";

export type EditorField = {
  readonly world: LivingWorld;
  readonly env: Readonly<Record<string, string>>;
  readonly deeds: readonly Deed[];
  readonly roots: readonly string[];
  readonly tally: Tally;
};

type Row = {
  readonly id: number;
  readonly contract_id: string;
  readonly agent_state: string;
  readonly raw_handoff_json: string;
  readonly content_checks: string | null;
  readonly closed_at: string | null;
  readonly continues_handoff_id: number | null;
};
type JournalRow = {
  readonly contract_id: string;
  readonly change_id: number;
  readonly verb: string;
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly draft_sha256: string;
};
type RecordRow = { readonly contract_id: string; readonly command: string | null; readonly tool_use_id: string | null };
type EvidenceRow = { readonly id: number; readonly text: string | null; readonly artifact_path: string | null };

/** Calls of the audit at one moment. */
const WIDTH = 3;
const LEFTOVER_MS = 2 * 3_600_000;

export async function auditEditor(field: EditorField): Promise<void> {
  const audit = new Audit(field);
  await audit.leftovers();
  audit.read();
  audit.writes();
  audit.records();
  audit.evidence();
  audit.tasks();
  audit.closes();
  await audit.turns();
}

class Audit {
  readonly #field: EditorField;
  readonly #tally: Tally;
  #rows: readonly Row[] = [];
  #journal: ReadonlyMap<string, readonly JournalRow[]> = new Map();
  #records: readonly RecordRow[] = [];
  #evidence: readonly EvidenceRow[] = [];
  #tasks: readonly { readonly id: number; readonly goal: string }[] = [];

  constructor(field: EditorField) {
    this.#field = field;
    this.#tally = field.tally;
  }

  /** Ages what was left, as an hour would, and lets the next calls of those verbs take it away. */
  async leftovers(): Promise<void> {
    const { world } = this.#field;
    const left = () => filesBelow(world.data).filter((path) => path.endsWith(".tmp"));
    const found = left();
    this.#tally.count("left: files half written", found.length);
    const mark = join(world.data, "contract_drafts", ".swept");
    const past = (Date.now() - LEFTOVER_MS) / 1000;
    for (const path of found) utimesSync(path, past, past);
    // One of a clock that was ahead stays as it is: it must not keep anybody from it.
    if (existsSync(mark) && lstatSync(mark).mtimeMs <= Date.now()) utimesSync(mark, past, past);
    await this.#writ("dispatch", "--agent", "audit", "--goal", "look");
    const file = join(world.folder, "audit.log");
    await Bun.write(file, artifactOf("audit"));
    const words = ["--brief", BRIEF, "--ac", "AC-1", "--type", "command_output", "--artifact-file", file];
    await this.#writ("evidence", "add", ...words);
    for (const path of left()) this.#tally.fault(`nobody takes ${path} away`);
    const copies = readdirSync(join(world.folder, "tmp")).filter((name) => name.startsWith("writ-"));
    this.#tally.count("left: copies for reading", copies.length);
  }

  read(): void {
    const db = new Database(join(this.#field.world.data, "writ.db"), { readwrite: true });
    try {
      const check = db.query<{ integrity_check: string }, []>("PRAGMA integrity_check").get();
      this.#hold(check?.integrity_check === "ok", () => `the store says ${check?.integrity_check}`);
      const keys = db.query("PRAGMA foreign_key_check").all();
      this.#hold(keys.length === 0, () => `${keys.length} rows point at nothing`);
      this.#rows = db.query<Row, []>("SELECT * FROM handoffs ORDER BY id").all();
      const journal = db.query<JournalRow, []>("SELECT * FROM journal ORDER BY id").all();
      this.#journal = Map.groupBy(journal, ({ contract_id }) => contract_id);
      this.#records = db.query<RecordRow, []>("SELECT contract_id, command, tool_use_id FROM tool_records").all();
      this.#evidence = db.query<EvidenceRow, []>("SELECT id, text, artifact_path FROM evidence").all();
      this.#tasks = db.query<{ id: number; goal: string }, []>("SELECT id, goal FROM tasks").all();
    } finally {
      db.close();
    }
    this.#tally.count("found: turns", this.#rows.length);
    this.#tally.count("found: changes", [...this.#journal.values()].flat().length);
    this.#tally.count("found: records", this.#records.length);
  }

  /** Changes of envelopes: `add`, `set`, `fill`, and the fills that declare a turn over. */
  writes(): void {
    const changes = [...this.#journal.values()].flat();
    const places = new Map<string, Set<number>>();
    for (const { change_id, after } of changes) {
      for (const [mark] of (after ?? "").matchAll(/mark-\d+\./g)) {
        places.set(mark, (places.get(mark) ?? new Set()).add(change_id));
      }
    }
    const verbs = new Set(["add", "set", "fill", "block", "complete"]);
    for (const deed of this.#field.deeds.filter(({ kind }) => verbs.has(kind))) {
      const { mark, fate, kind } = deed;
      // A list that grows, a close and a continuation carry a mark on: what made it comes first.
      const first = Math.min(...(places.get(mark) ?? []));
      const made = changes.find(({ change_id }) => change_id === first);
      if (!this.#expect(deed, made === undefined ? 0 : 1)) continue;
      if (made === undefined) continue;
      const verb = kind === "add" || kind === "set" ? kind : "fill";
      this.#hold(made.verb === verb, () => `${mark} was made by ${made.verb}, and not by ${verb}`);
      if (fate !== "acknowledged") continue;
      const { draft_id, change_id } = deed.document ?? {};
      const said = `${draft_id} ${change_id}`;
      this.#hold(
        `${made.contract_id} ${first}` === said,
        () => `${mark} is at ${made.contract_id} ${first}, not ${said}`,
      );
      if (kind === "add") this.#appended(mark, made);
    }
    this.#order(
      this.#field.deeds.filter(({ kind, fate }) => verbs.has(kind) && fate === "acknowledged"),
      ({ document }) => Number(document?.change_id),
    );
  }

  /** An add puts one entry behind what was there. */
  #appended(mark: string, { before, after }: JournalRow): void {
    const [old, now] = [before, after].map((text) => JSON.parse(text ?? "[]") as JsonValue[]);
    const wanted = JSON.stringify([...(old ?? []), mark]);
    this.#hold(JSON.stringify(now) === wanted, () => `${mark} was not put behind the list: ${after?.slice(-200)}`);
    this.#hold(new Set(now).size === now?.length, () => `an entry is there twice: ${after?.slice(-200)}`);
  }

  /** What was acknowledged before another call began stands before what that call did. */
  #order(deeds: readonly Deed[], placeOf: (deed: Deed) => number): void {
    const sorted = deeds.toSorted((left, right) => placeOf(left) - placeOf(right));
    let latest: Deed | null = null;
    for (const deed of sorted) {
      if (latest !== null && deed.ran.to_ms < latest.ran.from_ms) {
        this.#tally.fault(`${deed.mark} was acknowledged before ${latest.mark} began, and stands behind it`);
      }
      if (latest === null || deed.ran.from_ms > latest.ran.from_ms) latest = deed;
    }
    this.#tally.count("checked: pairs in order", Math.max(0, sorted.length - 1));
  }

  records(): void {
    for (const deed of this.#field.deeds.filter(({ kind }) => kind === "run" || kind === "hook")) {
      const found = this.#records.filter(({ command }) => command?.split(" ").includes(deed.mark));
      this.#expect(deed, found.length);
    }
  }

  evidence(): void {
    const files = new Map(filesBelow(join(this.#field.world.data, "evidence")).map((path) => [path, ""]));
    for (const path of files.keys()) files.set(path, readFileSync(path, "utf8"));
    const named = new Set(this.#evidence.map(({ artifact_path }) => artifact_path));
    for (const deed of this.#field.deeds.filter(({ kind }) => kind.startsWith("evidence"))) {
      const found = this.#evidence.filter(({ text, artifact_path }) => {
        const whole = text ?? files.get(artifact_path ?? "") ?? "";
        return text === null ? whole === artifactOf(deed.mark) : whole === deed.mark;
      });
      if (!this.#expect(deed, found.length)) continue;
      if (deed.fate === "acknowledged") {
        this.#hold(found[0]?.id === deed.document?.id, () => `${deed.mark} is evidence ${found[0]?.id}`);
      }
    }
    for (const { id, artifact_path } of this.#evidence) {
      if (artifact_path === null) continue;
      this.#hold(files.has(artifact_path), () => `evidence ${id} names ${artifact_path}, which is not there`);
    }
    const orphans = [...files.keys()].filter((path) => !named.has(path));
    // A process was killed between the file and its row: nobody cites it, and it is no half one.
    this.#tally.count("left: files of evidence without a row", orphans.length);
    for (const path of orphans) {
      const text = files.get(path) ?? "";
      this.#hold(text === artifactOf(text.split("\n")[0] ?? ""), () => `${path} is half a file`);
    }
  }

  tasks(): void {
    for (const deed of this.#field.deeds.filter(({ kind }) => kind === "task")) {
      const found = this.#tasks.filter(({ goal }) => goal === deed.mark);
      if (this.#expect(deed, found.length) && deed.fate === "acknowledged") {
        this.#hold(found[0]?.id === deed.document?.id, () => `${deed.mark} is task ${found[0]?.id}`);
      }
    }
    this.#order(
      this.#field.deeds.filter(({ kind, fate }) => kind === "task" && fate === "acknowledged"),
      ({ document }) => Number(document?.id),
    );
  }

  /** How many contracts were closed, and continued. */
  closes(): void {
    const rows = new Map(this.#rows.map((row) => [row.contract_id, row]));
    const opened = new Map<string, number>();
    for (const { kind, fate, document, mark } of this.#field.deeds) {
      if (fate !== "acknowledged" || document === null) continue;
      if (kind === "dispatch") {
        this.#hold(rows.has(String(document.contract_id)), () => `the turn of ${mark} is not there`);
      }
      const { continuation } = document as {
        readonly continuation?: { created: boolean; continues_contract_id: string };
      };
      if (continuation?.created === true) {
        const from = continuation.continues_contract_id;
        opened.set(from, (opened.get(from) ?? 0) + 1);
      }
      if (kind !== "finalize" || document.status !== "finalized") continue;
      const row = rows.get(String(document.draft_id));
      const isShut = row !== undefined && isClosed(row.agent_state) && row.closed_at !== null;
      this.#hold(isShut, () => `${document.draft_id} was said to be closed, and is ${row?.agent_state}`);
      this.#tally.count(document.created === true ? "closes: made" : "closes: made before");
    }
    for (const [id, times] of opened) this.#hold(times === 1, () => `${times} calls say that they continued ${id}`);
    const continued = Map.groupBy(this.#rows, ({ continues_handoff_id }) => continues_handoff_id);
    for (const [id, links] of continued) {
      if (id !== null) this.#hold(links.length === 1, () => `${links.length} contracts continue ${id}`);
    }
    const finals = this.#field.deeds.filter(
      ({ kind, document }) => kind === "finalize" && document?.agent_state === "COMPLETE" && document.created === true,
    );
    for (const [id, made] of Map.groupBy(finals, ({ document }) => String(document?.draft_id))) {
      this.#hold(made.length === 1, () => `${made.length} calls say that they closed ${id}`);
    }
    for (const row of this.#rows) {
      if (!isClosed(row.agent_state)) continue;
      this.#tally.count("found: closed turns");
      this.#hold(row.content_checks !== null, () => `${row.contract_id} is closed without its checks`);
      const last = this.#journal.get(row.contract_id)?.at(-1);
      this.#hold(last?.verb === "finalize", () => `the last change of the closed ${row.contract_id} is ${last?.verb}`);
    }
  }

  /** Each turn says of itself that it is whole, and shows what its journal holds. */
  async turns(): Promise<void> {
    const rows = [...this.#rows];
    const look = async () => {
      for (let row = rows.pop(); row !== undefined; row = rows.pop()) await this.#turn(row);
    };
    await Promise.all(Array.from({ length: WIDTH }, look));
  }

  async #turn(row: Row): Promise<void> {
    const { contract_id } = row;
    const at = ["--draft-id", contract_id];
    const file = join(this.#field.world.data, "contract_drafts", `${contract_id}.json`);
    // A process whose clock was ahead takes a draft for an old one; its turn stays, and a write makes it anew.
    if (existsSync(file)) await this.#writ("contract", "validate", ...at);
    else this.#tally.count("left: turns without a draft");
    await this.#writ("record", "verify", contract_id);
    const chain = JSON.parse((await this.#writ("contract", "chain", "--json", ...at)).stdout || "{}") as {
      readonly handoffs?: readonly Row[];
    };
    this.#hold(
      chain.handoffs?.some((link) => link.contract_id === contract_id) === true &&
        chain.handoffs.every((link, place, all) => place === 0 || link.continues_handoff_id === all[place - 1]?.id),
      () => `the chain of ${contract_id} is not whole`,
    );
    const viewed = await this.#writ("contract", "view", "--json", ...at);
    const shown = (JSON.parse(viewed.stdout || "{}") as { readonly envelope?: JsonObject }).envelope;
    const changes = this.#journal.get(contract_id) ?? [];
    const kept = rebuilt(changes);
    this.#hold(
      shown !== undefined && kept !== null && sameJson(shown, kept),
      () => `${contract_id} is shown otherwise than its journal has it`,
    );
    const mirrored = JSON.parse(row.raw_handoff_json) as JsonObject;
    if (kept !== null && "evidence_report" in mirrored) {
      this.#hold(sameJson(bare(mirrored), bare(kept)), () => `the row of ${contract_id} differs from its journal`);
    }
    if (existsSync(file)) {
      const digest = new Bun.CryptoHasher("sha256").update(readFileSync(file)).digest("hex");
      const place = changes.findLastIndex(({ draft_sha256 }) => draft_sha256 === digest);
      this.#hold(place >= 0, () => `the draft of ${contract_id} is no state that its journal has seen`);
      // A process was killed between the commit and the rename: the next write brings it up.
      if (changes[place]?.draft_sha256 !== changes.at(-1)?.draft_sha256) this.#tally.count("left: drafts behind");
    }
    const byHand = changes.filter(({ verb }) => verb === "found");
    this.#hold(byHand.length === 0, () => `${byHand.length} changes of ${contract_id} were taken for edits by hand`);
  }

  /** Whether so many are as many as the end of the call allows. */
  #expect({ fate, mark, kind, ran }: Deed, found: number): boolean {
    const isRight = fate === "acknowledged" ? found === 1 : fate === "killed" ? found <= 1 : found === 0;
    if (fate === "killed") this.#tally.count(found === 1 ? "killed: it is there" : "killed: it is not there");
    return this.#hold(isRight, () => `${kind} ${mark} was ${fate} (${ran.exit}), and is there ${found} times`);
  }

  #hold(holds: boolean, text: () => string): boolean {
    return this.#tally.hold(holds, text);
  }

  /** A call that must end in 0. */
  async #writ(...args: string[]): Promise<Ran> {
    const ran = await this.#field.world.writ(args, { env: this.#field.env });
    this.#hold(
      ran.exit === 0,
      () => `${args.join(" ").slice(0, 120)} ended in ${ran.exit}: ${ran.stdout}${ran.stderr}`,
    );
    return ran;
  }
}

function rebuilt(rows: readonly JournalRow[]): JsonObject | null {
  let envelope: JsonObject | null = null;
  for (const { path, before, after } of rows) {
    const change: Change = {
      path,
      ...(before === null ? {} : { before: JSON.parse(before) as JsonValue }),
      ...(after === null ? {} : { after: JSON.parse(after) as JsonValue }),
    };
    envelope = applyChanges(envelope, [change]);
  }
  return envelope;
}

/** Without what a row keeps of a birth. */
function bare({ born_at_dispatch, agent_name, ...rest }: JsonObject): JsonObject {
  return rest;
}

function filesBelow(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => lstatSync(path).isFile());
}
