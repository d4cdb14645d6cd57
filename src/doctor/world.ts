/** What the doctor looks at. The command line hands in the real one, a test a scripted one. */

import type { Config, Remote } from "../core/config/config.ts";
import type { ConfigIssue } from "../core/config/issue.ts";
import type { Sources } from "../core/config/merge.ts";
import type { Seat } from "../core/config/seat.ts";
import type { StoreFacts } from "../core/contract/store-facts.ts";
import type { JsonObject } from "../core/json/value.ts";
import type { NodeClient } from "../core/node/client.ts";
import type { Endpoint } from "../core/seat/endpoint.ts";

/** A file or folder as it lies. */
export type Look = {
  readonly kind: "file" | "folder" | "other";
  /** Permission bits; null where the system has none. */
  readonly mode: number | null;
  readonly isMine: boolean;
  readonly isWritable: boolean;
};

/** The words that start a writ, found on this machine. */
export type Program = {
  /** The absolute path of the first word; null where there is none. */
  readonly path: string | null;
  /** It is this very writ, or has its bytes. */
  readonly isSelf: boolean;
};

export type SettingsFile = { readonly scope: "user" | "project" | "local"; readonly path: string };

/** What a hook command did with one payload. */
export type Called =
  | { readonly kind: "ended"; readonly exit: number; readonly stdout: string; readonly stderr: string }
  | { readonly kind: "not_started" | "late"; readonly reason: string };

/** A turn in a data folder of its own. */
export type Rehearsal = {
  readonly session_id: string;
  /** A folder that the scene may name. */
  readonly cwd: string;
  /** The runs that were recorded, by command. */
  runs(): ReadonlyMap<string, { readonly exit_code: number | null; readonly failed: boolean }>;
  row(): { readonly agent_state: string; readonly cut_reason: string | null } | null;
  /** Runs a hook command with a payload against the rehearsal's folder. */
  call(argv: readonly string[], payload: JsonObject): Promise<Called>;
  close(): void;
};

export type ConfigLook =
  | {
      readonly kind: "loaded";
      readonly config: Config;
      readonly sources: Sources;
      /** Null: the built-in config. */
      readonly file: string | null;
      /** Why it is not known what the server of the seat of the environment serves; null where it is. */
      readonly silent: string | null;
    }
  | { readonly kind: "invalid"; readonly file: string | null; readonly issues: readonly ConfigIssue[] };

/** What a node would show its callers. */
export type CertificateLook =
  | { readonly kind: "none" }
  /** As `writ node serve` would end. */
  | { readonly kind: "unusable"; readonly why: string; readonly hint: string | null }
  | {
      readonly kind: "fit";
      /** RFC 3339. */
      readonly valid_from_at: string;
      readonly valid_to_at: string;
      /** Until it ends, in whole days; less than 0: it has ended. */
      readonly days_left: number;
      readonly isYetToBegin: boolean;
      /** Of hosts; "" where it has none. */
      readonly names: string;
    };

/** A node that answered about other documents. */
export type PassedOver = {
  readonly name: string;
  /** RFC 3339. */
  readonly until_at: string;
  /** The command that ends it. */
  readonly ends: string;
};

export type World = {
  readonly asked: {
    /** Nothing but the config and this seat, or the one remote that the config then has. */
    readonly only: { readonly kind: "seat"; readonly name: string } | { readonly kind: "remote" } | null;
    /** A model that a proxy has not loaded may be loaded. */
    readonly load: boolean;
  };
  /** The same at every call. */
  config(): Promise<ConfigLook>;
  /** Whether a variable of the environment has a value. */
  isSet(variable: string): boolean;
  /** The value of a variable of the environment; "" where it has none. */
  variable(name: string): string;
  /** Writes, flushes, renames and removes a file in the state folder; why that does not work, or null. */
  stateFault(): { readonly folder: string; readonly fault: string | null };
  /** The certificate and the key that a config names, read and held against each other. */
  certificate(node: Config["node"]): CertificateLook;
  openSeat(seat: Seat): Endpoint;
  /** How a node is passed over by delegations of this user; null where it is not. */
  passedOver(node_id: string, url: string): PassedOver | null;
  openNode(remote: Remote): Pick<NodeClient, "health" | "poll">;
  /** A signal that comes after a time, in milliseconds. */
  deadline(ms: number): AbortSignal;
  /** The version that this executable says when it acts as Bun; null where it does not. */
  versionAsBun(): Promise<string | null>;
  /** Where a program is on PATH. */
  which(program: string): string | null;
  /** People besides this user who have an account here; null where that is not known. */
  otherUsers(): readonly string[] | null;
  readonly places: {
    readonly data: string;
    readonly database: string;
    readonly drafts: string;
    /** Where gates make their copies. */
    readonly temporary: string;
  };
  readonly version: string;
  /** In the order in which a harness reads them; each file once. */
  readonly settings: readonly SettingsFile[];
  /** Errors: as the set-up's own reader. */
  readSettings(path: string): string | null;
  look(path: string): Look | null;
  /** Whether a folder could be made at a path where nothing is. */
  canMake(path: string): boolean;
  inspectStore(path: string): StoreFacts;
  /** Why a WAL database does not work in a folder; null when it does. */
  walFault(folder: string): string | null;
  findProgram(program: readonly string[]): Program;
  /** The version that a writ names; null when it names none. */
  versionOf(program: readonly string[]): Promise<string | null>;
  /** Errors: `store_failed` where no folder of its own can be made. */
  openRehearsal(): Rehearsal;
};
