/** The templates that this executable carries. */
import { join } from "node:path";
import type { Templates } from "../../author/template.ts";
import { CONTRACT_LIMITS } from "../../core/delegation/limits.ts";
import { listFiles, readFileText, shippedContracts } from "../../host/contracts.ts";

export function shippedTemplates(): Templates {
  const folder = join(shippedContracts(), "templates");
  const names = listFiles(folder).filter(({ kind, path }) => kind === "file" && /^[^/]+\.json$/.test(path));
  return new Map(
    names.map(({ path }) => [
      path.replace(/\.json$/, ""),
      readFileText(join(folder, path), CONTRACT_LIMITS.file_bytes).text,
    ]),
  );
}
