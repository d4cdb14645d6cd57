/** A process of its own: `bun settings-writer.ts PATH NAME COUNT` adds that many lines to a settings file, one by one. */
import { changeSettingsFile } from "../../src/host/settings-file.ts";

const [path = "", name, count = "1"] = process.argv.slice(2);
for (let number = 0; number < Number(count); number++) {
  changeSettingsFile(path, (text) => ({ text: `${text ?? ""}${name}-${number}\n` }));
}
