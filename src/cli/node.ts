/**
 * A place in the command tree: a command, a group of further words, or both.
 */
import type { AnyCommand } from "./command.ts";
import type { Look } from "./page.ts";

export type Node = {
  /** One line in the imperative, no full stop: the `description` that the command declares. */
  readonly summary: string;
  /** What the words of this node run; without it the node is a group. */
  readonly load?: () => Promise<{ readonly command: AnyCommand }>;
  /** Further words. A node may be both, as `record` and `record verify`. */
  readonly commands?: Nodes;
  /**
   * Called by a harness, which it must never break: whatever goes wrong is one line on standard error and
   * status 0. Only a person at a terminal gets status 2 for a wrong command line.
   */
  readonly hook?: true;
};

export type Nodes = Readonly<Record<string, Node>>;

/** A page of help about something that is no command. */
export type Topic = {
  /** One line, no full stop. */
  readonly summary: string;
  readonly load: () => Promise<{ readonly render: (look: Look) => string }>;
};

export type Topics = Readonly<Record<string, Topic>>;

/** A group of the top-level help. */
export type Face = { readonly title: string; readonly commands: Nodes };

/** The node at an own name, or undefined. */
export function nodeAt(nodes: Nodes | undefined, name: string): Node | undefined {
  return nodes !== undefined && Object.hasOwn(nodes, name) ? nodes[name] : undefined;
}
