/** `writ help skill`: the skill file that agents are given, as it stands in the repository, for where writ is alone. */
import skill from "../../../skills/writ/SKILL.md" with { type: "text" };

/** The file to the letter, whatever the width: it is there to be put into a file. */
export function render(): string {
  return skill.replace(/\n$/, "");
}
