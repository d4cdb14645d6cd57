/**
 * How an artefact is started on this machine, or why it is not: by itself where machine and C library are its own, with
 * the libraries of a folder where only those are missing, and under QEMU where the processor is another.
 */
import { posix } from "node:path";
import type { Target } from "../targets.ts";
import type { Header } from "./header.ts";

/** What is asked of a machine. A test hands in a made one. */
export type Machine = {
  readonly platform: string;
  readonly arch: string;
  /** The folder that holds one folder a target, with what its artefact needs and this machine has not. */
  readonly roots: string;
  exists(path: string): boolean;
  which(program: string): string | null;
};

export type Start =
  | {
      readonly ok: true;
      /** For the page. */
      readonly how: string;
      /** What stands before the artefact on the command line. */
      readonly before: readonly string[];
      /** How it is started for its time alone: without what only the session needs. */
      readonly timed: { readonly before: readonly string[]; readonly env: Readonly<Record<string, string>> };
      readonly isEmulated: boolean;
    }
  | { readonly ok: false; readonly why: string };

const NAMES = { arm64: "aarch64", x64: "x86_64" } as const;

/** What the header of a target's artefact has to say. */
function headerOf(target: Target): Omit<Header, "loader"> & { readonly loader: RegExp | null } {
  const arch = target.includes("arm64") ? "arm64" : "x64";
  if (target.startsWith("darwin")) return { format: "mach-o", arch, loader: null };
  if (target.startsWith("windows")) return { format: "pe", arch, loader: null };
  return { format: "elf", arch, loader: target.endsWith("-musl") ? /^\/lib\/ld-musl-/ : /^\/lib(64)?\/ld-linux-/ };
}

/** Whether an artefact is what its name says. */
export function isHeaderOf(target: Target, { format, arch, loader }: Header): boolean {
  const wanted = headerOf(target);
  const isRight = wanted.format === format && wanted.arch === arch;
  return isRight && (wanted.loader === null ? loader === null : wanted.loader.test(loader ?? ""));
}

/** @param header of the artefact, which is the target's */
export function findStart(target: Target, header: Header, machine: Machine): Start {
  const platform = target.startsWith("darwin") ? "darwin" : target.startsWith("windows") ? "win32" : "linux";
  if (platform !== machine.platform) return skipped(`it was built, and never run: this machine is ${machine.platform}`);
  if (platform !== "linux") {
    return header.arch === machine.arch ? started("by itself") : skipped(`this machine is ${machine.arch}`);
  }
  const loader = header.loader ?? "";
  const own = posix.join(machine.roots, target);
  const libraries = posix.join(own, "lib");
  const isMusl = target.endsWith("-musl");
  if (header.arch === machine.arch) {
    if (!machine.exists(loader)) return skipped(`there is no ${loader}${isMusl ? " (Debian 13: package musl)" : ""}`);
    // musl comes without a C++ library, and one beside it must be where the loader looks, also within a gate's walls.
    if (!isMusl || !machine.exists(posix.join(libraries, "libstdc++.so.6"))) return started("by itself");
    const place = `/usr/lib/${NAMES[header.arch]}-linux-musl`;
    const bwrap = machine.which("bwrap");
    if (bwrap === null || !machine.exists(place)) return skipped(`there is no bwrap, or no ${place} to mount at`);
    const mount = ["--die-with-parent", "--dev-bind", "/", "/", "--ro-bind", libraries, place, "--"];
    const timed = { before: [], env: { LD_LIBRARY_PATH: libraries } };
    return { ...started("by itself, with the libraries of musl mounted", [bwrap, ...mount]), timed };
  }
  const name = NAMES[header.arch];
  const qemu = machine.which(`qemu-${name}-static`) ?? machine.which(`qemu-${name}`);
  if (qemu === null) return skipped(`there is no qemu-${name}-static (Debian: package qemu-user-static)`);
  const root = [own, `/usr/${name}-linux-gnu`, "/"].find((each) => machine.exists(posix.join(each, loader)));
  if (root === undefined) {
    const where = isMusl ? posix.join(own, loader) : `/usr/${name}-linux-gnu (Debian: package libc6-arm64-cross)`;
    return skipped(`there is no ${loader} below ${where}`);
  }
  const inside = isMusl ? ["-E", `LD_LIBRARY_PATH=${libraries}`] : [];
  return { ...started("under QEMU's user mode", [qemu, "-L", root, ...inside]), isEmulated: true };
}

function started(how: string, before: readonly string[] = []): Extract<Start, { readonly ok: true }> {
  return { ok: true, how, before, timed: { before, env: {} }, isEmulated: false };
}

function skipped(why: string): Start {
  return { ok: false, why };
}
