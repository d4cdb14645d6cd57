/**
 * The JSON Schemas that writ publishes in `contracts/schemas/`, made from the valibot schemas that read the documents.
 *
 * The executable makes them anew to see whether a file in a set of fixtures is one of them.
 */
import { type ConversionConfig, toJsonSchema } from "@valibot/to-json-schema";
import { ConfigFile } from "./config/config.ts";
import { Manifest } from "./delegation/manifest.ts";
import { ContractFields, ContractFile, DocumentFields } from "./delegation/schema.ts";
import { GateFile } from "./gate/gate-file.ts";
import { ReplyShape, ScriptShape } from "./scripted/script.ts";

const DIALECT: ConversionConfig = { target: "draft-2020-12" };

/** Each published schema: the name of its file, and its text. */
export function renderSchemas(): Readonly<Record<string, string>> {
  return {
    // Rules over several keys are more than JSON Schema can say.
    "config.schema.json": render(toJsonSchema(ConfigFile, DIALECT)),
    "contract.schema.json": render(
      toJsonSchema(ContractFile, { ...DIALECT, definitions: { contract: ContractFields, document: DocumentFields } }),
    ),
    // Which paths and patterns are good is more than JSON Schema can say.
    "gate.schema.json": render(toJsonSchema(GateFile, { ...DIALECT, ignoreActions: ["raw_check"] })),
    // That no file is listed twice is more than JSON Schema can say.
    "manifest.schema.json": render(toJsonSchema(Manifest, { ...DIALECT, ignoreActions: ["check"] })),
    // Which keys of a reply go together is more than JSON Schema can say.
    "script.schema.json": render(toJsonSchema(ScriptShape, { ...DIALECT, definitions: { reply: ReplyShape } })),
  };
}

function render({ $schema, ...schema }: { readonly $schema?: unknown }): string {
  return `${JSON.stringify({ $schema, ...schema }, null, 2)}\n`;
}
