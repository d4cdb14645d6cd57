/**
 * The front matter of a SKILL.md. The reader's time is quadratic in the keys and its stack grows with the nesting: what it
 * gets is bounded in both first.
 */
import { load, type YAMLScalar, type YamlMap } from "yaml-ast-parser";

/** In code units. */
const LONGEST = 16 * 1024;
const DEEPEST = 32;
/** The reader's name for a plain or quoted value. */
const SCALAR = 0;
const MAP = 2;

/** The value of `name`; null where there is no front matter, it is no YAML, or has no name. */
export function frontMatterName(text: string): string | null {
  const yaml = frontMatter(text);
  if (yaml === null || yaml.length > LONGEST || depthBound(yaml) > DEEPEST) return null;
  try {
    const root = load(yaml) as YamlMap | undefined;
    if (root === undefined || root.kind !== MAP || root.errors.length > 0) return null;
    const value = root.mappings.find(({ key }) => key.value === "name")?.value as YAMLScalar | undefined;
    const name = value?.kind === SCALAR ? value.value.trim() : "";
    return name === "" ? null : name;
  } catch {
    return null; // the reader gives up on some broken texts by throwing
  }
}

function frontMatter(text: string): string | null {
  const lines = text.split("\n").map((line) => line.replace(/\r$/, ""));
  if (lines[0] !== "---") return null;
  const end = lines.indexOf("---", 1);
  return end < 0 ? null : lines.slice(1, end).join("\n");
}

/** No less than how deep a text may be nested: by brackets, by indentation, by marks one behind the other. */
function depthBound(yaml: string): number {
  let brackets = 0;
  let deepest = 0;
  for (const char of yaml) {
    if (char === "[" || char === "{") brackets += 1;
    else if ((char === "]" || char === "}") && brackets > 0) brackets -= 1;
    deepest = Math.max(deepest, brackets);
  }
  for (const line of yaml.split("\n")) {
    const marks = /^(?:[ \t]|[-?:][ \t])*/.exec(line)?.[0].length ?? 0;
    deepest = Math.max(deepest, brackets + marks / 2);
  }
  return deepest;
}
