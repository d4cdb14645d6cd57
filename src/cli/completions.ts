/** `writ completions`: a script that teaches a shell the commands and options of writ. */
import { WritError } from "../core/error.ts";
import { writeAll } from "../host/stream.ts";
import { type AnyCommand, defineCommand } from "./command.ts";
import { placesOf, renderBash, renderFish, renderZsh } from "./complete.ts";
import type { Nodes, Topics } from "./node.ts";

const RENDERERS = new Map([
  ["bash", renderBash],
  ["zsh", renderZsh],
  ["fish", renderFish],
]);

/** The command over one tree: its own place in the tree keeps it from importing it. */
export function completionsOf(tree: Nodes, topics: Topics): AnyCommand {
  return defineCommand({
    meta: { name: "completions", description: "Print a completion script for a shell" },
    args: {
      shell: { type: "positional", required: true, valueHint: "bash|zsh|fish", description: "The shell" },
    },
    examples: ["source <(writ completions bash)", "writ completions fish > ~/.config/fish/completions/writ.fish"],
    exits: { 0: "printed", 2: "no such shell" },
    notes: ["zsh: writ completions zsh > a file named _writ in a folder of $fpath"],
    run: async ({ args, json, out }) => {
      const render = RENDERERS.get(args.shell);
      if (render === undefined) {
        throw new WritError("usage", `There is no completion script for "${args.shell}"`, {
          hint: "bash, zsh or fish",
        });
      }
      const script = render(await placesOf(tree, topics));
      if (json) out.document({ ok: true, shell: args.shell, script });
      else writeAll(1, script);
      return 0;
    },
  });
}
