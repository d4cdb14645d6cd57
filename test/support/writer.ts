/**
 * A process of its own on a world's folder: `bun writer.ts FOLDER add DRAFT NAME COUNT` adds that many entries;
 * `bun writer.ts FOLDER hold` holds the write lock until a byte comes on standard input. Each says when it begins, and what it has added.
 */
import { readSync, writeSync } from "node:fs";
import { add } from "./turn.ts";
import { scriptedWorld } from "./world.ts";

const [folder = "", verb, draftId = "", name = "", count = "1"] = process.argv.slice(2);
using world = scriptedWorld({ folder, pid: process.pid });
if (verb === "hold") {
  world.store.write(() => {
    writeSync(1, "begun\n");
    readSync(0, Buffer.alloc(1));
  });
} else {
  writeSync(1, "begun\n");
  for (let number = 0; number < Number(count); number++) {
    add(world, draftId, "evidence_report.key_outputs", `${name}-${number}`);
    writeSync(1, `${name}-${number}\n`);
  }
}
