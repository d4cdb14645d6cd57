/** Runs the cases of area "delegation-read-root": each makes its tree for real, in a folder that is removed after it. */
import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { readContracts } from "../../src/core/delegation/contract.ts";
import { JUDGES } from "../../src/core/delegation/judges.ts";
import { documentReader } from "../../src/host/read-root.ts";

type Node = {
  readonly path: string;
  readonly kind: "file" | "dir" | "symlink" | "hardlink" | "fifo";
  readonly text?: string;
  readonly size?: number;
  readonly b64?: string;
  readonly target?: string;
};

type Input = { readonly tree: readonly Node[]; readonly read_root: string; readonly context_paths: readonly string[] };

/** @returns what the case should expect; undefined when it names an operation, which this area has not */
export function run(op: string, input: unknown): unknown {
  if (op !== "") return undefined;
  const { tree, read_root, context_paths } = input as Input;
  const base = realpathSync(mkdtempSync(join(tmpdir(), "writ-read-root-")));
  const inBase = (text: string) => text.replaceAll("{BASE}", base);
  try {
    for (const node of tree) make(base, node, inBase(node.target ?? ""));
    const { issues, subtasks } = readContracts(
      JSON.stringify({ goal: "x", context_paths: context_paths.map(inBase) }),
      { ...JUDGES, readDocuments: documentReader(inBase(read_root)) },
    );
    if (issues.length > 0) return { result: "refused" };
    return { result: "allowed", names: subtasks.flatMap(({ contract }) => contract.context.map(({ name }) => name)) };
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

function make(base: string, node: Node, target: string): void {
  const path = join(base, node.path);
  mkdirSync(dirname(path), { recursive: true });
  switch (node.kind) {
    case "dir":
      mkdirSync(path, { recursive: true });
      break;
    case "symlink":
      symlinkSync(target, path);
      break;
    case "hardlink":
      linkSync(join(base, target), path);
      break;
    case "fifo":
      if (Bun.spawnSync(["mkfifo", path]).exitCode !== 0) throw new Error("mkfifo failed");
      break;
    case "file":
      writeFileSync(path, contentOf(node));
      break;
    default:
      node.kind satisfies never;
  }
}

function contentOf({ text, size, b64 }: Node): string | Uint8Array {
  if (b64 !== undefined) return Buffer.from(b64, "base64");
  return size === undefined ? (text ?? "") : "x".repeat(size);
}
