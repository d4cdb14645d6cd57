/**
 * The real world, as the workflows name it: the store and the drafts of this user, the clock, the ids.
 *
 * The environment is read here, at every call, and nowhere deeper.
 */
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { World } from "../editor/world.ts";
import { draftFolder, sha256 } from "../store/drafts.ts";
import { openStore, openStoreToRead } from "../store/open.ts";

/** Where this user's things lie. */
export type Places = {
  readonly data: string;
  readonly database: string;
  readonly drafts: string;
  readonly scratch: string;
  /** The user's home folder, which `~/` stands for. */
  readonly home: string;
};

export function placesOf(environment: NodeJS.ProcessEnv = process.env): Places {
  const home = filled(environment.HOME) ?? homedir();
  const data = resolve(filled(environment.WRIT_DATA_DIR) ?? join(home, ".writ"));
  return {
    data,
    // Absolute: ":memory:" is a file's name like any other, and no store that forgets.
    database: resolve(filled(environment.WRIT_DB) ?? join(data, "writ.db")),
    drafts: join(data, "contract_drafts"),
    scratch: join(data, "scratch"),
    home,
  };
}

/** The world of a verb that writes: the store is made where it is missing. */
export function openWorld(places: Places = placesOf()): World {
  return { ...worldAround(places), store: openStore(places.database) };
}

/** The world of a verb that only reads: no store is made for it. */
export function openReadingWorld() {
  const places = placesOf();
  return { ...worldAround(places), store: openStoreToRead(places.database) };
}

let isLasting = false;

/** From now on a store is closed behind each workflow: this process answers many calls. */
export function lastBeyondOneCall(): void {
  isLasting = true;
}

type Leavable = { leave(): void; close(): void };

/** Runs a workflow on the world and leaves the store behind it: most processes are about to end then. */
export function inWorld<W extends { readonly store: Leavable | null }, T>(world: W, work: (world: W) => T): T {
  try {
    return work(world);
  } finally {
    if (isLasting) world.store?.close();
    else world.store?.leave();
  }
}

/** RFC 3339, UTC, whole seconds. */
export function instant(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** The workspace of a verb that makes a row: `--workspace`, else `WRIT_WORKSPACE`, else "me". */
export function workspaceOf(option: string | undefined): string {
  return filled(option)?.trim() ?? filled(process.env.WRIT_WORKSPACE)?.trim() ?? "me";
}

/** A session id that says nothing is none. */
export function sessionOf(option: string | undefined): string | null {
  const session = (option ?? "").trim();
  return session === "" || session.toLowerCase() === "unknown" ? null : session;
}

function worldAround(places: Places): Omit<World, "store"> {
  return {
    drafts: draftFolder(places.drafts),
    clock: { now: () => instant(Date.now()), ms: () => Date.now() },
    pid: process.pid,
    mint: { agentId: () => `a${randomHex(8)}`, token: () => randomHex(6) },
    sha256,
    contractId: filled(process.env.WRIT_CONTRACT_ID)?.trim() ?? null,
    workspace: filled(process.env.WRIT_WORKSPACE)?.trim() ?? null,
  };
}

/** Lower-case hex digits, two a byte, from a secure source. */
export function randomHex(bytes: number): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString("hex");
}

/** Null when it is unset or blank; else as it is: a folder's name may end in a blank. */
function filled(value: string | undefined): string | null {
  return value === undefined || value.trim() === "" ? null : value;
}
