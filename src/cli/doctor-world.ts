/** The world that the doctor looks at: this machine, this user, the project around the present folder. */
import { accessSync, constants, lstatSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { Config } from "../core/config/config.ts";
import { issuesBehind } from "../core/config/issue.ts";
import { WritError } from "../core/error.ts";
import type { CertificateLook, ConfigLook, Look, Program, Rehearsal, SettingsFile, World } from "../doctor/world.ts";
import { dispatchTurn } from "../editor/dispatch.ts";
import { otherUsers } from "../host/accounts.ts";
import { runChild } from "../host/child.ts";
import { readSettingsFile } from "../host/settings-file.ts";
import { stateFault, stateFolder } from "../host/state-folder.ts";
import { openEndpoint } from "../llm/endpoint.ts";
import { sha256 } from "../store/drafts.ts";
import { inspectStore, walFault } from "../store/inspect.ts";
import { scratchFolder } from "../store/scratch.ts";
import { certificateFacts } from "../wire/certificate.ts";
import { openNodeClient } from "../wire/node-client.ts";
import { type ConfigAsk, loadConfig } from "./config-world.ts";
import { ownProgram, projectFolder, type Scope, settingsPath } from "./hooks/place.ts";
import { tlsOf } from "./node-tls.ts";
import { passedOver } from "./passed-over.ts";
import { releaseOf } from "./release.ts";
import { ENDPOINT_WORLD } from "./seat-finder.ts";
import { instant, openWorld, placesOf } from "./world.ts";

/** How long one hook command may take, in milliseconds. */
const CALL_MS = 20_000;

/** What of the doctor's command line its checks need. */
export type DoctorAsk = World["asked"] & { readonly config: string | undefined; readonly remote: string | undefined };

export async function openDoctorWorld({ config, remote, ...asked }: DoctorAsk): Promise<World> {
  const { version } = await releaseOf();
  const project = projectFolder();
  const places = placesOf();
  let looked: Promise<ConfigLook> | null = null;
  return {
    asked,
    config: () => {
      looked ??= lookAtConfig({ config, options: remote === undefined ? {} : { remotes: [remote] } });
      return looked;
    },
    variable: (name) => process.env[name] ?? "",
    isSet: (variable) => (process.env[variable] ?? "") !== "",
    stateFault: () => ({ folder: stateFolder(places.data), fault: stateFault(places.data) }),
    certificate: lookAtCertificate,
    openSeat: (seat) => openEndpoint(seat, ENDPOINT_WORLD),
    openNode: ({ url, token_env, ca_file }) =>
      openNodeClient({ url, ca_file, token: () => (token_env === "" ? "" : (process.env[token_env] ?? "")) }),
    passedOver,
    deadline: (ms) => AbortSignal.timeout(ms),
    versionAsBun,
    which: (program) => Bun.which(program),
    otherUsers,
    places: { ...places, temporary: tmpdir() },
    version,
    settings: settingsFiles(),
    readSettings: readSettingsFile,
    look,
    canMake,
    inspectStore,
    walFault,
    findProgram: (program) => findProgram(program, project),
    versionOf: (program) => versionOf(program, project),
    openRehearsal: () => openRehearsal(project),
  };
}

const DAY_MS = 86_400_000;

function lookAtCertificate(node: Config["node"]): CertificateLook {
  try {
    const tls = tlsOf(node);
    if (tls === null) return { kind: "none" };
    const { valid_from_ms, valid_to_ms, names } = certificateFacts(tls);
    const now_ms = Date.now();
    return {
      kind: "fit",
      valid_from_at: instant(valid_from_ms),
      valid_to_at: instant(valid_to_ms),
      days_left: Math.floor((valid_to_ms - now_ms) / DAY_MS),
      isYetToBegin: valid_from_ms > now_ms,
      names,
    };
  } catch (error) {
    if (!(error instanceof WritError)) throw error;
    return { kind: "unusable", why: error.message, hint: error.hint ?? null };
  }
}

async function lookAtConfig(ask: ConfigAsk): Promise<ConfigLook> {
  try {
    return { kind: "loaded", silent: null, ...(await loadConfig(ask)) };
  } catch (error) {
    if (!(error instanceof WritError)) throw error;
    if (error.code === "seat_unavailable") {
      return { kind: "loaded", silent: error.message, ...(await loadConfig({ ...ask, find: null })) };
    }
    if (error.code !== "bad_config") throw error;
    return { kind: "invalid", ...issuesBehind(error) };
  }
}

/** What an executable that was stripped no longer does. */
async function versionAsBun(): Promise<string | null> {
  const asked = await runChild([process.execPath, "--version"], {
    cwd: tmpdir(),
    env: { ...childEnvironment({}), BUN_BE_BUN: "1" },
    stdin: "",
    waitMs: CALL_MS,
  });
  if (asked.kind !== "ended" || asked.exit !== 0) return null;
  return /^(\d+\.\d+\.\d+\S{0,40})\s*$/.exec(asked.stdout)?.[1] ?? null;
}

/** A home that is a project as well has one file, and it is the user's. */
function settingsFiles(): readonly SettingsFile[] {
  const files = (["user", "project", "local"] as const satisfies readonly Scope[]).map((scope) => ({
    scope,
    path: settingsPath(scope),
  }));
  return files.filter((file, place) => files.findIndex((each) => sameFile(each.path, file.path)) === place);
}

function sameFile(left: string, right: string): boolean {
  return left === right || (realPath(left) !== null && realPath(left) === realPath(right));
}

function look(path: string): Look | null {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return lstatSync(path, { throwIfNoEntry: false }) === undefined ? null : OTHER;
    return {
      kind: stat.isDirectory() ? "folder" : stat.isFile() ? "file" : "other",
      mode: process.platform === "win32" ? null : stat.mode & 0o777,
      isMine: process.getuid === undefined || stat.uid === process.getuid(),
      isWritable: isAllowed(path, constants.W_OK),
    };
  } catch {
    return OTHER; // something is in the way that cannot be looked at
  }
}

const OTHER: Look = { kind: "other", mode: null, isMine: true, isWritable: false };

/** Whether the nearest folder that is there can be written. */
function canMake(path: string): boolean {
  const parent = dirname(path);
  const there = look(parent);
  if (there !== null) return there.kind === "folder" && there.isWritable;
  return parent !== path && canMake(parent);
}

/** A first word with a slash is a path, from the project on, where hooks run; else it is looked up on PATH. */
function findProgram(program: readonly string[], project: string): Program {
  const [word = "", ...more] = program;
  const path = /[/\\]/.test(word) ? resolve(project, word) : Bun.which(word, { cwd: project });
  const isThere = path !== null && (statSync(path, { throwIfNoEntry: false })?.isFile() ?? false);
  if (path === null || !isThere || !isAllowed(path, constants.X_OK)) {
    return { path: null, isSelf: false };
  }
  const files = [path, ...more.map((each) => resolve(project, each))];
  const own = ownProgram();
  const isSelf = files.length === own.length && files.every((file, place) => isSame(file, own[place] ?? ""));
  return { path, isSelf };
}

/** The same file, or one with the same bytes. */
function isSame(left: string, right: string): boolean {
  if (sameFile(left, right)) return true;
  const [one, other] = [left, right].map((path) => statSync(path, { throwIfNoEntry: false }));
  if (one?.size === undefined || one.size !== other?.size) return false;
  return sha256(readFileSync(left)) === sha256(readFileSync(right));
}

async function versionOf(program: readonly string[], project: string): Promise<string | null> {
  const asked = await runChild([...program, "--version"], {
    cwd: project,
    env: childEnvironment({}),
    stdin: "",
    waitMs: CALL_MS,
  });
  if (asked.kind !== "ended" || asked.exit !== 0) return null;
  return /^writ (\d[\w.+-]{0,60}) /.exec(asked.stdout)?.[1] ?? null;
}

/** Errors: `store_failed` where no folder can be made. */
function openRehearsal(project: string): Rehearsal {
  const folder = scratchPlace();
  const data = join(folder, "data");
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const places = placesOf({ HOME: process.env.HOME, WRIT_DATA_DIR: data });
    const world = {
      ...openWorld(places),
      contractId: null,
      workspace: null,
      environment: () => ({ platform: process.platform, architecture: process.arch }),
      limits: { graceHours: 24, maxDays: 7 },
      scratch: scratchFolder(places.scratch),
    };
    const session_id = crypto.randomUUID();
    const { contract_id } = dispatchTurn(world, { ...TURN, session_id });
    return {
      session_id,
      cwd: folder,
      runs: () =>
        new Map(
          world.store
            .read((tables) => tables.records.list(contract_id))
            .flatMap(({ command, exit_code, failed }) => (command === null ? [] : [[command, { exit_code, failed }]])),
        ),
      row: () => world.store.read((tables) => tables.handoffs.find(contract_id)),
      call: (argv, payload) =>
        runChild(argv, {
          cwd: project,
          env: childEnvironment({ WRIT_DATA_DIR: data, CLAUDE_PROJECT_DIR: project }),
          stdin: JSON.stringify(payload),
          waitMs: CALL_MS,
        }),
      close() {
        world.store.close();
        remove();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}

const TURN = {
  agent: "doctor",
  goal: "See whether the hooks record",
  workspace: "doctor",
  project: null,
  role: null,
  surface: null,
  kind: null,
  plan_task_id: null,
  plan_id: null,
  parent_handoff_id: null,
  brief_id: null,
  harness_agent_id: null,
  can_read: null,
  can_write: null,
  consolidation: false,
} as const;

function scratchPlace(): string {
  try {
    return mkdtempSync(join(tmpdir(), "writ-doctor-"));
  } catch (error) {
    throw new WritError("store_failed", `Cannot make a folder in "${tmpdir()}": ${error}`, { cause: error });
  }
}

/** The environment without what would lead a writ elsewhere, or change what it is. */
function childEnvironment(more: Readonly<Record<string, string>>): Record<string, string | undefined> {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(WRIT_|BUN_OPTIONS$|BUN_BE_BUN$|BUN_INSPECT)/.test(name),
  );
  return { ...Object.fromEntries(inherited), HOME: process.env.HOME ?? homedir(), ...more };
}

function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null; // not there
  }
}

function isAllowed(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false; // not ours
  }
}
