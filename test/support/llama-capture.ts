/** What a real llama.cpp server answered, as `scripts/seat/capture.ts` has kept it. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const FOLDER = join(import.meta.dir, "..", "..", "fixtures", "llama-cpp");

export type Capture = {
  readonly case: string;
  readonly about: string;
  readonly server: string;
  readonly request: {
    readonly method: "GET" | "POST";
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: unknown;
  };
  readonly response: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly text: string;
  };
};

export function captureOf(name: string): Capture {
  const { response, ...rest } = JSON.parse(readFileSync(join(FOLDER, `${name}.json`), "utf8"));
  const { status, headers, body_lines } = response;
  return { ...rest, response: { status, headers, text: body_lines.join("\n") } };
}

export function captureNames(): readonly string[] {
  return readdirSync(FOLDER).map((name) => name.replace(/\.json$/, ""));
}
